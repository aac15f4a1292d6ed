import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A disposal ticket (decision 20) as the administration reads it; written by `new-tickets.ts`, or by `ticket-store.ts`. */
@Entity('tickets')
export class TicketEntity {
  @PrimaryColumn('uuid', { name: 'hauler_id' })
  haulerId!: string;

  @PrimaryColumn('uuid')
  id!: string;

  /** The partner's id of the site. */
  @Column('uuid', { name: 'site_id' })
  siteId!: string;

  /** Number of the last kept push. */
  @Column('int')
  revision!: number;

  @Column('text', { name: 'inbound_number', nullable: true })
  inboundNumber!: string | null;

  @Column('timestamptz', { name: 'inbound_updated_at', nullable: true })
  inboundUpdatedAt!: Date | null;

  @Column('text', { name: 'outbound_number', nullable: true })
  outboundNumber!: string | null;

  @Column('timestamptz', { name: 'outbound_updated_at', nullable: true })
  outboundUpdatedAt!: Date | null;

  /** JSON text. */
  @Column('text')
  materials!: string;

  /** JSON text. */
  @Column('text', { name: 'custom_fields', nullable: true })
  customFields!: string | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;
}
