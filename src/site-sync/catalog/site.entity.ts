import { Column, Entity } from 'typeorm';
import { CatalogRecord } from './catalog-record.columns.js';

/** A disposal site of a hauler, as its partner describes it (section 2.4a). */
@Entity('sites')
export class SiteEntity extends CatalogRecord {
  @Column('text')
  name!: string;

  /** The five fields of the address are all there or all null. */
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
