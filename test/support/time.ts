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

/** These files were stored so many days ago; without ids all. */
export const ageFiles = (app: TestApp, days: number, ids: readonly string[] | null = null): Promise<unknown> =>
  app.dataSource.query(
    `UPDATE recordings SET stored_at = now() - $1 * interval '1 day' WHERE stored_at IS NOT NULL AND ($2::uuid[] IS NULL OR id = ANY ($2))`,
    [days, ids],
  );

/** These recordings were changed last so many days ago. */
export const ageRecordings = (app: TestApp, days: number, ids: readonly string[]): Promise<unknown> =>
  app.dataSource.query("UPDATE recordings SET updated_at = now() - $1 * interval '1 day' WHERE id = ANY ($2)", [
    days,
    ids,
  ]);

/** The recordings of a connection have been tried for longer than VISION_DOWNLOAD_DEADLINE. */
export const endDownloadDeadline = (app: TestApp, connectionId: string): Promise<unknown> =>
  app.dataSource.query("UPDATE recordings SET tried_since = now() - interval '8 days' WHERE connection_id = $1", [
    connectionId,
  ]);

/** The links of a connection expired a minute ago. Returns how many. */
export async function expireLinks(app: TestApp, connectionId: string): Promise<number> {
  const [rows] = await app.dataSource.query<[unknown[], number]>(
    `UPDATE recordings SET expires_at = now() - interval '1 minute' WHERE connection_id = $1 AND started_at IS NULL RETURNING 1`,
    [connectionId],
  );
  return rows.length;
}

/** The next view is ten minutes later. */
export const ageViews = (app: TestApp): Promise<unknown> =>
  app.dataSource.query("UPDATE actions SET at = at - interval '10 minutes' WHERE action = 'recording.viewed'");

/** The hosted clips that wait for another attempt are due now; `attempts` of them have been made. */
export const hurryHostedClips = (app: TestApp, attempts: number | null = null): Promise<unknown> =>
  app.dataSource.query(
    'UPDATE reference_video_requests SET attempts = coalesce($1, attempts), due_at = now() WHERE due_at > now()',
    [attempts],
  );
