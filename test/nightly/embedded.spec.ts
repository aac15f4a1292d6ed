import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type EmbeddedProcess, isAlive, runEmbedded, serverPid } from '../support/embedded-process.js';
import { fromSource } from '../support/from-source.js';
import { requireRoot } from '../support/programs.js';
import { testServer, onServer } from '../support/test-run.js';

let dataDir: string;
let cluster: string;
let running: ChildProcess[];

/** Creating a cluster takes longer than most of these tests. They share this one, one after the other, or copy it. */
beforeAll(async () => {
  cluster = mkdtempSync(join(testServer().folder, 'embedded-'));
  const { child, url, ended, output } = await runEmbedded(cluster);
  if (url === undefined) throw new Error(output());
  child.kill('SIGTERM');
  await ended;
});

beforeEach(() => {
  dataDir = mkdtempSync(join(testServer().folder, 'embedded-'));
  running = [];
});

afterEach(async () => {
  for (const child of running.filter(({ exitCode, signalCode }) => (exitCode ?? signalCode) === null)) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
});

async function start(root?: string): Promise<EmbeddedProcess & { url: string }> {
  const embedded = await runEmbedded(dataDir, root);
  running.push(embedded.child);
  if (embedded.url === undefined) throw new Error(embedded.output());
  return embedded as EmbeddedProcess & { url: string };
}

/** Starts on the data of an earlier run. */
async function startAgain(): ReturnType<typeof start> {
  dataDir = cluster;
  return start();
}

async function refusal(): Promise<string> {
  const embedded = await runEmbedded(dataDir);
  running.push(embedded.child);
  expect(await embedded.ended).toBe(1);
  expect(embedded.output().trim().split('\n')).toHaveLength(1);
  return embedded.output();
}

const keep = (url: string) =>
  onServer(url, (client) => client.query('DROP TABLE IF EXISTS kept; CREATE TABLE kept AS SELECT 42 AS answer'));
const kept = (url: string) =>
  onServer(url, async (client) => (await client.query<{ answer: number }>('SELECT answer FROM kept')).rows);

describe('a start and a stop', () => {
  test('keep the data on the disk, leave no process, run no server as root, and accept connections of this machine only', async () => {
    const first = await startAgain();
    expect(new URL(first.url)).toMatchObject({ hostname: '127.0.0.1', pathname: '/haulbridge' });
    await keep(first.url);
    await onServer(first.url, async (client) => {
      for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
        expect((await client.query<Record<string, string>>(`SHOW ${setting}`)).rows).toEqual([{ [setting]: 'on' }]);
      }
    });
    const server = serverPid(dataDir);
    expect(statSync(`/proc/${server}`).uid).not.toBe(0);
    expect(statSync(join(dataDir, 'postgres')).mode & 0o777).toBe(0o700);
    expect(statSync(join(dataDir, 'postgres/haulbridge.password')).mode & 0o777).toBe(0o600);
    const wrong = new URL(first.url);
    wrong.password = 'wrong';
    await expect(kept(wrong.href)).rejects.toThrow('password authentication failed');
    for (const address of Object.values(networkInterfaces()).flatMap((list) => list ?? [])) {
      if (address.internal || address.family !== 'IPv4') continue;
      const outside = new URL(first.url);
      outside.hostname = address.address;
      await expect(kept(outside.href)).rejects.toThrow('ECONNREFUSED');
    }
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    expect(isAlive(server)).toBe(false);
    expect(await kept((await start()).url)).toEqual([{ answer: 42 }]);
  });

  test('`database url` prints the address while it runs, and afterwards what to do', async () => {
    const { url, child, ended } = await startAgain();
    const command = () => {
      const words = [...fromSource('src/cli/main.ts'), 'database', 'url'];
      const env = { PATH: process.env['PATH'], TMPDIR: testServer().folder, DATA_DIR: dataDir };
      const { status, stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' });
      return [status, stdout + stderr];
    };
    expect(command()).toEqual([0, `${url}\n`]);
    child.kill('SIGTERM');
    await ended;
    expect(command()).toEqual([
      1,
      `error: no embedded database runs on DATA_DIR ${dataDir}: start the service, or set DATA_DIR to that of the service\n`,
    ]);
  });

  // The process handles SIGTERM and SIGUSR2 itself. At SIGUSR2 it exits without a message.
  test.each([
    ['SIGUSR2', 3],
    ['SIGINT', 'SIGINT'],
    ['SIGHUP', 'SIGHUP'],
  ] as const)('stop the server if the process ends without stopping it: %s', async (signal, end) => {
    const embedded = await startAgain();
    const server = serverPid(dataDir);
    embedded.child.kill(signal);
    expect(await embedded.ended).toBe(end);
    await until(() => !isAlive(server));
  });
});

describe('after a killed run', () => {
  test('an orphaned server is stopped, and its data is served', async () => {
    const first = await startAgain();
    await keep(first.url);
    const orphan = serverPid(dataDir);
    first.child.kill('SIGKILL');
    await first.ended;
    expect(isAlive(orphan)).toBe(true);
    const second = await start();
    expect(isAlive(orphan)).toBe(false);
    expect(second.output()).toContain(`stopped the PostgreSQL of an earlier run (process ${orphan})`);
    expect(await kept(second.url)).toEqual([{ answer: 42 }]);
  });

  test('an incomplete first start is ignored', async () => {
    const child = spawnRaw();
    await until(() => readdirSync(dataDir).some((name) => name.startsWith('postgres.new-')));
    child.kill('SIGKILL');
    await once(child, 'exit');
    const { url } = await start();
    await keep(url);
    expect(readdirSync(dataDir).sort()).toEqual(['lock', 'lock.pid', 'postgres']);
  });
});

describe('a start is refused in one sentence', () => {
  test('if another one runs on the same folder', async () => {
    const first = await startAgain();
    expect(await refusal()).toBe(
      `Another haulbridge (process ${first.child.pid}) already runs on DATA_DIR ${dataDir}: stop it, or start this one with another DATA_DIR.\n`,
    );
    await keep(first.url);
  });

  test('if the data is of another major version, and stays as it is', async () => {
    mkdirSync(join(dataDir, 'postgres'));
    writeFileSync(join(dataDir, 'postgres/PG_VERSION'), '17\n');
    expect(await refusal()).toMatch(/was written by PostgreSQL 17, and this haulbridge contains PostgreSQL 18: move/);
    expect(readdirSync(join(dataDir, 'postgres'))).toEqual(['PG_VERSION']);
  });
});

describe('as root', () => {
  test('binaries and data work below a folder that other users cannot enter', async () => {
    requireRoot();
    const locked = join(dataDir, 'locked');
    mkdirSync(locked, { mode: 0o700 });
    const root = join(import.meta.dirname, '../..');
    for (const name of ['src', 'test', 'node_modules', 'package.json'])
      symlinkSync(join(root, name), join(locked, name));
    dataDir = join(locked, 'data');
    const first = await start(locked);
    await keep(first.url);
    const command = readFileSync(`/proc/${serverPid(dataDir)}/cmdline`, 'utf8');
    expect(command.startsWith(locked)).toBe(false);
    first.child.kill('SIGTERM');
    await first.ended;
    expect(existsSync(join(dataDir, 'postgres/PG_VERSION'))).toBe(true);
    expect(await kept((await start(locked)).url)).toEqual([{ answer: 42 }]);
  });
});

function spawnRaw(): ChildProcess {
  const root = join(import.meta.dirname, '../..');
  const child = spawn(process.execPath, [join(root, 'test/support/embedded-main.mjs'), root, dataDir], {
    stdio: 'ignore',
  });
  running.push(child);
  return child;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 15_000; !(await condition()); await delay(10)) {
    if (Date.now() > end) throw new Error('the condition was not met within 15 s');
  }
}
