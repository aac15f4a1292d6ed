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

/** As the time would in which a killed instance renews nothing: another instance may take over its work at once. */
export async function endLanes({ dataSource }: Pick<TestApp, 'dataSource'>): Promise<void> {
  await dataSource.query('UPDATE lanes SET owned_until = now()');
}
