import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { type Ended, runToEnd } from '../support/boot-process.js';
import { eventually } from '../support/eventually.js';
import { heldChild } from '../support/held.js';
import { testServer } from '../support/test-database.js';

let dataDir: string;
let notice: string;
let migrated: Ended;
beforeAll(async () => {
  dataDir = mkdtempSync(join(testServer().folder, 'notice-'));
  notice = `uses the embedded PostgreSQL under ${join(dataDir, 'postgres')}, since DATABASE_URL is not set`;
  // Only the first start finds an empty database.
  migrated = await runToEnd('migrate-main.mjs', { DATA_DIR: dataDir, DATABASE_URL: '' });
}, 60_000);

test('npm run migrate reports that it works on the embedded database', () => {
  const { code, out } = migrated;
  expect(code).toBe(0);
  expect(out).toMatch(/^uses .*\nApplied /);
  expect(out.split('\n')[0]).toBe(notice);
});

test.each([
  ['npm run start:prod warns of the embedded database', { npm_lifecycle_event: 'start:prod' }, [40]],
  ['a service in production warns of it', { NODE_ENV: 'production', EMBEDDED_DATABASE: 'true', DEMO: 'true' }, [40]],
  ['npm start does not warn of it', { npm_lifecycle_event: 'start' }, []],
])(
  '%s',
  async (_, variables, expected) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, '../support/service-main.mjs')], {
      env: { PATH: process.env['PATH'], DATA_DIR: dataDir, DATABASE_URL: '', PORT: '0', ...variables },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    heldChild(child, 'SIGTERM');
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    const ended = once(child, 'close');
    await eventually(() => expect(out).toContain('listens on'), 40_000);
    child.kill('SIGTERM');
    await ended;
    const lines = out.split('\n').filter((line) => line.startsWith('{'));
    const logged = lines.map((line) => JSON.parse(line) as { level: number; msg: string });
    expect(logged.filter(({ msg }) => msg === notice).map(({ level }) => level)).toEqual(expected);
  },
  60_000,
);
