import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnv } from '../../../src/core/config/env.js';
import { resolveSecrets } from '../../../src/core/config/secrets.js';
import { Database } from '../../../src/core/database/database.js';
import { connectionsOf, resolveEnv } from '../../../src/embedded-postgres/resolve-env.js';

const root = mkdtempSync(join(tmpdir(), 'secrets-'));
afterAll(() => rmSync(root, { recursive: true }));

let dataDir: string;
beforeEach(() => void (dataDir = mkdtempSync(join(root, 'data-'))));

const embedded = (source: NodeJS.ProcessEnv = {}) => readEnv({ DATA_DIR: dataDir, ...source });
const file = () => join(dataDir, 'secrets.json');
const GIVEN = { ADMIN_TOKEN: 'given-by-the-operator', SECRETS_KEY: 'ab'.repeat(32) };

describe('the secrets of an embedded database', () => {
  test('are created once, readable by this user only, and read again', () => {
    const first = resolveSecrets(embedded());
    expect(first.ADMIN_TOKEN.length).toBeGreaterThanOrEqual(32);
    expect(first.SECRETS_KEY).toHaveLength(32);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(readdirSync(dataDir)).toEqual(['secrets.json']);
    expect(resolveSecrets(embedded())).toEqual(first);
  });

  test('differ from one data folder to the next', () => {
    const first = resolveSecrets(embedded());
    dataDir = mkdtempSync(join(root, 'data-'));
    const second = resolveSecrets(embedded());
    expect(second.ADMIN_TOKEN).not.toBe(first.ADMIN_TOKEN);
    expect(second.SECRETS_KEY).not.toEqual(first.SECRETS_KEY);
  });

  test('are replaced by those of the environment, each on its own, and are kept', () => {
    const made = resolveSecrets(embedded());
    expect(resolveSecrets(embedded({ ADMIN_TOKEN: GIVEN.ADMIN_TOKEN }))).toEqual({
      ADMIN_TOKEN: GIVEN.ADMIN_TOKEN,
      SECRETS_KEY: made.SECRETS_KEY,
    });
    expect(resolveSecrets(embedded(GIVEN))).toEqual({
      ADMIN_TOKEN: GIVEN.ADMIN_TOKEN,
      SECRETS_KEY: Buffer.from(GIVEN.SECRETS_KEY, 'hex'),
    });
    expect(resolveSecrets(embedded())).toEqual(made);
  });

  test('are not created if the environment has both', () => {
    resolveSecrets(embedded(GIVEN));
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test('are made private again after someone changed their mode', () => {
    resolveSecrets(embedded());
    chmodSync(file(), 0o644);
    resolveSecrets(embedded());
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  test.each(['', '{', '{}', '{"adminToken":"short","secretsKey":"00"}', 'null'])(
    'do not replace a damaged file: %j',
    (text) => {
      writeFileSync(file(), text);
      expect(() => resolveSecrets(embedded())).toThrow(/secrets\.json is damaged: restore it, or set/);
      expect(readFileSync(file(), 'utf8')).toBe(text);
    },
  );
});

describe('resolveEnv', () => {
  test('starts no embedded database with DATABASE_URL', async () => {
    const source = { ...GIVEN, DATA_DIR: join(dataDir, 'untouched'), DATABASE_URL: 'postgresql://u:p@localhost/db' };
    const { env, stop } = await resolveEnv(readEnv(source), silent);
    expect(env).toMatchObject({ DATABASE_URL: source.DATABASE_URL, ADMIN_TOKEN: GIVEN.ADMIN_TOKEN });
    expect(readdirSync(dataDir)).toEqual([]);
    await stop();
  });

  test.each([
    [2, 100],
    [75, 100],
    [76, 101],
    [200, 225],
  ])('with DATABASE_POOL=%i, the embedded database allows %i connections', (DATABASE_POOL, connections) => {
    expect(connectionsOf({ DATABASE_POOL })).toBe(connections);
  });

  test('the embedded database allows all connections of the pools, and 13 more', async () => {
    const database = new Database({ DATABASE_URL: 'postgresql://u:p@localhost/db', DATABASE_POOL: 200 });
    const pools = [database.hot, database.general, database.bulk, database.exchanges];
    const opened = pools.reduce((sum, { options }) => sum + options.connections, 0);
    expect(connectionsOf({ DATABASE_POOL: 200 })).toBe(opened + 13);
    await database.onApplicationShutdown();
  });
});

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined };
