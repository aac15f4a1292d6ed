import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { TicketResult } from '../contracts/scale/scale.api.js';
import type { TicketChanges } from './ticket.js';

/** A disposal ticket (decision 20), for reading; `ticket.repository.ts` writes it. */
@Entity('tickets')
export class TicketEntity {
  @PrimaryColumn('uuid', { name: 'hauler_id' }) haulerId!: string;
  @PrimaryColumn('uuid') id!: string;
  /** The partner's id of the site. */
  @Column('uuid', { name: 'site_id' }) siteId!: string;
  /** Number of the last kept push. */
  @Column('int') revision!: number;
  @Column('text', { name: 'inbound_number', nullable: true }) inboundNumber!: string | null;
  @Column('timestamptz', { name: 'inbound_updated_at', nullable: true }) inboundUpdatedAt!: Date | null;
  @Column('text', { name: 'outbound_number', nullable: true }) outboundNumber!: string | null;
  @Column('timestamptz', { name: 'outbound_updated_at', nullable: true }) outboundUpdatedAt!: Date | null;
  /** JSON text. */
  @Column('text') materials!: string;
  /** JSON text. */
  @Column('text', { name: 'custom_fields', nullable: true }) customFields!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

/** One kept push of a ticket (decision 23). Rows are never changed or deleted. */
@Entity('ticket_revisions')
export class TicketRevisionEntity {
  @PrimaryColumn('uuid', { name: 'hauler_id' }) haulerId!: string;
  @PrimaryColumn('uuid', { name: 'ticket_id' }) ticketId!: string;
  @PrimaryColumn('int') revision!: number;
  @Column('timestamptz', { name: 'received_at' }) receivedAt!: Date;
  @Column('text') result!: TicketResult;
  /** The body as it was received. */
  @Column('text') body!: string;
  @Column('uuid', { name: 'exchange_id', nullable: true }) exchangeId!: string | null;
  @Column('uuid', { name: 'api_key_id', nullable: true }) apiKeyId!: string | null;
  @Column('text', { name: 'request_id', nullable: true }) requestId!: string | null;
  /** Null for the first push, and for pushes of a version that did not store it. */
  @Column('jsonb', { nullable: true }) changes!: TicketChanges | null;
}
