import { expect } from '@jest/globals';
import { runDue, type TestApp } from './app.js';
import { eventually } from './eventually.js';

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

/** The deadline of every open clip has passed. */
export const endDeadlines = (app: TestApp): Promise<unknown> =>
  app.dataSource.query("UPDATE video_request_parts SET deadline_at = now() - interval '1 second'");

/** The next deadline of every open clip is so many minutes from now, and its request is two hours old. */
export const setDeadlines = (app: TestApp, minutes: number): Promise<unknown> =>
  app.dataSource.query(
    `UPDATE video_request_parts SET submitted_at = now() - interval '2 hours',
       deadline_at = date_trunc('second', now()) + $1 * interval '1 minute'`,
    [minutes],
  );

/** So many minutes have passed since the partner was asked for each clip by its own id. */
export const ageIndividualPolls = (app: TestApp, minutes: Readonly<Record<string, number>>): Promise<unknown> =>
  app.dataSource.query(
    `UPDATE video_request_parts SET polled_individually_at = now() - asked.minutes * interval '1 minute', polls = 5
     FROM unnest($1::text[], $2::float8[]) AS asked (id, minutes) WHERE partner_request_id = asked.id`,
    [Object.keys(minutes), Object.values(minutes)],
  );

/** Only the clip of this id waits for its poll; the others follow within half a minute. */
export const spreadPolls = (app: TestApp, requestId: string): Promise<unknown> =>
  app.dataSource.query(
    `UPDATE video_request_parts SET next_poll_at =
       CASE WHEN partner_request_id = $1 THEN now() ELSE now() + random() * interval '25 seconds' END`,
    [requestId],
  );

type VideoTable = 'video_request_parts' | 'video_polls' | 'video_subscriptions' | 'video_windows';

/** The row that failed waits for an hour, as after many failures. Returns how many there are that no job runs. */
export async function postpone(app: TestApp, table: VideoTable): Promise<number> {
  const [, count] = await app.dataSource.query<[unknown[], number]>(
    `UPDATE ${table} SET due_at = now() + interval '1 hour', attempts = 8
     WHERE due_at IS NOT NULL AND last_error IS NOT NULL AND started_at IS NULL`,
  );
  return count;
}

/** The failed windows have been tried so often. */
export const setWindowAttempts = (app: TestApp, attempts: number): Promise<unknown> =>
  app.dataSource.query('UPDATE video_windows SET attempts = $1 WHERE due_at IS NOT NULL AND started_at IS NULL', [
    attempts,
  ]);

/**
 * The re-readings of so many hours are due, and older ones may be: the last reading that succeeded was so many hours ago, and one
 * that was deferred just now. Returns how many subscriptions no job runs.
 */
export async function makeRereadingsDue(app: TestApp, hours: number): Promise<number> {
  const [, count] = await app.dataSource.query<[unknown[], number]>(
    `UPDATE video_subscriptions SET last_read_at = now() - $1 * interval '1 hour', deferred_at = now()
     WHERE started_at IS NULL`,
    [hours],
  );
  return count;
}

/** The subscriptions were read last so many hours ago. */
export const ageReadings = (app: TestApp, hours: number): Promise<unknown> =>
  app.dataSource.query(
    `UPDATE video_subscriptions SET read_until = now() - $1 * interval '1 hour' - interval '1 minute',
       last_read_at = now() - $1 * interval '1 hour'`,
    [hours],
  );

/** The next run of a connection is due in so many seconds; by default now. */
export const makeConnectionDue = ({ dataSource }: TestApp, id: string, inSeconds = 0): Promise<unknown> =>
  dataSource.query('UPDATE connections SET due_at = now() + make_interval(secs => $2) WHERE id = $1', [id, inSeconds]);

/** The lease of a lane ends, as after the time in which a killed instance renews nothing. */
export const endLease = ({ dataSource }: TestApp, lane: string): Promise<unknown> =>
  dataSource.query('UPDATE lanes SET owned_until = now() WHERE lane = $1::text', [lane]);

/** Another instance owns a lane for the next hour, and works on nothing of it. */
export const giveLaneAway = ({ dataSource }: TestApp, kind: string, lane: string): Promise<unknown> =>
  dataSource.query(
    `INSERT INTO lanes (kind, lane, owner, since, owned_until)
     VALUES ($1, $2, gen_random_uuid(), now(), now() + interval '1 hour')
     ON CONFLICT (kind, lane) DO UPDATE SET owner = excluded.owner, owned_until = excluded.owned_until`,
    [kind, lane],
  );

/** The runs of a connection are so many minutes older. */
export const ageSyncRuns = ({ dataSource }: TestApp, connectionId: string, minutes: number): Promise<unknown> =>
  dataSource.query(
    'UPDATE sync_runs SET created_at = created_at - make_interval(mins => $2) WHERE connection_id = $1',
    [connectionId, minutes],
  );

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

/** As the time would in which a killed instance renews nothing: another instance may take over its work at once. */
export async function endLanes({ dataSource }: Pick<TestApp, 'dataSource'>): Promise<void> {
  await dataSource.query('UPDATE lanes SET owned_until = now()');
}

/** As when the time of a session of the console, by the value of its cookie, is over. */
export const endSession = ({ dataSource }: TestApp, cookie: string): Promise<unknown> =>
  dataSource.query(
    "UPDATE console_sessions SET expires_at = now() WHERE cookie_hash = sha256(convert_to($1, 'UTF8'))",
    [cookie],
  );

/** As when a key has expired a second ago. */
export const expireKey = ({ dataSource }: TestApp, keyId: string): Promise<unknown> =>
  dataSource.query("UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = $1", [keyId]);

/** What waits at an endpoint is due. */
export const hurryDeliveries = ({ dataSource }: TestApp, endpointId: string): Promise<unknown> =>
  dataSource.query(
    `UPDATE webhook_deliveries SET due_at = now() WHERE endpoint_id = $1 AND status = 'pending' AND started_at IS NULL`,
    [endpointId],
  );

/** As so many days after the first try to fetch what still waits. */
export const ageTries = ({ dataSource }: TestApp, days: number): Promise<unknown> =>
  dataSource.query("UPDATE recordings SET tried_since = now() - $1 * interval '1 day' WHERE status = 'available'", [
    days,
  ]);

/** The reading of a subscription is due in an hour; the last one was so many seconds ago, if any. */
export const postponeReading = (
  { dataSource }: TestApp,
  id: string,
  readSecondsAgo: number | null = null,
): Promise<unknown> =>
  dataSource.query(
    `UPDATE video_subscriptions SET due_at = now() + interval '1 hour', last_error = NULL,
       last_read_at = now() - make_interval(secs => $2) WHERE id = $1`,
    [id, readSecondsAgo],
  );

/** A reading of the subscription begins while `call` waits for its row: after the transaction of the call began. */
export async function beginReadingDuring<T>({ dataSource }: TestApp, id: string, call: () => Promise<T>): Promise<T> {
  const [answer] = await dataSource.transaction(async (transaction) => {
    await transaction.query('SELECT FROM video_subscriptions WHERE id = $1 FOR UPDATE', [id]);
    const pending = call();
    await eventually(async () => {
      const waiting = 'SELECT FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))';
      expect(await transaction.query(waiting)).not.toEqual([]);
    });
    await transaction.query('UPDATE video_subscriptions SET started_at = clock_timestamp() WHERE id = $1', [id]);
    return [pending];
  });
  return answer;
}
