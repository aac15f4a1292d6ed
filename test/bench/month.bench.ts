import { randomUUID } from 'node:crypto';
import { createReadStream, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { AccountImport } from '../../src/contracts/admin/account-import.dto.js';
import { type BenchDatabase, startDatabase } from './database.js';
import { rssMb, type Service, startService } from './processes.js';
import { report, type Row } from './report.js';
import { openScaleHouse } from './scale-house.js';

const SITES = 50;
const MATERIALS = 20;
const [FROM, TO] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];

/** Reports and lists of a month, and an import of accounts. Arguments: rows (1000000), parts (reports,csv,dry-run,import). */
export async function run([count = '1000000', parts = 'reports,csv,dry-run,import']: readonly string[]): Promise<void> {
  const database = await startDatabase();
  const service = await startService(database);
  const { haulerId } = await openScaleHouse(service, database);
  const rows: Row[] = [['work', 'rows', 'seconds', 'rows/s', 'peak RSS MB']];
  const note = (row: Row) => {
    rows.push(row);
    console.log(row.join('  '));
  };
  const month: Month = { service, database, haulerId, count: Number(count), note };
  const chosen = new Set(parts.split(','));
  if (chosen.has('reports') || chosen.has('csv')) await fillMonth(month);
  if (chosen.has('reports')) await measureReports(month);
  if (chosen.has('csv')) await measureCsv(month);
  if (chosen.has('dry-run') || chosen.has('import')) await measureImports(month, chosen.has('import'));
  report('month', rows);
}

interface Month {
  readonly service: Service;
  readonly database: BenchDatabase;
  readonly haulerId: string;
  readonly count: number;
  readonly note: (row: Row) => void;
}

async function fillMonth({ database: { client }, haulerId, count }: Month): Promise<void> {
  // Ids begin with the time at which a ticket was received.
  await client.query(
    `INSERT INTO tickets (id, hauler_id, site_id, materials, custom_fields, inbound_number, inbound_updated_at, revision,
       contents_version, created_at, updated_at)
     SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid,
       $1, md5('site' || n % $3)::uuid,
       format('[{"id":"%s","name":"Mixed debris %s","quantity":%s,"unitPriceCents":6250.5,"unitOfMeasure":"Ton"},{"id":"%s","name":"Concrete","quantity":2.5,"unitOfMeasure":"Cubic Yard"}]',
         md5('material' || n % $4)::uuid, n % $4, n % 2000 / 100.0, md5('concrete')::uuid),
       format('{"truckNumber":"%s","driver":"R. Miller"}', n % 300), 'IN-' || n, at, 1, at, at, at
     FROM generate_series(1, $2::int) AS n, LATERAL (SELECT timestamptz '${FROM}' + n * (interval '31 days' / $2::int) AS at) AS times`,
    [haulerId, count, SITES, MATERIALS],
  );
  await client.query('VACUUM ANALYZE tickets');
}

async function measureReports({ service, haulerId, count, note }: Month): Promise<void> {
  const range = new URLSearchParams({ haulerId, from: FROM, to: TO, timeZone: 'America/Chicago' }).toString();
  for (const groupBy of ['site', 'material', 'day', 'customField:truckNumber']) {
    const path = `/reports/tonnage?${range}&groupBy=${encodeURIComponent(groupBy)}`;
    const { seconds, peak } = await watched(service, () => service.admin('GET', path));
    note([`tonnage by ${groupBy}`, count, seconds, Math.round(count / seconds), peak]);
  }
}

async function measureCsv({ service, haulerId, note }: Month): Promise<void> {
  const list = new URLSearchParams({ haulerId, from: FROM, to: TO }).toString();
  const { seconds, peak, result } = await watched(service, () => csvLines(service, `/tickets?${list}`));
  note(['tickets as CSV', result, seconds, Math.round(result / seconds), peak]);
}

async function csvLines(service: Service, path: string): Promise<number> {
  const headers = { authorization: `Bearer ${service.adminToken}`, accept: 'text/csv' };
  const response = await fetch(`${service.url}/admin/v1${path}`, { headers });
  if (!response.ok || response.body === null) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  let lines = 0;
  for await (const chunk of response.body) for (const byte of chunk) if (byte === 0x0a) lines += 1;
  return lines - 1;
}

/** A dry run, the import, and the same again; one line of the file is invalid. */
async function measureImports(
  { service, database: { folder }, haulerId, count, note }: Month,
  isWhole: boolean,
): Promise<void> {
  const file = join(folder, 'accounts.csv');
  const series = randomUUID().slice(0, 8);
  const lines = ['accountName,billingAddress.street,billingAddress.city,billingAddress.state,primaryContact.email'];
  for (let n = 1; n <= count; n++) {
    const state = n === Math.floor(count / 2) ? 'Texas' : 'TX';
    lines.push(`"Customer ${series}, ${n} LLC",${n} Quarry Road,Austin,${state},office${n}@example.com`);
  }
  writeFileSync(file, `${lines.join('\r\n')}\r\n`);
  lines.length = 0;
  const expected = [count - 1, 0, 1];
  const works = [
    ['dry run of an import', true, expected],
    ['import of accounts', false, expected],
    ['the same import again', false, [0, count - 1, 1]],
  ] as const;
  for (const [name, dryRun, counts] of isWhole ? works : works.slice(0, 1)) {
    const { seconds, peak, result } = await watched(service, () => sendFile(service, file, haulerId, dryRun));
    const { created, exists, invalid, data } = result;
    if (String([created, exists, invalid]) !== String(counts) || data[0]?.result !== 'invalid') {
      throw new Error(`${name}: ${JSON.stringify({ ...result, data: data.slice(0, 2) })}`);
    }
    note([name, count, seconds, Math.round(count / seconds), peak]);
  }
}

async function sendFile(service: Service, file: string, haulerId: string, dryRun: boolean): Promise<AccountImport> {
  const { size } = await stat(file);
  const { promise, resolve, reject } = Promise.withResolvers<AccountImport>();
  // fetch gives up after five minutes without headers.
  const call = request(
    `${service.url}/admin/v1/accounts/import?haulerId=${haulerId}&dryRun=${dryRun}`,
    {
      method: 'POST',
      headers: { authorization: `Bearer ${service.adminToken}`, 'content-type': 'text/csv', 'content-length': size },
    },
    (response) => {
      response
        .toArray()
        .then((chunks) => resolve(JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as AccountImport), reject);
    },
  );
  await pipeline(createReadStream(file), call);
  return promise;
}

/** The time of some work, and the largest memory of the service meanwhile. */
async function watched<T>(service: Service, work: () => Promise<T>) {
  const begun = performance.now();
  let peak = 0;
  let isDone = false;
  const watch = async () => {
    for (; !isDone; await delay(100)) peak = Math.max(peak, Math.round(rssMb(service.pid)));
  };
  const watching = watch();
  const result = await work().finally(() => (isDone = true));
  const seconds = (performance.now() - begun) / 1_000;
  await watching;
  return { result, seconds, peak };
}
