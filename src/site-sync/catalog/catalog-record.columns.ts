import { Column, PrimaryColumn } from 'typeorm';

/** The columns that sites, kiosks and materials share; their entities extend it. */
export class CatalogRecord {
  @PrimaryColumn('uuid', { name: 'hauler_id' })
  haulerId!: string;

  /** Ours (decision 31). */
  @PrimaryColumn('uuid')
  id!: string;

  /** The connection that it came through; null where it was not synchronised. */
  @Column('uuid', { name: 'connection_id', nullable: true })
  connectionId!: string | null;

  /** The partner's id, by which tickets and the admin API name it (decision 31). */
  @Column('uuid', { name: 'external_id' })
  externalId!: string;

  @Column('boolean')
  active!: boolean;

  /** Why the record is kept but doubtful (decision 32). */
  @Column('text', { name: 'flagged_reason', nullable: true })
  flaggedReason!: string | null;

  /** The partner's `updatedAt`. */
  @Column('timestamptz', { name: 'partner_updated_at', nullable: true })
  partnerUpdatedAt!: Date | null;

  @Column('timestamptz', { name: 'deactivated_at', nullable: true })
  deactivatedAt!: Date | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt!: Date;
}
