import { expect, test } from '@jest/globals';
import { startTestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startServiceProcess } from '../support/service-process.js';

const MEBIBYTE = 1024 * 1024;
/** Both start the service, on a machine that may be busy. */
const CASE_MS = 120_000;

test(
  'lines beyond 8 MiB are lost while nobody reads standard output, and counted; requests are answered meanwhile',
  async () => {
    const service = await startTestApp();
    const { child, url, output, ended } = await startServiceProcess(service.env, { LOG_LEVEL: 'info' });
    child.stdout?.pause();
    const sent = 1_500;
    for (let first = 0; first < sent; first += 50) {
      const round = Array.from({ length: 50 }, (_, i) => fetch(`${url}/${first + i}/${'x'.repeat(8_000)}`));
      expect((await Promise.all(round)).every(({ status }) => status === 404)).toBe(true);
    }
    child.stdout?.resume();
    await eventually(() => expect(output()).toContain('"dropped":'));
    const dropped = Number(/"dropped":(\d+)/.exec(output())?.[1]);
    const kept = output().match(/"path":"\/\d+\/x/g)?.length;
    expect(dropped).toBeGreaterThan(0);
    expect(kept).toBe(sent - dropped);
    expect(output().length).toBeGreaterThan(8 * MEBIBYTE);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    await service.close();
  },
  CASE_MS,
);

test(
  'SIGTERM ends the service while nobody reads its standard output',
  async () => {
    const service = await startTestApp();
    const { child, url, ended } = await startServiceProcess(service.env, { LOG_LEVEL: 'info' });
    child.stdout?.pause();
    // Each request logs some 200 bytes: more in all than a pipe and its reader buffer.
    for (let round = 0; round < 40; round++) {
      await Promise.all(Array.from({ length: 50 }, () => fetch(`${url}/${'x'.repeat(500)}`)));
    }
    const started = performance.now();
    child.kill('SIGTERM');
    // The exit, not the close of the unread pipe.
    await new Promise((resolve) => child.once('exit', resolve));
    expect(performance.now() - started).toBeLessThan(5_000);
    child.stdout?.resume();
    expect(await ended).toBe(0);
    await service.close();
  },
  CASE_MS,
);
