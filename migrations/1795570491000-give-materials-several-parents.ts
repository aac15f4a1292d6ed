import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A material of several sites or kiosks (decision 33): the first parent stays in `site_external_id` and `kiosk_external_id`, the
 * others are in these arrays, which are null for most materials.
 */
export class GiveMaterialsSeveralParents1795570491000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE materials ADD more_site_ids uuid[], ADD more_kiosk_ids uuid[];
      CREATE INDEX materials_more_sites_idx ON materials USING gin (more_site_ids) WHERE more_site_ids IS NOT NULL;
      CREATE INDEX materials_more_kiosks_idx ON materials USING gin (more_kiosk_ids) WHERE more_kiosk_ids IS NOT NULL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE materials DROP more_site_ids, DROP more_kiosk_ids`);
  }
}
