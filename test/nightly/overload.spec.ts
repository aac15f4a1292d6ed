import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { median } from '../bench/statistics.js';
import { type BuiltService, gauge, liveMemory, startService } from '../support/built-service.js';
import { Crowd, type Loaded } from './crowd.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** More bytes at once than may wait (24 MiB), for a database that takes 40 ms for every 64 KiB. */
const CALLERS = 1_000;
const BULK = 'x'.repeat(100_000);
const DATABASE_DELAY_MS = 40;
/** After a first wave, during which the process allocates its memory. */
const WAVES = 4;
const WAVE_MS = 10_000;
/** A busy machine needs a while until more waits than is allowed. An entry that waited 4.5 s is refused in any case. */
const MAX_WAVE_MS = WAVE_MS + 10_000;
const MIB = 1024 * 1024;
const MAX_RSS_BYTES = 700 * MIB;
/** The service may need this beyond its memory at rest, in bytes. */
const MAX_GROWTH = 500 * MIB;
/**
 * The median peak of the later waves may exceed that of the earlier ones by this, in bytes. Equal waves differed
 * by up to 60 MiB without a trend. Each wave sends gigabytes: one percent of it would be visible.
 */
const PEAK_MARGIN = 64 * MIB;
/** The live memory after the last wave may exceed that before the first by this, in bytes. */
const LIVE_MARGIN = 24 * MIB;

let database: TestDatabase;
let db: DataSource;
let proxy: TcpProxy;
let service: BuiltService;
let crowd: Crowd;
const start = () => {
  const url = new URL(database.url);
  url.port = String(proxy.port);
  return startService({ databaseUrl: url.href, memoryProbe: true });
};
beforeAll(async () => {
  database = await createTestDatabase();
  db = await database.connect(2);
  const server = new URL(database.url);
  proxy = await startTcpProxy({ host: server.hostname, port: Number(server.port) });
  service = await start();
  crowd = await Crowd.create(service, db);
  // Allocations of the first use are not growth.
  await crowd.pushAll(service, 16, 300);
});
afterAll(async () => {
  await service.end('SIGKILL');
  await proxy.close();
  await database.drop();
});

const residentBytes = () => gauge(service, 'process_resident_memory_bytes');

const stored = async (): Promise<number> => {
  const [row] = await db.query<[{ count: number }]>('SELECT count(*)::int AS count FROM tickets');
  return row.count;
};

interface Watched {
  readonly asked: number;
  readonly slowestMs: number;
  readonly peakBytes: number;
}

/** Reads health and memory until the wave ends. */
function watch(): () => Promise<Watched> {
  let watching = true;
  let [asked, slowestMs, peakBytes] = [0, 0, 0];
  const work = (async () => {
    while (watching) {
      const started = performance.now();
      const { status } = await fetch(`${service.url}/health/live`);
      expect(status).toBe(200);
      slowestMs = Math.max(slowestMs, performance.now() - started);
      peakBytes = Math.max(peakBytes, await residentBytes());
      asked++;
      await delay(50);
    }
  })();
  return async () => {
    watching = false;
    await work;
    return { asked, slowestMs, peakBytes };
  };
}

/** Concurrent callers of a database that is slow until they stop; the waiting pushes are served then. */
async function wave(): Promise<Loaded & Watched> {
  const already = await stored();
  proxy.pass(DATABASE_DELAY_MS);
  const watched = watch();
  const refusal = Promise.withResolvers<void>();
  let rolling = true;
  const recovery = Promise.race([
    Promise.all([delay(WAVE_MS), refusal.promise]),
    delay(MAX_WAVE_MS, undefined, { ref: false }),
  ]).then(() => {
    rolling = false;
    proxy.pass();
  });
  const loaded = await crowd.pushWhile(service, CALLERS, () => rolling, { bulk: BULK, onRefused: refusal.resolve });
  await recovery;
  const seen = await watched();
  // 200 or 503 only, and every caller has a response.
  expect(loaded.wrong).toEqual([]);
  expect(loaded.refused).toBeGreaterThan(0);
  expect(seen.asked).toBeGreaterThan(0);
  expect(seen.slowestMs).toBeLessThan(5_000);
  // Every push with 200 is stored. A refused one may be stored as well, if its timeout ended during the commit.
  expect((await stored()) - already).toBeGreaterThanOrEqual(loaded.acknowledged);
  return { ...loaded, ...seen };
}

describe('an overload', () => {
  test('is refused early, health answers throughout, and memory does not grow from wave to wave', async () => {
    const [calm, calmLive] = [await residentBytes(), await liveMemory(service)];
    const waves = [await wave()];
    while (waves.length <= WAVES) waves.push(await wave());
    const peaks = waves.map(({ peakBytes }) => peakBytes);
    expect(Math.max(...peaks)).toBeLessThan(MAX_RSS_BYTES);
    expect(Math.max(...peaks) - calm).toBeLessThan(MAX_GROWTH);
    const [earlier, later] = [peaks.slice(1, 1 + WAVES / 2), peaks.slice(1 + WAVES / 2)];
    expect(median(later)).toBeLessThan(median(earlier) + PEAK_MARGIN);
    // A batch whose callers have timed out may still be on its way to the database, and so may exchanges.
    const live = await eventually(async () => {
      const bytes = await liveMemory(service);
      expect(bytes).toBeLessThan(calmLive + LIVE_MARGIN);
      return bytes;
    });
    expect(waves.some(({ acknowledged }) => acknowledged > 0)).toBe(true);
    const mib = (bytes: readonly number[]) => bytes.map((one) => Math.round(one / MIB)).join(' ');
    reportFigures('overload', { 'peak RSS MiB': mib(peaks), 'live MiB before and after': mib([calmLive, live]) });
  }, 240_000);
});
