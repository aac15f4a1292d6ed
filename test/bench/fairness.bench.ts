import { setTimeout as delay } from 'node:timers/promises';
import { type LoudCaller, startLoudCallers } from '../support/loud-calls.js';
import { startDatabase } from './database.js';
import { type Service, startService } from './processes.js';
import { report, type Row } from './report.js';
import { type Hauler, openHauler } from './scale-house.js';
import { median, percentile } from './statistics.js';

const TICKETS = '/platform-api/v1/tickets';
/** The quiet hauler pushes as often. */
const QUIET_MS = 50;

/**
 * Small pushes of a quiet hauler while others push as much as they can: median and 99th percentile of the quiet one, and
 * the rate of the loud ones. Arguments: seconds of one measurement (6), kinds (all), connections of the loud ones (64).
 */
export async function run([seconds = '6', kinds = '', connections = '64']: readonly string[]): Promise<void> {
  const database = await startDatabase();
  const service = await startService(database);
  const haulers: Hauler[] = [];
  for (let i = 0; i < 9; i++) haulers.push(await openHauler(service, database));
  const [quiet, ...loud] = haulers as [Hauler, ...Hauler[]];
  const rows: Row[] = [['loud', 'quiet p50 ms', 'quiet p99 ms', 'quiet refused', 'loud answers/s', 'loud statuses']];
  await measure(service, quiet, 1);
  for (const [name, callers] of scenes(Number(connections))) {
    if (kinds !== '' && !kinds.split(',').includes(name)) continue;
    const stop = await startLoudCallers(
      callers.map((caller, i) => loudCaller(service, loud[i % loud.length]!, caller)),
    );
    await delay(1500);
    const measured = await measure(service, quiet, Number(seconds));
    const all = await stop();
    const rate = Object.values(all).reduce((sum, n) => sum + n, 0) / (Number(seconds) + 1.5);
    const { times, refused } = measured;
    rows.push([name, median(times), percentile(times, 0.99), refused, rate, JSON.stringify(all)]);
    console.log(rows.at(-1));
    await delay(1500);
  }
  report('fairness', rows);
}

type Scene = readonly [name: string, callers: readonly Partial<LoudCaller>[]];

const scenes = (connections: number): readonly Scene[] => [
  ['nobody', []],
  ['small', [{ kind: 'small', connections }]],
  ['bulk', [{ kind: 'bulk', connections }]],
  ['materials', [{ kind: 'materials', connections }]],
  ['fields', [{ kind: 'fields', connections }]],
  ['refused', [{ kind: 'refused', connections }]],
  ['unknown', [{ kind: 'unknown', connections }]],
  ['keyed', [{ kind: 'materials', connections, keyed: true }]],
  ['many', Array.from({ length: 8 }, () => ({ kind: 'materials' as const, connections: connections / 8 }))],
  ['medium', [{ kind: 'medium', connections }]],
  ['tickets list', [{ kind: 'read', connections: 8, path: '/admin/v1/tickets?pageSize=100' }]],
  ['exchanges', [{ kind: 'read', connections: 8, path: '/admin/v1/exchanges?pageSize=100' }]],
  ['accounts', [{ kind: 'account', connections, path: '/platform-api/v1/accounts' }]],
];

const loudCaller = (service: Service, hauler: Hauler, caller: Partial<LoudCaller>): LoudCaller => ({
  url: service.url,
  path: TICKETS,
  headers: { 'platform-api-key': hauler.key, authorization: `Bearer ${service.adminToken}` },
  connections: 64,
  kind: 'small',
  siteId: hauler.siteId,
  materialId: hauler.materialId,
  ...caller,
});

let pushed = 0;

async function measure(service: Service, { key, siteId, materialId }: Hauler, seconds: number) {
  const end = performance.now() + seconds * 1000;
  const times: number[] = [];
  let refused = 0;
  while (performance.now() < end) {
    const begun = performance.now();
    const { status } = await fetch(service.url + TICKETS, {
      method: 'POST',
      headers: { 'platform-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({
        siteId,
        materials: [{ id: materialId, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' }],
        inboundFlow: { ticketNumber: `Q-${++pushed}`, updatedAt: '2026-01-31T08:30:00Z' },
      }),
    });
    times.push(performance.now() - begun);
    if (status !== 200) refused++;
    await delay(Math.max(0, QUIET_MS - (performance.now() - begun)));
  }
  return { times, refused };
}
