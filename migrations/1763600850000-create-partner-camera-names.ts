import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * By which names partners answer for the cameras that they are asked for by other names. What was taken in before is not
 * looked through: a camera that is followed is listed anew every few minutes, and its names are learnt then.
 */
export class CreatePartnerCameraNames1763600850000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE partner_camera_names (
        hauler_id uuid NOT NULL,
        connection_id uuid NOT NULL,
        truck_id text NOT NULL,
        asked text NOT NULL,
        answered text NOT NULL,
        PRIMARY KEY (hauler_id, connection_id, truck_id, asked, answered)
      );
      CREATE INDEX partner_camera_names_truck_idx ON partner_camera_names (connection_id, truck_id)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE partner_camera_names');
  }
}
