import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
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
import pg from 'pg';
import { DataSource } from 'typeorm';
import { createDataSourceOptions } from '../../src/database/data-source.js';
import { Database } from '../../src/database/database.js';
import { startEmbeddedPostgres } from '../../src/embedded-postgres/start-embedded-postgres.js';
import { isDatabaseUnavailable } from '../../src/database/postgres-errors.js';
import { type EmbeddedProcess, isAlive, runEmbedded, serverPid } from '../support/embedded-process.js';
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

/** PostgreSQL checks the owners of its files; Node's cpSync does not copy them. */
const copyCluster = () => execFileSync('cp', ['-a', join(cluster, 'postgres'), dataDir]);

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

  test('print nothing about connections that the stop ends', async () => {
    const { url, output, child, ended } = await startAgain();
    const client = new pg.Client({ connectionString: url });
    const messages: string[] = [];
    client.on('error', ({ message }) => messages.push(message));
    await client.connect();
    const before = output();
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    await until(() => messages.length > 0);
    expect(messages[0]).toBe('terminating connection due to administrator command');
    expect(output()).toBe(before);
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

  test('stop the server if a signal arrives before the service has started', async () => {
    const child = spawnRaw();
    await until(() => existsSync(join(dataDir, 'postgres/postmaster.pid')));
    const server = serverPid(dataDir);
    child.kill('SIGTERM');
    await once(child, 'exit');
    await until(() => !isAlive(server));
  });
});

test('a start that fails after the server has started stops it before another start can use the folder', async () => {
  copyCluster();
  writeFileSync(join(dataDir, 'postgres/haulbridge.password'), 'of another folder');
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
  await expect(startEmbeddedPostgres({ dataDir, log })).rejects.toThrow('password authentication failed');
  expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false);
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

  test('another process with the id of a former server is not stopped', async () => {
    const first = await startAgain();
    first.child.kill('SIGTERM');
    await first.ended;
    const other = spawn('sleep', ['60'], { stdio: 'ignore' });
    running.push(other);
    writeFileSync(join(dataDir, 'postgres/postmaster.pid'), `${other.pid}\n${dataDir}\n1\n1\n\n127.0.0.1\n\nready\n`);
    await start();
    expect(other.exitCode ?? other.signalCode).toBeNull();
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

  test('if another one starts on the same folder at the same time', async () => {
    copyCluster();
    const both = await Promise.all([runEmbedded(dataDir), runEmbedded(dataDir)]);
    running.push(...both.map(({ child }) => child));
    expect(both.filter(({ url }) => url !== undefined)).toHaveLength(1);
    expect(both.map(({ output }) => output()).join('')).toMatch(
      /^Another haulbridge.* already runs on DATA_DIR [^\n]*\n$/,
    );
  });

  test('if the data is of another major version, and stays as it is', async () => {
    mkdirSync(join(dataDir, 'postgres'));
    writeFileSync(join(dataDir, 'postgres/PG_VERSION'), '17\n');
    expect(await refusal()).toMatch(/was written by PostgreSQL 17, and this haulbridge contains PostgreSQL 18: move/);
    expect(readdirSync(join(dataDir, 'postgres'))).toEqual(['PG_VERSION']);
  });

  test('if the folder is not a data folder', async () => {
    mkdirSync(join(dataDir, 'postgres'));
    expect(await refusal()).toMatch(/has no PG_VERSION: it is no data folder of haulbridge/);
  });

  test('if DATA_DIR cannot be created', async () => {
    writeFileSync(join(dataDir, 'file'), '');
    dataDir = join(dataDir, 'file', 'below');
    expect(await refusal()).toMatch(/^DATA_DIR .* cannot be created: /);
  });
});

describe('a server that is killed', () => {
  test('is started again, and the pool recovers; until then the database is reported as unavailable', async () => {
    const { url, output } = await startAgain();
    await keep(url);
    const pool = new DataSource(createDataSourceOptions(new Database({ DATABASE_URL: url, DATABASE_POOL: 2 })));
    await pool.initialize();
    const killed = serverPid(dataDir);
    process.kill(killed, 'SIGKILL');
    const failures: unknown[] = [];
    await until(async () => {
      try {
        await pool.query('SELECT answer FROM kept');
        return output().includes('runs again');
      } catch (error) {
        failures.push(error);
        return false;
      }
    });
    expect(failures.length).toBeGreaterThan(0);
    expect(failures.filter((error) => !isDatabaseUnavailable(error))).toEqual([]);
    expect(await pool.query('SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    expect(serverPid(dataDir)).not.toBe(killed);
    expect(output()).toContain('ended with SIGKILL, starting it again');
    await pool.destroy();
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
