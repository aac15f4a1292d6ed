import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { InvalidEnvironment, readEnv, VARIABLES } from '../../src/config/env.js';

const production = {
  DATABASE_URL: 'postgres://u:secret-in-url@db/haulbridge',
  ADMIN_TOKEN: 'an-admin-token-of-length',
  SECRETS_KEY: 'ab'.repeat(32),
};

function faultsOf(source: NodeJS.ProcessEnv): readonly string[] {
  try {
    readEnv(source);
  } catch (error) {
    if (error instanceof InvalidEnvironment) return error.faults;
    throw error;
  }
  return [];
}

describe('configuration', () => {
  it('has a default for everything with the embedded database, and a demo', () => {
    const env = readEnv({});
    expect(env).toMatchObject({
      PORT: 3000,
      HOST: '127.0.0.1',
      DATA_DIR: resolve('data'),
      STORAGE_URL: `file:${resolve('data', 'videos')}`,
      EMBEDDED: true,
      DEMO: true,
      OUTBOUND_ALLOW_PRIVATE: true,
      HTTP_BODY_LIMIT: 1_048_576,
      VISION_LINK_TTL: 28_800_000,
      SHUTDOWN_GRACE: 10_000,
    });
    expect([...env.SIDES]).toEqual(['platform', 'partner']);
  });

  it('has no demo with a database of its own, nor in npm run start:prod', () => {
    expect(readEnv(production)).toMatchObject({ EMBEDDED: false, DEMO: false, OUTBOUND_ALLOW_PRIVATE: false });
    expect(readEnv({ npm_lifecycle_event: 'start:prod' }).DEMO).toBe(false);
    expect(readEnv({ ...production, DEMO: 'true' })).toMatchObject({ DEMO: true, OUTBOUND_ALLOW_PRIVATE: true });
  });

  it('takes an empty variable as absent, as compose files pass it', () => {
    expect(readEnv({ PORT: '', DATABASE_URL: ' ' })).toMatchObject({ PORT: 3000, EMBEDDED: true });
  });

  it.each([
    ['500ms', 500],
    ['10s', 10_000],
    ['5m', 300_000],
    ['8h', 28_800_000],
    ['7d', 604_800_000],
    ['90', 90_000],
    ['0.5', 500],
    ['1.5h', 5_400_000],
  ])('reads the duration %s', (text, milliseconds) =>
    expect(readEnv({ VISION_LINK_TTL: text }).VISION_LINK_TTL).toBe(milliseconds),
  );

  it.each([
    ['512kb', 524_288],
    ['1mb', 1_048_576],
    ['1000', 1000],
    ['2GB', 2_147_483_648],
  ])('reads the size %s', (text, bytes) => expect(readEnv({ HTTP_BODY_LIMIT: text }).HTTP_BODY_LIMIT).toBe(bytes));

  it.each([
    ['PORT', '70000'],
    ['PORT', '3000a'],
    ['PORT', '-1'],
    ['SIDES', 'both'],
    ['SIDES', ','],
    ['DATABASE_URL', 'mysql://x'],
    ['STORAGE_URL', '/tmp'],
    ['STORAGE_URL', 's3:'],
    ['STORAGE_URL', 's3://'],
    ['STORAGE_URL', 'file:'],
    ['STORAGE_URL', 'file://x/y'],
    ['STORAGE_URL', 's3://b?endpoint=garbage'],
    ['ADMIN_TOKEN', 'short'],
    // Callers send other bytes for these, or none at all.
    ['ADMIN_TOKEN', 'sixteen-charäcters'],
    ['ADMIN_TOKEN', 'sixteen-\u0001characters'],
    ['SECRETS_KEY', 'xyz'],
    ['DEMO', 'yes'],
    ['PUBLIC_URL', 'example.com'],
    ['PUBLIC_URL', 'https://user@example.com'],
    ['PUBLIC_URL', 'https://:password@example.com'],
    ['PUBLIC_URL', 'https://example.com/?a=b'],
    ['PUBLIC_URL', 'https://example.com?'],
    ['PUBLIC_URL', 'https://example.com/#'],
    ['HTTP_BODY_LIMIT', '1 tb'],
    ['VISION_LINK_TTL', '8 hours'],
    ['VISION_LINK_TTL', '-5s'],
    ['VISION_LINK_TTL', '0'],
    ['VISION_REQUEST_DEADLINE', '366d'],
    ['PARTNER_CONNECT_TIMEOUT', '0ms'],
    // A timer of more than 2^31 ms fires at once.
    ['PARTNER_ANSWER_TIMEOUT', '30d'],
    ['SHUTDOWN_GRACE', '30d'],
    ['HTTP_BODY_LIMIT', '0'],
    ['PARTNER_BODY_LIMIT', '3gb'],
    ['SHUTDOWN_GRACE', ''.padEnd(3, 'x')],
    ['LOG_LEVEL', 'loud'],
    ['MIGRATE_ON_START', '2'],
    ['VISION_MAX_CLIP_MINUTES', '0'],
  ])('refuses %s=%s, naming the variable', (name, value) => {
    expect(faultsOf({ ...production, [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name} must `))]);
  });

  it('refuses what would fail only later together with all else, and repeats nothing of it', () => {
    const faults = faultsOf({
      ...production,
      STORAGE_URL: 's3://hidden?endpoint=hidden',
      PUBLIC_URL: 'https://hidden:hidden@example.com',
      ADMIN_TOKEN: 'hidden but for äöü',
    });
    expect(faults.map((fault) => fault.split(' ')[0]).sort()).toEqual(['ADMIN_TOKEN', 'PUBLIC_URL', 'STORAGE_URL']);
    expect(faults.join()).not.toContain('hidden');
  });

  it('takes a token with a blank inside, which a header carries', () => {
    expect(readEnv({ ADMIN_TOKEN: 'correct horse battery' }).ADMIN_TOKEN).toBe('correct horse battery');
  });

  it.each(['https://example.com', 'http://127.0.0.1:8080/', 'https://example.com/behind/a/proxy'])(
    'takes PUBLIC_URL=%s as it is',
    (address) => expect(readEnv({ PUBLIC_URL: address }).PUBLIC_URL).toBe(address),
  );

  it('refuses with all faults at once, and repeats no value', () => {
    const faults = faultsOf({
      DATABASE_URL: 'postgres://u:secret-in-url@db/x',
      PORT: 'x',
      LOG_LEVEL: 'loud',
      SECRETS_KEY: 'my-secret',
    });
    expect(faults).toHaveLength(4);
    expect(faults).toContain('ADMIN_TOKEN is required with DATABASE_URL');
    expect(new InvalidEnvironment(faults).message).not.toMatch(/my-secret|secret-in-url|loud/);
  });

  it('is told in the README: every variable, its default and its meaning', () => {
    const readme = readFileSync('README.md', 'utf8');
    const rows = readme.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
    const told = rows.filter(([, name = '']) => name.slice(1, -1) in VARIABLES).map((cells) => cells.slice(1, 4));
    const declared = Object.entries(VARIABLES).map(([name, each]) => [`\`${name}\``, each.shownDefault, each.meaning]);
    expect(told).toEqual(declared);
  });
});
