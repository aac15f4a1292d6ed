import { Column, Entity } from 'typeorm';
import { CatalogRecord } from './catalog-record.columns.js';

/** A station within a site (section 2.4a). */
@Entity('kiosks')
export class KioskEntity extends CatalogRecord {
  @Column('uuid', { name: 'site_external_id' })
  siteExternalId!: string;

  @Column('text')
  name!: string;
}
