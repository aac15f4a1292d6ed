import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { InterfaceName } from '../contracts/common/interfaces.values.js';

/** A tenant of the platform (decision 1). */
@Entity('haulers')
export class HaulerEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') name!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

/** An API key that we issued (decision 17); the key itself is never stored. */
@Entity('api_keys')
export class ApiKeyEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('bytea') hash!: Buffer;
  @Column('text') prefix!: string;
  @Column('uuid', { name: 'hauler_id', nullable: true }) haulerId!: string | null;
  /** Of a key that opens the partner API for one connection of the hauler; it has no interfaces. */
  @Column('uuid', { name: 'connection_id', nullable: true }) connectionId!: string | null;
  @Column('text', { name: 'customer_id', nullable: true }) customerId!: string | null;
  /** Whether a vision key reads every customer: always set by the admin, and only without a customer. */
  @Column('boolean', { name: 'all_customers' }) allCustomers!: boolean;
  @Column('text', { array: true }) interfaces!: InterfaceName[];
  @Column('text', { nullable: true }) name!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'expires_at', nullable: true }) expiresAt!: Date | null;
  @Column('timestamptz', { name: 'revoked_at', nullable: true }) revokedAt!: Date | null;
  @Column('timestamptz', { name: 'last_used_at', nullable: true }) lastUsedAt!: Date | null;
  /** For a successor: the key that it replaces. */
  @Column('uuid', { name: 'replaces_id', nullable: true }) replacesId!: string | null;
  /** For a successor: the first key of its rotations, which no rotation made. */
  @Column('uuid', { name: 'root_id', nullable: true }) rootId!: string | null;
  /** For a successor: how long the key before it stays valid after the first use of this one. */
  @Column('integer', { name: 'overlap_seconds', nullable: true }) overlapSeconds!: number | null;
  /** For a successor: its first use; dormant until then. */
  @Column('timestamptz', { name: 'activated_at', nullable: true }) activatedAt!: Date | null;
  /** When the overlap with its successor ends. Separate from `expiresAt`, which successors inherit. */
  @Column('timestamptz', { name: 'retires_at', nullable: true }) retiresAt!: Date | null;
}
