import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { testEnv } from '../support/env.js';
import { heldChild } from '../support/held.js';
import { startServiceProcess } from '../support/service-process.js';
import { testServer } from '../support/test-database.js';

const MAIN = join(import.meta.dirname, '../support/cli-main.mjs');

let dataDir: string;
beforeAll(() => {
  dataDir = mkdtempSync(join(testServer().folder, 'cli-'));
});

async function cli(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(process.execPath, [MAIN, ...words], {
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  heldChild(child);
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const [code] = (await once(child, 'close')) as [number];
  return { code, out, err };
}

test('a command calls the default address if no service has run', async () => {
  const { code, out, err } = await cli('hauler', 'list');
  // Another service may use the default port on a developer's machine.
  expect([code, out, err]).toEqual([1, '', expect.stringMatching(/127\.0\.0\.1:3000|--token/)]);
});

test('a command finds the address and the token of a service with an embedded database', async () => {
  const embedded = { DATABASE_URL: '', ADMIN_TOKEN: '', SECRETS_KEY: '', DATA_DIR: dataDir, DEMO: 'false' };
  const service = await startServiceProcess(testEnv({ DATABASE_URL: '', DATA_DIR: dataDir }), embedded);
  try {
    const created = await cli('hauler', 'create', '--name', 'Beside', '--json');
    expect([created.code, created.err]).toEqual([0, '']);
    expect(JSON.parse(created.out)).toMatchObject({ name: 'Beside' });
  } finally {
    service.child.kill('SIGTERM');
    await service.ended;
  }
  const { code, err } = await cli('hauler', 'list');
  expect([code, err]).toEqual([1, `error: connection refused by ${service.url}: start the service or pass --url\n`]);
}, 60_000);

test('a key that does not arrive on standard input is a wrong call', async () => {
  const words = ['--hauler-id', 'x', '--interface', 'site', '--base-url', 'https://partner.example', '--api-key', '-'];
  const { code, out, err } = await cli('connection', 'add', ...words);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(
    /^error: option '--api-key <text>' .* Standard input is empty: pipe the key into the command\.\n/,
  );
});
