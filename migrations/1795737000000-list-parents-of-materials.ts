import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/**
 * A material has all its sites in `site_ids` and all its kiosks in `kiosk_ids`, sorted (decision 33). They stood in one column for
 * the first parent and in another for the rest. An array without a parent is null, so that the partial indexes leave it out.
 */
export class ListParentsOfMaterials1795737000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX materials_site_idx, materials_kiosk_idx, materials_more_sites_idx, materials_more_kiosks_idx;
      ALTER TABLE materials DROP CONSTRAINT materials_parent_check,
        ALTER site_external_id TYPE uuid[]
          USING nullif(array_remove(array_prepend(site_external_id, more_site_ids), NULL), '{}'),
        ALTER kiosk_external_id TYPE uuid[]
          USING nullif(array_remove(array_prepend(kiosk_external_id, more_kiosk_ids), NULL), '{}');
      ALTER TABLE materials RENAME site_external_id TO site_ids;
      ALTER TABLE materials RENAME kiosk_external_id TO kiosk_ids;
      ALTER TABLE materials DROP more_site_ids, DROP more_kiosk_ids,
        ADD CONSTRAINT materials_parent_check CHECK (num_nonnulls(site_ids, kiosk_ids) > 0);
      UPDATE materials SET kiosk_ids = ARRAY(SELECT id FROM unnest(kiosk_ids) AS id ORDER BY id)
        WHERE cardinality(kiosk_ids) > 1;
      CREATE INDEX materials_sites_idx ON materials USING gin (site_ids) WHERE site_ids IS NOT NULL;
      CREATE INDEX materials_kiosks_idx ON materials USING gin (kiosk_ids) WHERE kiosk_ids IS NOT NULL`);
  }
}
