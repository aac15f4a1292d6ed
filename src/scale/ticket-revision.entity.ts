import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { TicketResult } from '../contracts/scale/ticket-result.js';

/** One kept push of a ticket (decision 23); never changed, never deleted. */
@Entity('ticket_revisions')
export class TicketRevisionEntity {
  @PrimaryColumn('uuid', { name: 'hauler_id' })
  haulerId!: string;

  @PrimaryColumn('uuid', { name: 'ticket_id' })
  ticketId!: string;

  @PrimaryColumn('int')
  revision!: number;

  @Column('timestamptz', { name: 'received_at' })
  receivedAt!: Date;

  @Column('text')
  result!: TicketResult;

  /** The body as it was sent. */
  @Column('text')
  body!: string;
}
