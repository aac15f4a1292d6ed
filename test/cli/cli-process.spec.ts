import { beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { runEmbedded } from '../support/embedded-process.js';
import { heldChild } from '../support/held.js';
import { testServer } from '../support/test-database.js';
import { onServer } from '../support/test-server.js';

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

describe('the command line as a process, with the embedded database', () => {
  test('brings its own database where no service runs, tells of a new one, and leaves none behind', async () => {
    const created = await cli('hauler', 'create', '--name', 'Alone', '--json');
    const place = `under ${join(dataDir, 'postgres')}, since DATABASE_URL is not set`;
    const notice = `a new database is made: this command uses the embedded PostgreSQL ${place}\n`;
    expect([created.code, created.err]).toEqual([0, notice]);
    expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false);
    const { id } = JSON.parse(created.out) as { id: string };
    const revoked = await cli('key', 'revoke', id);
    expect([revoked.code, revoked.err]).toEqual([1, expect.not.stringContaining('a new database')]);
  });

  test('tells of a key that did not come by standard input', async () => {
    const words = [
      '--hauler-id',
      'x',
      '--interface',
      'site',
      '--base-url',
      'https://partner.example',
      '--api-key',
      '-',
    ];
    const { code, out, err } = await cli('connection', 'add', ...words);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(
      /^error: option '--api-key <text>' .* Standard input is empty: pipe the key into the command\.\n/,
    );
  });

  test('joins the database of a running service, and leaves it running', async () => {
    const service = await runEmbedded(dataDir);
    try {
      // Without tables, as after a first start, which would take longer.
      await onServer(service.url ?? '', (client) => client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public'));
      const created = await cli('hauler', 'create', '--name', 'Beside', '--json');
      expect([created.code, created.err]).toEqual([0, '']);
      expect(service.child.exitCode).toBeNull();
    } finally {
      service.child.kill('SIGTERM');
    }
    expect(await service.ended).toBe(0);
  });
});
