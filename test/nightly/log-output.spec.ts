import { beforeEach, describe, expect, test } from '@jest/globals';
import { LogOutput } from '../../src/observability/log-output.js';
import { startTestApp } from '../support/app.js';
import { startServiceProcess } from '../support/service-process.js';

const MEBIBYTE = 1024 * 1024;

let chunks: string[];
let written: (() => void)[];
let output: LogOutput;
beforeEach(() => {
  chunks = [];
  written = [];
  const write = (chunk: string, done: () => void) => {
    chunks.push(chunk);
    written.push(done);
    return true;
  };
  output = new LogOutput({ write: write as never }, 10);
});

/** Standard output accepts the chunk that is being written, and the next one begins. */
async function accept(): Promise<void> {
  written.shift()?.();
  await new Promise((resolve) => setImmediate(resolve));
}

describe('log lines', () => {
  test('are dropped and counted while standard output is not read, and the loss is logged', async () => {
    const line = `${'x'.repeat(MEBIBYTE - 1)}\n`;
    for (let i = 0; i < 20; i++) output.write(line);
    expect(output.droppedLines).toBeGreaterThan(10);
    const kept = 20 - output.droppedLines;
    for (let i = 0; i < kept + 1; i++) await accept();
    expect(chunks.filter((chunk) => chunk === line)).toHaveLength(kept);
    expect(chunks.join('')).toContain(`"dropped":${output.droppedLines}`);
  });
});

test('SIGTERM ends the service while nobody reads its standard output', async () => {
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
});
