import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What makes a record of the catalog the right one to name, beside its existence. */
const LAYOUT = {
  sites: ['hauler_id', 'external_id'],
  kiosks: ['hauler_id', 'external_id', 'site_external_id'],
  materials: ['hauler_id', 'external_id', 'site_external_id', 'kiosk_external_id'],
};

/**
 * A number for each hauler's catalog that rises when something in it moves or vanishes, whoever brought it about; a hauler
 * without a row has number 0. While the number stands, a material that was right for a site still is: tickets are checked
 * by comparing one number. What is new needs none. By statement, for a synchronisation may move a million at once.
 */
export class NumberCatalogLayouts1763600830000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE catalog_layouts (
        hauler_id uuid PRIMARY KEY REFERENCES haulers (id) ON DELETE CASCADE,
        number integer NOT NULL
      )`);
    for (const [table, columns] of Object.entries(LAYOUT)) {
      const layout = columns.join(', ');
      const raise = (gone: string) => `
        INSERT INTO catalog_layouts AS layout (hauler_id, number)
        SELECT DISTINCT hauler_id, 1 FROM (${gone}) gone ORDER BY hauler_id
        ON CONFLICT (hauler_id) DO UPDATE SET number = layout.number + 1;
        RETURN NULL;`;
      const updated = `SELECT ${layout} FROM before EXCEPT SELECT ${layout} FROM after`;
      await queryRunner.query(`
        CREATE FUNCTION ${table}_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${raise(updated)} END $$;
        CREATE FUNCTION ${table}_vanished() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${raise('TABLE before')} END $$;
        CREATE TRIGGER ${table}_moved AFTER UPDATE ON ${table}
          REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION ${table}_moved();
        CREATE TRIGGER ${table}_vanished AFTER DELETE ON ${table}
          REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION ${table}_vanished()`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of Object.keys(LAYOUT)) {
      await queryRunner.query(`
        DROP TRIGGER ${table}_moved ON ${table};
        DROP TRIGGER ${table}_vanished ON ${table};
        DROP FUNCTION ${table}_moved();
        DROP FUNCTION ${table}_vanished()`);
    }
    await queryRunner.query('DROP TABLE catalog_layouts');
  }
}
