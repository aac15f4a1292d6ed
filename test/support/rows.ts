import { randomBytes } from 'node:crypto';
import type { TestApp } from './app.js';
import { onServer } from './test-run.js';

/**
 * Rows that the product cannot make or show, written and read for tests. With `time.ts`, the only SQL of the tests: a change of
 * a table is one edit.
 */

const VIDEO_SOURCES = ['video_windows', 'video_subscriptions', 'video_polls'];
const VIDEO_ROWS = ['recordings', 'video_request_parts', 'video_requests', 'vision_findings'];

/**
 * Deletes the sources of recordings first, so that running work cannot write any more. TRUNCATE would deadlock with
 * running work.
 */
export async function deleteVideoRows(app: TestApp): Promise<void> {
  for (const table of [...VIDEO_SOURCES, ...VIDEO_ROWS]) await app.dataSource.query(`DELETE FROM ${table}`);
}

/** What the functions below need of a service or of a test database. */
type WithRows = Pick<TestApp, 'dataSource'>;

/** Runs `work` while another transaction holds the locks of a statement; `release` ends it early. */
async function whileHeld<T>(
  { dataSource }: WithRows,
  sql: string,
  parameters: readonly unknown[],
  work: (release: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  await runner.startTransaction();
  try {
    await runner.query(sql, [...parameters]);
    return await work(() => runner.rollbackTransaction());
  } finally {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
    await runner.release();
  }
}

const TICKET_HOLDS = {
  locked: 'SELECT 1 FROM tickets WHERE id = $1 FOR UPDATE',
  changed: 'UPDATE tickets SET updated_at = now() WHERE id = $1',
} as const;

/** While another transaction has locked the row of a ticket, or has changed it and not committed. */
export const whileTicketIs = <T>(
  app: WithRows,
  how: keyof typeof TICKET_HOLDS,
  ticketId: string,
  work: (release: () => Promise<void>) => Promise<T>,
): Promise<T> => whileHeld(app, TICKET_HOLDS[how], [ticketId], work);

/** While another transaction has inserted an account under a name, a copy of an account, and not committed. */
export const whileNameIsTaken = <T>(
  app: WithRows,
  accountId: string,
  nameDigest: Buffer,
  work: (release: () => Promise<void>) => Promise<T>,
): Promise<T> =>
  whileHeld(
    app,
    `INSERT INTO accounts SELECT (json_populate_record(a, json_build_object('id', gen_random_uuid(),
       'account_number', 'X-' || a.account_number, 'name_digest', $2::bytea))).* FROM accounts a WHERE id = $1`,
    [accountId, nameDigest],
    work,
  );

/** The bodies of the pushes that created tickets of a hauler. */
export async function firstBodies({ dataSource }: WithRows, haulerId: string): Promise<string[]> {
  const rows = await dataSource.query<{ body: string }[]>(
    "SELECT body FROM ticket_revisions WHERE hauler_id = $1 AND revision = 1 AND result = 'created'",
    [haulerId],
  );
  return rows.map(({ body }) => body);
}

/** As a synchronisation that moved a kiosk to another site. */
export const moveKiosk = ({ dataSource }: WithRows, kioskId: string, siteId: string): Promise<unknown> =>
  dataSource.query('UPDATE kiosks SET site_external_id = $2 WHERE external_id = $1', [kioskId, siteId]);

/** More tickets of a hauler than a test can push, each with the same materials. */
export async function insertTickets(
  { dataSource }: WithRows,
  { haulerId, siteId }: { readonly haulerId: string; readonly siteId: string },
  materials: readonly object[],
  count: number,
): Promise<void> {
  // A statement may take 3 s, also on a busy machine.
  for (let first = 1; first <= count; first += 5_000) {
    await dataSource.query(
      `INSERT INTO tickets (id, hauler_id, site_id, materials, inbound_number, inbound_updated_at, revision,
                            contents_version, created_at, updated_at)
       SELECT uuidv7(interval '-1 hour' + n * interval '1 ms'), $1, $2, $3, 'M-' || n, now(), 1, now(), now(), now()
         FROM generate_series($4::int, $5::int) AS n`,
      [haulerId, siteId, JSON.stringify(materials), first, Math.min(first + 4_999, count)],
    );
  }
}

/** The database refuses an account of this name, as if it were about to stop; returns what ends that. */
export async function refuseAccount({ dataSource }: WithRows, name: string): Promise<() => Promise<unknown>> {
  await dataSource.query(
    `CREATE FUNCTION refuse_account() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION 'gone' USING ERRCODE = '57P01'; END $$;
     CREATE TRIGGER refuse_account BEFORE INSERT ON accounts FOR EACH ROW
     WHEN (NEW.account_name = '${name}') EXECUTE FUNCTION refuse_account()`,
  );
  return () => dataSource.query('DROP FUNCTION refuse_account CASCADE');
}

/** How many answers are kept under an Idempotency-Key. */
export async function keptAnswers({ dataSource }: WithRows, key: string): Promise<number> {
  const [row] = await dataSource.query<[{ n: number }]>(
    'SELECT count(*)::int AS n FROM idempotency_keys WHERE key = $1',
    [key],
  );
  return row.n;
}

/** An address of a database for a user who owns its tables, and who may not create extensions. */
export async function asLimitedUser(databaseUrl: string): Promise<string> {
  const role = `limited_${randomBytes(4).toString('hex')}`;
  await onServer(databaseUrl, (client) =>
    client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'limited'; GRANT ALL ON SCHEMA public TO ${role}`),
  );
  const url = new URL(databaseUrl);
  [url.username, url.password] = [role, 'limited'];
  return url.href;
}
