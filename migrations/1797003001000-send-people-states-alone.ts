import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** Topics that are no states: e-mail and Slack no longer get them. */
const EVENTS = `ARRAY['ticket.created', 'ticket.updated', 'ticket.refused', 'account.created', 'clip.stored', 'clip.failed',
  'clip.expired', 'recording.failed']`;

/**
 * E-mail and Slack get one message for each change of a state. An endpoint that has no such topic keeps its topics and is
 * paused, and its next change has to name other ones.
 */
export class SendPeopleStatesAlone1797003001000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE webhook_endpoints AS e
      SET topics = CASE WHEN states.topics = '{}' THEN e.topics ELSE states.topics END,
          enabled = e.enabled AND states.topics <> '{}', updated_at = now()
      FROM (SELECT id, ARRAY(SELECT topic FROM unnest(topics) WITH ORDINALITY AS each (topic, n)
                             WHERE topic <> ALL (${EVENTS}) ORDER BY n) AS topics
            FROM webhook_endpoints) AS states
      WHERE e.id = states.id AND e.format IN ('slack', 'email') AND e.topics && ${EVENTS}`);
    // One mail had thousands of them, which would become a message each.
    await queryRunner.query(`
      DELETE FROM webhook_deliveries
      WHERE status <> 'delivered' AND topic = ANY (${EVENTS})
        AND endpoint_id IN (SELECT id FROM webhook_endpoints WHERE format IN ('slack', 'email'))`);
    // Tests whose process died: no sweep finds them.
    await queryRunner.query(`
      UPDATE webhook_deliveries SET status = 'failed', reason = 'interrupted', ended_at = now()
      WHERE topic = 'webhook.test' AND status = 'pending' AND due_at IS NULL`);
    await queryRunner.query('ALTER TABLE webhook_endpoints DROP COLUMN mailed_at');
  }
}
