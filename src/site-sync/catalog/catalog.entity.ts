import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { MeasureUnit } from '../../contracts/site/site.dto.js';

/** The columns that sites, kiosks and materials share. */
export class CatalogRecord {
  @PrimaryColumn('uuid', { name: 'hauler_id' })
  haulerId!: string;

  /** The platform's id (decision 31). */
  @PrimaryColumn('uuid')
  id!: string;

  /** The connection that synchronised the record; null if none did. */
  @Column('uuid', { name: 'connection_id', nullable: true })
  connectionId!: string | null;

  /** The partner's id, which tickets and the admin API use (decision 31). */
  @Column('uuid', { name: 'external_id' })
  externalId!: string;

  @Column('boolean')
  active!: boolean;

  /** The issue flagged on the record (decision 32). */
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

/** A disposal site of a hauler, as its partner describes it (section 2.4a). */
@Entity('sites')
export class SiteEntity extends CatalogRecord {
  @Column('text')
  name!: string;

  /** The five fields of the address are all present or all null. */
  @Column('text', { nullable: true })
  line1!: string | null;

  @Column('text', { nullable: true })
  city!: string | null;

  @Column('text', { nullable: true })
  state!: string | null;

  @Column('text', { nullable: true })
  country!: string | null;

  @Column('text', { name: 'zip_code', nullable: true })
  zipCode!: string | null;
}

/** A station within a site (section 2.4a). */
@Entity('kiosks')
export class KioskEntity extends CatalogRecord {
  @Column('uuid', { name: 'site_external_id' })
  siteExternalId!: string;

  @Column('text')
  name!: string;
}

/** A material of a site, of a kiosk, or of both (decision 32), or of several ones (decision 33). */
@Entity('materials')
export class MaterialEntity extends CatalogRecord {
  @Column('uuid', { name: 'site_external_id', nullable: true })
  siteExternalId!: string | null;

  @Column('uuid', { name: 'kiosk_external_id', nullable: true })
  kioskExternalId!: string | null;

  /** The other sites of a material with several ones. */
  @Column('uuid', { name: 'more_site_ids', array: true, nullable: true })
  moreSiteIds!: string[] | null;

  @Column('uuid', { name: 'more_kiosk_ids', array: true, nullable: true })
  moreKioskIds!: string[] | null;

  @Column('text', { name: 'material_type' })
  materialType!: string;

  @Column('text', { name: 'measure_unit' })
  measureUnit!: MeasureUnit;
}
