import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { median } from '../bench/statistics.js';
import { type BuiltService, gauge, liveMemory, startService } from '../support/built-service.js';
import { Crowd, type Loaded } from './crowd.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import { rawRequest } from '../support/raw-request.js';
import { SlowClient } from '../support/slow-client.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** More bytes at once than may wait (24 MiB), for a database that takes 40 ms for every 64 KiB. */
const CALLERS = 1_000;
const BULK = 'x'.repeat(100_000);
const DATABASE_DELAY_MS = 40;
/** After a first wave, during which the process allocates its memory. */
const WAVES = 8;
const WAVE_MS = 10_000;
/** A busy machine needs a while until more waits than is allowed. An entry that waited 4.5 s is refused in any case. */
const MAX_WAVE_MS = WAVE_MS + 10_000;
const IDLE = 10_000;
const MIB = 1024 * 1024;
const MAX_RSS_BYTES = 700 * MIB;
/** The service may need this beyond its memory at rest, in bytes. */
const MAX_GROWTH = 500 * MIB;
/**
 * The median peak of the later waves may exceed that of the earlier ones by this, in bytes. Eight equal waves differed
 * by up to 60 MiB without a trend. Each wave sends 2 GB: one percent of it would be visible.
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
    const sum = (of: (one: Loaded) => number) => waves.map(of).reduce((a, b) => a + b);
    expect(sum(({ acknowledged }) => acknowledged)).toBeGreaterThan(0);
    const mib = (bytes: readonly number[]) => bytes.map((one) => Math.round(one / MIB)).join(' ');
    reportFigures('overload', {
      waves: waves.length,
      'callers at once': CALLERS,
      'KB each': BULK.length / 1_000,
      acknowledged: sum(({ acknowledged }) => acknowledged),
      'refused with 503': sum(({ refused }) => refused),
      'slowest health answer ms': Math.round(Math.max(...waves.map(({ slowestMs }) => slowestMs))),
      'peak RSS MiB': mib(peaks),
      'at rest': mib([calm]),
      'live MiB before and after': mib([calmLive, live]),
      lost: 0,
    });
  }, 240_000);

  test('is followed by normal service', async () => {
    expect(await crowd.pushAll(service, 32, 500)).toEqual({ acknowledged: 500, refused: 0, wrong: [] });
  });

  /** Rates of two processes, measured in turns so that the load of the machine is equal; their medians are compared. */
  test('does not slow the process down afterwards', async () => {
    const fresh = await start();
    try {
      const rates: Record<'tired' | 'fresh', number[]> = { tired: [], fresh: [] };
      for (let round = 0; round < 12; round++) {
        for (const which of ['tired', 'fresh'] as const) {
          const started = performance.now();
          const { acknowledged } = await crowd.pushAll(which === 'tired' ? service : fresh, 32, 2_000);
          expect(acknowledged).toBe(2_000);
          // A young process is slow until its code is compiled.
          if (round >= 3) rates[which].push(2_000_000 / (performance.now() - started));
        }
      }
      const [tired, young] = [median(rates.tired), median(rates.fresh)];
      reportFigures('speed afterwards', { 'tickets/s': Math.round(tired), 'of a fresh process': Math.round(young) });
      expect(tired / young).toBeGreaterThan(0.8);
    } finally {
      await fresh.end('SIGKILL');
    }
  }, 180_000);
});

test('by idle connections does not affect other callers', async () => {
  const before = await residentBytes();
  const idle: SlowClient[] = [];
  while (idle.length < IDLE) {
    idle.push(...(await Promise.all(Array.from({ length: 250 }, () => SlowClient.open(service.url)))));
  }
  const started = performance.now();
  // On new connections: the service closes the oldest idle ones of an address.
  for (let i = 0; i < 20; i++) expect((await rawRequest(`${service.url}/health/ready`, 'GET', [])).status).toBe(200);
  const answered = (performance.now() - started) / 20;
  const each = ((await residentBytes()) - before) / IDLE;
  for (const client of idle) client.close();
  expect(answered).toBeLessThan(5_000);
  reportFigures('idle connections', {
    held: IDLE,
    'ms an answer': answered.toFixed(1),
    'KiB each': Math.round(each / 1024),
    lost: 0,
  });
}, 120_000);
