import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startService } from '../support/built-service.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { testServer } from '../support/test-run.js';

const MEBIBYTE = 1024 * 1024;
/** Both start the service, on a machine that may be busy. */
const CASE_MS = 120_000;

let database: TestDatabase;
beforeAll(async () => void (database = await createTestDatabase()));
afterAll(() => database.drop());

const start = (options = {}) => startService({ databaseUrl: database.url, env: { LOG_LEVEL: 'info' }, ...options });

test(
  'lines beyond 8 MiB are lost while nobody reads standard output, and counted; requests are answered meanwhile',
  async () => {
    const logFile = join(testServer().folder, 'log-output.txt');
    const service = await start({ logFile });
    service.child.stdout?.pause();
    const sent = 1_500;
    for (let first = 0; first < sent; first += 50) {
      const round = Array.from({ length: 50 }, (_, i) => fetch(`${service.url}/${first + i}/${'x'.repeat(8_000)}`));
      expect((await Promise.all(round)).every(({ status }) => status === 404)).toBe(true);
    }
    service.child.stdout?.resume();
    const output = () => readFileSync(logFile, 'utf8');
    await eventually(() => expect(output()).toContain('"dropped":'));
    const dropped = Number(/"dropped":(\d+)/.exec(output())?.[1]);
    const kept = output().match(/"path":"\/\d+\/x/g)?.length;
    expect(dropped).toBeGreaterThan(0);
    expect(kept).toBe(sent - dropped);
    expect(output().length).toBeGreaterThan(8 * MEBIBYTE);
    expect(await service.end()).toBe(0);
  },
  CASE_MS,
);

test(
  'SIGTERM ends the service while nobody reads its standard output',
  async () => {
    const service = await start();
    service.child.stdout?.pause();
    // Each request logs some 200 bytes: more in all than a pipe and its reader buffer.
    for (let round = 0; round < 40; round++) {
      await Promise.all(Array.from({ length: 50 }, () => fetch(`${service.url}/${'x'.repeat(500)}`)));
    }
    const started = performance.now();
    const ended = service.end();
    // The exit, not the close of the unread pipe.
    await new Promise((resolve) => service.child.once('exit', resolve));
    expect(performance.now() - started).toBeLessThan(5_000);
    service.child.stdout?.resume();
    expect(await ended).toBe(0);
  },
  CASE_MS,
);
