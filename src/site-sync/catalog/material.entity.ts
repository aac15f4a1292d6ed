import { Column, Entity } from 'typeorm';
import type { MeasureUnit } from '../../contracts/site/site.dto.js';
import { CatalogRecord } from './catalog-record.columns.js';

/** A material that a site or a kiosk takes: it names the one, the other, or both (decision 32). */
@Entity('materials')
export class MaterialEntity extends CatalogRecord {
  @Column('uuid', { name: 'site_external_id', nullable: true })
  siteExternalId!: string | null;

  @Column('uuid', { name: 'kiosk_external_id', nullable: true })
  kioskExternalId!: string | null;

  @Column('text', { name: 'material_type' })
  materialType!: string;

  @Column('text', { name: 'measure_unit' })
  measureUnit!: MeasureUnit;
}
