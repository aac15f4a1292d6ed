import { runDue, type TestApp } from './app.js';

/**
 * Moves the times of rows, instead of waiting. With `rows.ts`, the only SQL of the tests: a change of a table is one edit. The
 * service of such a test starts with `ticks: false`, so that no job of its own runs in between.
 */

const VIDEO_TABLES = ['video_request_parts', 'video_polls', 'video_subscriptions', 'video_windows', 'recordings'];
const VIDEO_WORK = ['submit', 'poll', 'crawl', 'windows', 'downloads'].map((kind) => `vision ${kind}`);

/** Makes all video work due that waits for a time, and starts it. */
export async function hurryVideo(app: TestApp): Promise<void> {
  await app.dataSource.query('UPDATE video_request_parts SET next_poll_at = now() WHERE next_poll_at IS NOT NULL');
  for (const table of VIDEO_TABLES) {
    await app.dataSource.query(`UPDATE ${table} SET due_at = now() WHERE due_at IS NOT NULL AND started_at IS NULL`);
  }
  runDue(app, ...VIDEO_WORK);
}

/** Makes the answers under an Idempotency-Key so old; of one path alone where one is given. */
export const ageKey = (
  { dataSource }: Pick<TestApp, 'dataSource'>,
  key: string,
  age: string,
  path: string | null = null,
): Promise<unknown> =>
  dataSource.query(
    'UPDATE idempotency_keys SET created_at = now() - $2::interval WHERE key LIKE $1 AND ($3::text IS NULL OR path = $3)',
    [key, age, path],
  );

/** Moves the creation of a hauler's tickets; those with one of the inbound numbers to `at`, the others to `otherwise`. */
export const setCreation = (
  { dataSource }: TestApp,
  haulerId: string,
  inboundNumbers: readonly string[],
  at: string,
  otherwise: string,
): Promise<unknown> =>
  dataSource.query(
    `UPDATE tickets SET created_at = CASE WHEN inbound_number = ANY ($2) THEN $3::timestamptz ELSE $4::timestamptz END
      WHERE hauler_id = $1`,
    [haulerId, inboundNumbers, at, otherwise],
  );
