import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { PartnerInterface } from '../contracts/admin/connections.routes.js';
import type { PartnerConnection } from './connections.repository.js';

/**
 * One hauler's link to one partner-hosted interface. `core/work/` reads and writes its due-row columns (`due_at`,
 * `started_at`, `attempts`); the entity has only those that the admin API shows.
 */
@Entity('connections')
export class ConnectionEntity implements PartnerConnection {
  @PrimaryColumn('uuid', { name: 'hauler_id' }) haulerId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') interface!: PartnerInterface;
  @Column('text', { name: 'base_url' }) baseUrl!: string;
  @Column('text', { name: 'sealed_key' }) sealedKey!: string;
  @Column('text', { name: 'sealed_next_key', nullable: true }) sealedNextKey!: string | null;
  /** Null for a site connection. */
  @Column('text', { name: 'customer_id', nullable: true }) customerId!: string | null;
  @Column('integer', { name: 'interval_seconds' }) intervalSeconds!: number;
  /** Null: VISION_FIRST_BYTE_TIMEOUT. */
  @Column('integer', { name: 'first_byte_timeout_seconds', nullable: true }) firstByteTimeoutSeconds!: number | null;
  @Column('boolean') enabled!: boolean;
  @Column('timestamptz', { name: 'due_at', nullable: true }) dueAt!: Date | null;
  @Column('text', { name: 'last_error', nullable: true }) lastError!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
  /** A deleted connection keeps its row, because sites, recordings and runs refer to it. */
  @Column('timestamptz', { name: 'deleted_at', nullable: true }) deletedAt!: Date | null;
}
