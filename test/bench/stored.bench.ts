import pg from 'pg';
import { migrate } from '../../src/database/migrate.js';
import { atEnd } from './cleanup.js';
import { type BenchDatabase, startDatabase } from './database.js';
import { type Outcome, push } from './load.js';
import { startService } from './processes.js';
import { report, type Row } from './report.js';
import { openScaleHouse, type ScaleHouse } from './scale-house.js';
import { median } from './statistics.js';

const CONNECTIONS = 64;
/** Tickets that are stored by one statement. */
const PORTION = 100_000;

interface Contender {
  readonly name: string;
  readonly client: pg.Client;
  /** Rows that are stored before the first round. */
  readonly before: number;
  readonly push: (seconds: number) => Promise<Outcome>;
  /** Requests acknowledged since the tables had `before` rows. */
  acknowledged: number;
  pushes: number;
}

/**
 * New tickets a second into an empty database and into one with many tickets, on one server, in turns. Arguments: the
 * tickets that are stored (10,000,000: some minutes and 15 GB), rounds (5), seconds of one measurement (3).
 */
export async function run([stored = '10000000', rounds = '5', seconds = '3']: readonly string[]): Promise<void> {
  const database = await startDatabase();
  const empty = await contender('empty', database, 0);
  const full = await contender(`${stored} stored`, await besideIt(database), Number(stored));
  const results = new Map<string, number[]>([empty, full].map(({ name }) => [name, []]));
  for (const one of [empty, full]) await measure(one, 3);
  for (let round = 0; round < Number(rounds); round++) {
    for (const one of round % 2 === 0 ? [empty, full] : [full, empty]) {
      if (one === empty) await emptyOut(one);
      await one.client.query('CHECKPOINT');
      const perSecond = await measure(one, Number(seconds));
      results.get(one.name)?.push(perSecond);
      console.log(`${one.name}: ${Math.round(perSecond)}/s`);
    }
  }
  for (const one of [empty, full]) await verify(one);
  const of = (name: string) => results.get(name) ?? [];
  const ratio = median(of(full.name).map((perSecond, i) => perSecond / (of(empty.name)[i] ?? NaN)));
  const rows: Row[] = [
    ['tickets stored', 'tickets/s', '÷ empty'],
    [0, Math.round(median(of(empty.name))), '1.00'],
    [Number(stored), Math.round(median(of(full.name))), ratio.toFixed(2)],
  ];
  report('stored', rows, { rounds: Object.fromEntries(results) });
}

async function measure(one: Contender, seconds: number): Promise<number> {
  const { acknowledged, seconds: took, failures } = await one.push(seconds);
  if (failures.length > 0) throw new Error(`${failures.length} failures: ${failures[0]}`);
  one.acknowledged += acknowledged.length;
  one.pushes++;
  return acknowledged.length / took;
}

async function emptyOut(one: Contender): Promise<void> {
  await verify(one);
  await one.client.query('TRUNCATE tickets, ticket_revisions');
  one.acknowledged = 0;
  one.pushes = 0;
}

/** Only what was under way when a load ended may be stored without having been acknowledged. */
async function verify({ name, client, before, acknowledged, pushes }: Contender): Promise<void> {
  const { rows } = await client.query<{ tickets: string; kept: string }>(
    'SELECT (SELECT count(*) FROM tickets) AS tickets, (SELECT count(*) FROM ticket_revisions) AS kept',
  );
  const tickets = Number(rows[0]?.tickets);
  const unasked = tickets - before - acknowledged;
  if (unasked < 0 || unasked > pushes * CONNECTIONS || tickets !== Number(rows[0]?.kept)) {
    throw new Error(`${name}: ${acknowledged} acknowledged, ${tickets - before} stored, ${rows[0]?.kept} revisions`);
  }
}

/** Another database on the same server. */
async function besideIt({ url, client, ...rest }: BenchDatabase): Promise<BenchDatabase> {
  await client.query('CREATE DATABASE stored');
  const other = new URL(url);
  other.pathname = '/stored';
  await migrate(other.href);
  const itsClient = new pg.Client({ connectionString: other.href });
  await itsClient.connect();
  atEnd(() => itsClient.end());
  return { ...rest, url: other.href, client: itsClient };
}

async function contender(name: string, database: BenchDatabase, stored: number): Promise<Contender> {
  const service = await startService(database);
  const house = await openScaleHouse(service, database);
  await fill(database.client, house, stored);
  const { headers, next } = house;
  const url = `${service.url}/platform-api/v1/tickets`;
  const load = { url, headers, connections: CONNECTIONS, next };
  return {
    name,
    client: database.client,
    before: stored,
    push: (seconds) => push({ ...load, seconds }),
    acknowledged: 0,
    pushes: 0,
  };
}

/** Tickets as they would have been pushed over the last months, one every 100 ms, at the sites of the scale house. */
async function fill(client: pg.Client, { haulerId }: ScaleHouse, count: number): Promise<void> {
  await client.query('SET synchronous_commit = off');
  for (let done = 0; done < count; done += PORTION) {
    await client.query(FILL, [haulerId, done, Math.min(done + PORTION, count) - 1, count]);
    if ((done / PORTION) % 10 === 0) console.log(`${done + PORTION} stored`);
  }
  if (count > 0) await client.query('VACUUM (ANALYZE) tickets, ticket_revisions');
}

const FILL = `
  WITH sites AS (SELECT array_agg(external_id) AS ids FROM sites WHERE hauler_id = $1),
       made AS (
         SELECT n, uuidv7((n - $4::int) * interval '100 milliseconds') AS id,
                now() + (n - $4::int) * interval '100 milliseconds' AS at, ids[1 + n % cardinality(ids)] AS site
           FROM generate_series($2::int, $3::int) AS n, sites),
       tickets AS (
         INSERT INTO tickets (hauler_id, id, site_id, revision, contents_version, inbound_number, inbound_updated_at,
                              outbound_number, outbound_updated_at, materials, custom_fields, created_at, updated_at)
         SELECT $1, id, site, 1, at, 'STORED-IN-' || n, at, 'STORED-OUT-' || n, at,
                '[{"id":"' || id || '","name":"Mixed construction debris","quantity":4,"unitOfMeasure":"Ton"}]',
                '{"truckNumber":"42"}', at, at
           FROM made)
  INSERT INTO ticket_revisions (hauler_id, ticket_id, revision, received_at, result, body)
  SELECT $1, id, 1, at, 'created',
         '{"siteId":"' || site || '","inboundFlow":{"ticketNumber":"STORED-IN-' || n || '"},"note":"' || repeat('x', 200) || '"}'
    FROM made`;
