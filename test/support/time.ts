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

/** The next run of a connection is due in so many seconds; by default now. */
export const makeConnectionDue = ({ dataSource }: TestApp, id: string, inSeconds = 0): Promise<unknown> =>
  dataSource.query('UPDATE connections SET due_at = now() + make_interval(secs => $2) WHERE id = $1', [id, inSeconds]);

/** The lease of a lane ends, as after the time in which a killed instance renews nothing. */
export const endLease = ({ dataSource }: TestApp, lane: string): Promise<unknown> =>
  dataSource.query('UPDATE lanes SET owned_until = now() WHERE lane = $1::text', [lane]);

/** Another instance owns the lane for the next minute. */
export const leaseToAnother = ({ dataSource }: TestApp, kind: string, lane: string): Promise<unknown> =>
  dataSource.query(
    `INSERT INTO lanes SELECT $1, $2::text, gen_random_uuid(), now(), now() + interval '1 min'
     ON CONFLICT (kind, lane) DO UPDATE SET owner = EXCLUDED.owner, owned_until = EXCLUDED.owned_until`,
    [kind, lane],
  );

/** The row of a connection is that of another owner from now on, or free again. */
export const startConnectionRow = ({ dataSource }: TestApp, id: string, by: 'another' | 'nobody'): Promise<unknown> =>
  dataSource.query(`UPDATE connections SET started_at = now() + $2::interval WHERE id = $1`, [
    id,
    by === 'another' ? '1 hour' : null,
  ]);

/** The runs of a connection are so many minutes older. */
export const ageSyncRuns = ({ dataSource }: TestApp, connectionId: string, minutes: number): Promise<unknown> =>
  dataSource.query(
    'UPDATE sync_runs SET created_at = created_at - make_interval(mins => $2) WHERE connection_id = $1',
    [connectionId, minutes],
  );
