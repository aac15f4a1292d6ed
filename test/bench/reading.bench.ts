import { setTimeout as delay } from 'node:timers/promises';
import { type LoudCaller, startLoudCallers } from '../support/loud-calls.js';
import { startDatabase } from './database.js';
import { type Service, startService } from './processes.js';
import { report, type Row } from './report.js';
import { openHauler } from './scale-house.js';
import { median, percentile } from './statistics.js';

const READERS = 4;

/**
 * How long four readers wait for the log of exchanges while a hauler pushes as much as its connections can, beside a read of another
 * list, which waits for nothing. Each kind of read in turns. Arguments: seconds of one measurement (4), rounds (3), connections (64).
 */
export async function run([seconds = '4', rounds = '3', connections = '64']: readonly string[]): Promise<void> {
  const database = await startDatabase();
  const service = await startService(database);
  const { key, siteId, materialId } = await openHauler(service, database);
  const caller: LoudCaller = {
    url: service.url,
    path: '/platform-api/v1/tickets',
    headers: { 'platform-api-key': key },
    connections: Number(connections),
    kind: 'small',
    siteId,
    materialId,
  };
  const stop = await startLoudCallers([caller]);
  await delay(2_000);
  const { data } = await service.admin<{ data: { id: string }[] }>('GET', '/exchanges?pageSize=1');
  const reads = { haulers: '/haulers', list: '/exchanges?pageSize=20', one: `/exchanges/${data[0]?.id}` };
  const times: Record<string, number[]> = { haulers: [], list: [], one: [] };
  for (let round = 0; round < Number(rounds); round++) {
    for (const [name, path] of Object.entries(reads)) {
      const until = performance.now() + (Number(seconds) * 1000) / Number(rounds);
      await Promise.all(Array.from({ length: READERS }, () => readUntil(until, service, path, times[name] ?? [])));
    }
  }
  const answers = await stop();
  const rows = Object.entries(times).map(([name, all]): Row => [name, all.length, median(all), percentile(all, 0.99)]);
  report('reading', [['read', 'count', 'median ms', 'p99 ms'], ...rows], { answers });
}

async function readUntil(until: number, service: Service, path: string, times: number[]): Promise<void> {
  while (performance.now() < until) {
    const begun = performance.now();
    await service.admin('GET', path);
    times.push(performance.now() - begun);
  }
}
