import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What haulers' partners have told of their sites (section 2.4a). Parents are named by the partner's id and not by a
 * foreign key: a record that is quarantined now may be the parent of one that is not (decision 32).
 */
export class CreateCatalog1763600210000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    const common = `
      id uuid NOT NULL,
      hauler_id uuid NOT NULL REFERENCES haulers (id),
      connection_id uuid,
      external_id uuid NOT NULL,
      active boolean NOT NULL DEFAULT true,
      flagged_reason text,
      digest bytea NOT NULL,
      partner_updated_at timestamptz,
      last_seen_at timestamptz,
      deactivated_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()`;
    await queryRunner.query(`
      CREATE TABLE sites (${common},
        name text NOT NULL,
        line1 text,
        city text,
        state text,
        country text,
        zip_code text,
        PRIMARY KEY (hauler_id, id),
        CONSTRAINT sites_external_id_key UNIQUE (hauler_id, external_id),
        CONSTRAINT sites_address_check CHECK (num_nulls(line1, city, state, country, zip_code) IN (0, 5))
      );
      CREATE TABLE kiosks (${common},
        site_external_id uuid NOT NULL,
        name text NOT NULL,
        PRIMARY KEY (hauler_id, id),
        CONSTRAINT kiosks_external_id_key UNIQUE (hauler_id, external_id)
      );
      CREATE TABLE materials (${common},
        site_external_id uuid,
        kiosk_external_id uuid,
        material_type text NOT NULL,
        measure_unit text NOT NULL,
        PRIMARY KEY (hauler_id, id),
        CONSTRAINT materials_external_id_key UNIQUE (hauler_id, external_id),
        CONSTRAINT materials_parent_check CHECK (num_nonnulls(site_external_id, kiosk_external_id) > 0)
      )`);
    // For the admin lists: the newest first, of all haulers or of one, and what hangs on a site or a kiosk.
    for (const table of ['sites', 'kiosks', 'materials']) {
      await queryRunner.query(`
        CREATE INDEX ${table}_id_idx ON ${table} (id);
        CREATE INDEX ${table}_active_idx ON ${table} (active, id);
        CREATE INDEX ${table}_connection_idx ON ${table} (connection_id, external_id)`);
    }
    await queryRunner.query(`
      CREATE INDEX sites_external_id_idx ON sites (external_id);
      CREATE INDEX kiosks_site_idx ON kiosks (site_external_id, id);
      CREATE INDEX materials_site_idx ON materials (site_external_id, id);
      CREATE INDEX materials_kiosk_idx ON materials (kiosk_external_id, id)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE materials, kiosks, sites');
  }
}
