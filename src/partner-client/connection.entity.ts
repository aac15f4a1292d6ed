import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { PartnerConnection, PartnerInterface } from './partner-connection.js';

/**
 * One hauler's link to one partner-hosted interface. Its synchronisation reads and moves the due-row columns
 * (`due_at`, `leased_until`, `lease_token`, `attempts`) by `jobs/`; of these only what is shown stands here.
 */
@Entity('connections')
export class ConnectionEntity implements PartnerConnection {
  @PrimaryColumn('uuid', { name: 'hauler_id' })
  haulerId!: string;

  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  interface!: PartnerInterface;

  @Column('text', { name: 'base_url' })
  baseUrl!: string;

  @Column('text', { name: 'sealed_key' })
  sealedKey!: string;

  @Column('text', { name: 'sealed_next_key', nullable: true })
  sealedNextKey!: string | null;

  /** Of a vision connection only. */
  @Column('text', { name: 'customer_id', nullable: true })
  customerId!: string | null;

  @Column('integer', { name: 'interval_seconds' })
  intervalSeconds!: number;

  @Column('boolean')
  enabled!: boolean;

  @Column('timestamptz', { name: 'due_at', nullable: true })
  dueAt!: Date | null;

  @Column('text', { name: 'last_error', nullable: true })
  lastError!: string | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;

  /** The row is kept for what came through it, and is otherwise as if it were not there. */
  @Column('timestamptz', { name: 'deleted_at', nullable: true })
  deletedAt!: Date | null;
}
