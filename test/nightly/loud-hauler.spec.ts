import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { median } from '../bench/statistics.js';
import { type BuiltService, startService } from '../support/built-service.js';
import { CatalogFixture } from '../support/catalog.js';
import { reportFigures } from '../support/faults.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const TICKETS = '/platform-api/v1/tickets';
/** The median of a quiet hauler, in milliseconds, on a machine on which it takes `CALM_MS` without others. */
const MAX_MEDIAN_MS = 300;
const CALM_MS = 15;
const PUSHES = 100;

interface Hauler {
  readonly key: string;
  readonly siteId: string;
  readonly materialId: string;
  /** Another key of the same hauler. */
  readonly otherKey: string;
}

let database: TestDatabase;
let db: DataSource;
let service: BuiltService;
let quiet: Hauler;
let loud: Hauler[];
let allowedMs: number;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await database.connect(2);
  service = await startService({ databaseUrl: database.url });
  loud = [];
  for (let i = 0; i < 8; i++) loud.push(await openHauler());
  quiet = await openHauler();
  await pushTimes(quiet.key);
  allowedMs = MAX_MEDIAN_MS * Math.max(1, median(await pushTimes(quiet.key)) / CALM_MS);
});
afterAll(async () => {
  await service.end('SIGKILL');
  await database.drop();
});

async function openHauler(): Promise<Hauler> {
  const { id: haulerId } = (await service.admin<{ id: string }>('POST', '/haulers', { name: 'Hauler' })).body;
  const catalog = new CatalogFixture(db);
  const siteId = await catalog.site(haulerId);
  const materialId = await catalog.material(haulerId, { siteId });
  const issue = () =>
    service.admin<{ key: string }>('POST', '/api-keys', { haulerId, interfaces: ['scale', 'account'] });
  return { key: (await issue()).body.key, siteId, materialId, otherKey: (await issue()).body.key };
}

let pushed = 0;

/** How long small pushes take, one after the other, in milliseconds. Each must be accepted. */
async function pushTimes(key: string, isKeyed = false): Promise<number[]> {
  const times: number[] = [];
  while (times.length < PUSHES) {
    const started = performance.now();
    const own = isKeyed ? { 'Idempotency-Key': `q${pushed}` } : {};
    const response = await fetch(service.url + TICKETS, {
      method: 'POST',
      headers: { 'PLATFORM-API-KEY': key, 'Content-Type': 'application/json', ...own },
      body: JSON.stringify({
        siteId: quiet.siteId,
        materials: [{ id: quiet.materialId, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' }],
        inboundFlow: { ticketNumber: `Q-${++pushed}`, updatedAt: '2026-01-31T08:30:00Z' },
      }),
    });
    expect([response.status, await response.text()]).toEqual([200, expect.anything()]);
    times.push(performance.now() - started);
    await delay(10);
  }
  return times;
}

interface LoudCaller {
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  /** Many materials; many that are refused with 400; a large account. */
  readonly kind: 'materials' | 'refused' | 'account';
  readonly keyed?: boolean;
  readonly siteId?: string;
  readonly materialId?: string;
}

/** Starts loud callers. The returned function ends them and resolves to the number of their answers by status. */
async function startLoudCallers(callers: readonly LoudCaller[]): Promise<() => Promise<Record<string, number>>> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, '../support/loud-caller.mjs'), JSON.stringify(callers)],
    {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    },
  );
  await nextLine(child);
  return async () => {
    const counts = nextLine(child);
    child.kill('SIGTERM');
    return JSON.parse(await counts) as Record<string, number>;
  };
}

async function nextLine(child: ChildProcess): Promise<string> {
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  return line.toString();
}

type Call = Pick<LoudCaller, 'kind'> & Partial<LoudCaller>;
const loudCaller = ({ key, siteId, materialId }: Hauler, call: Call): LoudCaller => ({
  url: service.url,
  path: TICKETS,
  headers: { 'PLATFORM-API-KEY': key },
  connections: 64,
  siteId,
  materialId,
  ...call,
});

const accounts = '/platform-api/v1/accounts';
const eighth = { connections: 8 };

describe('the small pushes of a quiet hauler stay fast beside', () => {
  test.each<[string, () => LoudCaller[], (() => string)?, boolean?]>([
    ['64 connections of another one with 1,000 materials each', () => [loudCaller(loud[0]!, { kind: 'materials' })]],
    ['64 connections with bodies of 1 MiB that are refused', () => [loudCaller(loud[0]!, { kind: 'refused' })]],
    ['eight loud haulers', () => loud.map((hauler) => loudCaller(hauler, { kind: 'materials', ...eighth }))],
    ['accounts with bodies of 1 MiB', () => [loudCaller(loud[0]!, { kind: 'account', path: accounts })]],
    ['another key of the same hauler', () => [loudCaller(quiet, { kind: 'materials' })], () => quiet.otherKey],
    [
      'pushes with an Idempotency-Key, with one of its own',
      () => [loudCaller(loud[0]!, { kind: 'materials', keyed: true })],
      () => quiet.key,
      true,
    ],
  ])(
    '%s',
    async (name, callers, key = () => quiet.key, isKeyed = false) => {
      const stop = await startLoudCallers(callers());
      await delay(1_000);
      const [measured] = await Promise.allSettled([pushTimes(key(), isKeyed)]);
      const answers = await stop();
      if (measured.status === 'rejected') throw measured.reason;
      const times = measured.value;
      reportFigures(name, { 'median ms': Math.round(median(times)), loud: JSON.stringify(answers) });
      expect(median(times)).toBeLessThan(allowedMs);
      // The loud ones are served as well.
      expect((answers[200] ?? 0) + (answers[400] ?? 0)).toBeGreaterThan(0);
    },
    60_000,
  );
});
