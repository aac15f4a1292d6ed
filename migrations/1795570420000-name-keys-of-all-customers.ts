import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A vision key names its customer, or says that it reads all customers. Keys without a customer keep reading all. */
export class NameKeysOfAllCustomers1795570420000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE api_keys ADD COLUMN all_customers boolean NOT NULL DEFAULT false;
      UPDATE api_keys SET all_customers = true WHERE 'vision' = ANY (interfaces) AND customer_id IS NULL;
      ALTER TABLE api_keys ADD CONSTRAINT api_keys_customer_check
        CHECK (all_customers = ('vision' = ANY (interfaces) AND customer_id IS NULL))`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE api_keys DROP COLUMN all_customers');
  }
}
