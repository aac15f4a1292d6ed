import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { InvalidEnvironmentError, readEnv } from '../../../src/core/config/env.js';
import { VARIABLES } from '../../../src/core/config/variables.js';

const production = {
  DATABASE_URL: 'postgres://u:secret-in-url@db/haulbridge',
  ADMIN_TOKEN: 'an-admin-token-of-length',
  SECRETS_KEY: 'ab'.repeat(32),
};

function faultsOf(source: NodeJS.ProcessEnv): readonly string[] {
  try {
    readEnv(source);
  } catch (error) {
    if (error instanceof InvalidEnvironmentError) return error.faults;
    throw error;
  }
  return [];
}

describe('configuration', () => {
  it('has a default for every variable with the embedded database, and a demo', () => {
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

  it('has no demo with DATABASE_URL, nor with npm run start:prod', () => {
    expect(readEnv(production)).toMatchObject({ EMBEDDED: false, DEMO: false, OUTBOUND_ALLOW_PRIVATE: false });
    expect(readEnv({ npm_lifecycle_event: 'start:prod' }).DEMO).toBe(false);
    expect(readEnv({ ...production, DEMO: 'true' })).toMatchObject({ DEMO: true, OUTBOUND_ALLOW_PRIVATE: true });
  });

  it.each([
    [{ OUTBOUND_ALLOW_PRIVATE: 'false' }, { DEMO: true, OUTBOUND_ALLOW_PRIVATE: false }],
    [
      { ...production, OUTBOUND_ALLOW_PRIVATE: 'true' },
      { DEMO: false, OUTBOUND_ALLOW_PRIVATE: true },
    ],
    [
      { STORAGE_URL: 'file:/videos', DEMO: 'false' },
      { DEMO: false, STORAGE_URL: 'file:/videos' },
    ],
    [{ DATA_DIR: 'elsewhere' }, { DATA_DIR: resolve('elsewhere'), STORAGE_URL: `file:${resolve('elsewhere/videos')}` }],
  ])('%#: an explicit value takes precedence over a derived default', (source, resolved) =>
    expect(readEnv(source)).toMatchObject(resolved),
  );

  it('treats an empty variable as absent, as compose files pass it', () => {
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
    ['1ms', 1],
    ['365d', 31_536_000_000],
    // It is 1000.9999999999999 ms.
    ['1.001', 1001],
  ])('reads the duration %s', (text, milliseconds) =>
    expect(readEnv({ VISION_LINK_TTL: text }).VISION_LINK_TTL).toBe(milliseconds),
  );

  it.each([
    ['512kb', 524_288],
    ['1mb', 1_048_576],
    ['1000', 1000],
    ['1 mb', 1_048_576],
    ['1', 1],
    ['2GB', 2_147_483_648],
  ])('reads the size %s', (text, bytes) => expect(readEnv({ HTTP_BODY_LIMIT: text }).HTTP_BODY_LIMIT).toBe(bytes));

  it.each([
    ['true', true],
    ['1', true],
    ['false', false],
    ['0', false],
  ])('reads the switch %s, whatever its default', (text, value) => {
    const { DEMO, MIGRATE_ON_START } = readEnv({ ...production, DEMO: text, MIGRATE_ON_START: text });
    expect([DEMO, MIGRATE_ON_START]).toEqual([value, value]);
  });

  it.each([
    ['partner', ['partner']],
    [' partner , ,platform', ['partner', 'platform']],
  ])('reads the sides %j', (text, sides) => expect([...readEnv({ SIDES: text }).SIDES]).toEqual(sides));

  it('reads a choice, a token of sixteen characters and a key in upper case', () => {
    const token = `~${'x'.repeat(15)}`;
    expect(readEnv({ LOG_LEVEL: 'debug', ADMIN_TOKEN: token, SECRETS_KEY: 'AB'.repeat(32) })).toMatchObject({
      LOG_LEVEL: 'debug',
      ADMIN_TOKEN: token,
      SECRETS_KEY: Buffer.alloc(32, 0xab),
    });
  });

  it('is in production with NODE_ENV=production or by npm run start:prod', () => {
    for (const source of [{ ...production, NODE_ENV: 'production' }, { npm_lifecycle_event: 'start:prod' }]) {
      expect(readEnv(source).IN_PRODUCTION).toBe(true);
    }
    expect(readEnv({ NODE_ENV: 'test', npm_lifecycle_event: 'start' }).IN_PRODUCTION).toBe(false);
  });

  describe('with NODE_ENV=production (decision 53)', () => {
    const open = { NODE_ENV: 'production', EMBEDDED_DATABASE: 'true' };

    it.each([{}, { DATABASE_URL: ' ' }, { EMBEDDED_DATABASE: 'false' }, { EMBEDDED_DATABASE: '' }])(
      'refuses to start without DATABASE_URL: %j',
      (source) =>
        expect(faultsOf({ NODE_ENV: 'production', ...source })).toEqual([
          'DATABASE_URL is required with NODE_ENV=production; set EMBEDDED_DATABASE=true to use the embedded database on purpose',
        ]),
    );

    it.each<[NodeJS.ProcessEnv, object]>([
      [open, { EMBEDDED: true, DEMO: false, OUTBOUND_ALLOW_PRIVATE: false }],
      [
        { ...open, DEMO: 'true' },
        { DEMO: true, OUTBOUND_ALLOW_PRIVATE: false },
      ],
      [
        { ...open, OUTBOUND_ALLOW_PRIVATE: 'true' },
        { DEMO: false, OUTBOUND_ALLOW_PRIVATE: true },
      ],
      [
        { ...production, NODE_ENV: 'production' },
        { EMBEDDED: false, DEMO: false, OUTBOUND_ALLOW_PRIVATE: false },
      ],
      [
        { ...production, NODE_ENV: 'production', DEMO: 'true' },
        { EMBEDDED: false, DEMO: true, OUTBOUND_ALLOW_PRIVATE: false },
      ],
    ])('opens nothing that is not switched on explicitly: %#', (source, expected) =>
      expect(readEnv(source)).toMatchObject(expected),
    );
  });

  it.each([
    ['1', 1],
    ['10.0.0.1', ['10.0.0.1']],
    ['10.0.0.0/8, ::1 , fd00::/8', ['10.0.0.0/8', '::1', 'fd00::/8']],
  ])('reads the trusted proxies %s', (text, proxies) =>
    expect(readEnv({ TRUST_PROXY: text }).TRUST_PROXY).toEqual(proxies),
  );

  describe('PUBLIC_URL in production (decision 63)', () => {
    const source = { ...production, NODE_ENV: 'production' };
    const fault = 'PUBLIC_URL is required in production with the partner side, unless HOST is a loopback address';

    it.each([
      { HOST: '0.0.0.0' },
      { HOST: '::' },
      { HOST: '10.0.0.1', SIDES: 'partner' },
      { HOST: '0.0.0.0', PUBLIC_URL: ' ' },
      { HOST: '0.0.0.0', NODE_ENV: '', npm_lifecycle_event: 'start:prod' },
    ])('is required: %j', (given) => expect(faultsOf({ ...source, ...given })).toEqual([fault]));

    it.each([
      {},
      { HOST: '127.0.0.5' },
      { HOST: '::1' },
      { HOST: 'localhost' },
      { HOST: '0.0.0.0', SIDES: 'platform' },
      { HOST: '0.0.0.0', PUBLIC_URL: 'https://video.example.com' },
      { HOST: '0.0.0.0', NODE_ENV: '' },
    ])('is not required: %j', (given) => expect(faultsOf({ ...source, ...given })).toEqual([]));
  });

  it.each<[NodeJS.ProcessEnv, number]>([
    [{}, 0],
    [{ npm_lifecycle_event: 'start:prod' }, 5_000],
    [{ ...production, NODE_ENV: 'production' }, 5_000],
    [{ ...production, NODE_ENV: 'production', SHUTDOWN_DRAIN: '0' }, 0],
    [{ SHUTDOWN_DRAIN: '2s' }, 2_000],
  ])('%#: has a SHUTDOWN_DRAIN of 5 s in production, else none', (source, milliseconds) =>
    expect(readEnv(source).SHUTDOWN_DRAIN).toBe(milliseconds),
  );

  it.each(Object.entries(VARIABLES).filter(([, { fallback }]) => fallback !== undefined))(
    'has for %s the documented default',
    (_name, { parse, fallback, shownDefault }) =>
      expect(parse(shownDefault.split(' (')[0] as string)).toEqual(fallback),
  );

  it.each([
    ['PORT', '3000a'],
    ['PORT', '80.5'],
    ['PORT', '0x50'],
    ['PORT', '1e3'],
    ['SIDES', 'both'],
    ['SIDES', 'platform,both'],
    ['DATABASE_URL', 'mysql://x'],
    ['STORAGE_URL', '/tmp'],
    ['STORAGE_URL', 's3://b?endpoint=garbage'],
    // Callers send other bytes for this character, or none.
    ['ADMIN_TOKEN', 'sixteen-\u0001characters'],
    ['SECRETS_KEY', `${'ab'.repeat(32)}c`],
    ['SECRETS_KEY', `c${'ab'.repeat(32)}`],
    ['PUBLIC_URL', 'example.com'],
    ['PUBLIC_URL', 'https://:password@example.com'],
    ['PUBLIC_URL', 'https://example.com/?a=b'],
    ['PUBLIC_URL', 'https://example.com/#'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', '::1/129'],
    ['TRUST_PROXY', '10.0.0.1, proxy.example'],
    ['TRUST_PROXY', '10.0.0.1,'],
    // The package would accept each of these, the last two as one byte.
    ['HTTP_BODY_LIMIT', '+1mb'],
    ['HTTP_BODY_LIMIT', '1mbit'],
    ['HTTP_BODY_LIMIT', '1\tmb'],
    ['VISION_LINK_TTL', '-5s'],
    ['VISION_REREAD', '15m'],
    ['VISION_REREAD', '15m/0, 6h/1h'],
    ['VISION_REREAD', '0/1h'],
    ['VISION_REREAD', '6h/1h/1d'],
    ['VISION_REREAD', '367d/7d'],
    ['VISION_REREAD', '1h/1h '.repeat(11)],
    // A timer of more than 2^31 ms fires at once.
    ['PARTNER_ANSWER_TIMEOUT', '30d'],
    ['SHUTDOWN_GRACE', '30d'],
    ['MIGRATE_ON_START', '2'],
  ])('refuses %s=%s, and names the variable', (name, value) => {
    expect(faultsOf({ ...production, [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name} must `))]);
  });

  it.each([
    ['PORT', 'x', 'must be a whole number from 0 to 65535'],
    ['VISION_LINK_TTL', '8 hours', 'must be a duration such as 500ms, 10s, 5m, 8h or 7d'],
    ['VISION_LINK_TTL', '0', 'must be a duration from 1ms to 365d'],
    ['HTTP_BODY_LIMIT', '1 tb', 'must be a size such as 512kb, 1mb or 2gb'],
    ['HTTP_BODY_LIMIT', '0', 'must be a size from 1b to 2gb'],
    ['DEMO', 'yes', 'must be true or false'],
    ['LOG_LEVEL', 'loud', 'must be one of fatal, error, warn, info, debug, trace, silent'],
    ['SIDES', ',', 'must name one or more of platform, partner, separated by commas'],
    ['DATABASE_URL', 'db', 'must be an address that begins with postgres: or postgresql:'],
    [
      'DATABASE_URL',
      'postgres://user:pass#word@db/x',
      'must be an address: in a user and a password # is written %23, / is %2F and ? is %3F',
    ],
    [
      'DATABASE_URL',
      'postgres://db/x?sslmode=allow',
      'must have in sslmode one of verify-full, verify-ca, require, prefer, no-verify, disable',
    ],
    [
      'DATABASE_URL',
      'postgres://db/x?sslrootcert=/absent',
      'must have in sslrootcert the path of a readable file with certificates in PEM',
    ],
    ...['disable', 'no-verify'].map((mode) => [
      'DATABASE_URL',
      `postgres://db/x?sslmode=${mode}&sslrootcert=test/support/tls/certificate.pem`,
      'must not have sslrootcert beside sslmode=disable or no-verify, which check no certificate',
    ]),
    ['PUBLIC_URL', 'https://user@example.com', 'must be an address without a user and a password'],
    ['PUBLIC_URL', 'https://example.com?', 'must be an address without a query and a fragment'],
    ['ADMIN_TOKEN', 'x'.repeat(15), 'must have at least 16 characters'],
    ['ADMIN_TOKEN', 'sixteen-charäcters', 'must have visible ASCII characters only'],
    ['SECRETS_KEY', 'xyz', 'must be 32 bytes in hex: 64 hexadecimal digits'],
    ['ADMIN_TOKENS', 'ci', 'must have name:token:role in entry 1; a name has letters, digits, - _ and . only'],
    ['ADMIN_TOKENS', 'ci:short:viewer', 'has in entry 1 a token that must have at least 16 characters'],
    [
      'ADMIN_TOKENS',
      'ci:token-of-the-pipeline:reader',
      'has an unknown role in entry 1: it must be one of viewer, viewer+video, operator, admin',
    ],
    [
      'ADMIN_TOKENS',
      'ci:token-of-the-pipeline:viewer@north, a b:token-of-the-backups:admin',
      'must name haulers in entry 1 by their ids, separated by +; and must have name:token:role in entry 2; a name has letters, digits, - _ and . only',
    ],
    ['ADMIN_TOKENS', 'ci:token-of-the-pipeline:viewer,ci:token-of-another-job:admin', 'must not have a name twice'],
    [
      'ADMIN_TOKENS',
      'one:token-of-the-pipeline:viewer,two:token-of-the-pipeline:admin',
      'must not have a token twice, nor that of ADMIN_TOKEN or ADMIN_READ_TOKEN',
    ],
    [
      'ADMIN_TOKENS',
      `one:${production.ADMIN_TOKEN}:viewer`,
      'must not have a token twice, nor that of ADMIN_TOKEN or ADMIN_READ_TOKEN',
    ],
  ])('reports that %s=%s %s', (name, value, sentence) =>
    expect(faultsOf({ ...production, [name]: value })).toEqual([`${name} ${sentence}`]),
  );

  it.each([
    ['PORT', '-1', '0', '65535', '65536'],
    ['DATABASE_POOL', '1', '2', '200', '201'],
    ['TRUST_PROXY', '-1', '0', '99', '100'],
    ['HTTP_KEEP_ALIVE', '999ms', '1s', '1d', '86400001ms'],
    ['HTTP_BODY_LIMIT', '0b', '1b', '2gb', '2147483649'],
    ['RATE_LIMIT_PER_MINUTE', '-1', '0', '1000000', '1000001'],
    ['PARTNER_CONNECT_TIMEOUT', '0ms', '1ms', '1d', '86400001ms'],
    ['PARTNER_ANSWER_TIMEOUT', '0ms', '1ms', '1d', '86400001ms'],
    ['PARTNER_BODY_LIMIT', '0b', '1b', '2gb', '2147483649'],
    ['VISION_LINK_TTL', '0ms', '1ms', '365d', '31536000001ms'],
    ['VISION_MAX_CLIP_MINUTES', '0', '1', '1440', '1441'],
    ['VISION_REQUEST_DEADLINE', '0ms', '1ms', '365d', '31536000001ms'],
    ['VIDEO_RETENTION_DAYS', '-1', '0', '36500', '36501'],
    ['VIDEO_ROWS_DAYS', '-1', '0', '36500', '36501'],
    ['DOWNLOAD_CONCURRENCY', '0', '1', '256', '257'],
    ['DOWNLOAD_CONCURRENCY_PER_CONNECTION', '0', '1', '64', '65'],
    ['SHUTDOWN_DRAIN', '-1ms', '0ms', '1d', '86400001ms'],
    ['SHUTDOWN_GRACE', '-1ms', '0ms', '1d', '86400001ms'],
  ])('limits %s: refuses %s, accepts %s and %s, refuses %s', (name, less, lowest, highest, more) => {
    const taken = [less, lowest, highest, more].filter((value) => faultsOf({ [name]: value }).length === 0);
    expect(taken).toEqual([lowest, highest]);
  });

  it('refuses all faults together, also those that would fail later, and repeats no value', () => {
    const faults = faultsOf({
      ...production,
      STORAGE_URL: 's3://hidden?endpoint=hidden',
      PUBLIC_URL: 'https://hidden:hidden@example.com',
      ADMIN_TOKEN: 'hidden but for äöü',
    });
    expect(faults.map((fault) => fault.split(' ')[0]).sort()).toEqual(['ADMIN_TOKEN', 'PUBLIC_URL', 'STORAGE_URL']);
    expect(faults.join()).not.toContain('hidden');
  });

  it.each([
    ['postgres://user@/db?host=/socket', 'postgres://user@localhost/db?host=/socket'],
    ['postgresql:///db?host=/socket', 'postgresql:///db?host=/socket'],
  ])('accepts the address of a Unix socket with the host in the query: %s', (text, url) => {
    expect(readEnv({ ...production, DATABASE_URL: text }).DATABASE_URL).toBe(url);
  });

  it.each(['https://example.com', 'http://127.0.0.1:8080/', 'https://example.com/behind/a/proxy'])(
    'accepts PUBLIC_URL=%s unchanged',
    (address) => expect(readEnv({ PUBLIC_URL: address }).PUBLIC_URL).toBe(address),
  );

  describe('a secret in a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'haulbridge-secret-files-'));
    afterAll(() => rmSync(folder, { recursive: true }));
    const file = (name: string, content: string) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };

    it('is read, without blanks and the end of the line', () => {
      const env = readEnv({
        DATABASE_URL_FILE: file('url', ' postgres://u:p@db/x\n'),
        ADMIN_TOKEN_FILE: file('token', 'a-token-of-a-file\n'),
        SECRETS_KEY_FILE: file('key', `${'ab'.repeat(32)}\n`),
      });
      expect([env.EMBEDDED, env.ADMIN_TOKEN]).toEqual([false, 'a-token-of-a-file']);
    });

    it.each([
      [{ ADMIN_TOKEN_FILE: join(folder, 'absent') }, 'ADMIN_TOKEN_FILE names a file that cannot be read (ENOENT)'],
      [{ ADMIN_TOKEN_FILE: folder }, 'ADMIN_TOKEN_FILE names a file that cannot be read (EISDIR)'],
      [{ ADMIN_TOKEN_FILE: file('empty', '\n') }, 'ADMIN_TOKEN_FILE names a file that is empty'],
      [
        { ADMIN_TOKEN: 'the-token-of-a-test', ADMIN_TOKEN_FILE: file('other', 'another-token-of-a-test') },
        'ADMIN_TOKEN and ADMIN_TOKEN_FILE are both set; remove one of them',
      ],
      [{ SECRETS_KEY_FILE: file('short', 'abc') }, 'SECRETS_KEY must'],
    ])('is refused: %j', (source, fault) => expect(faultsOf(source)).toEqual([expect.stringContaining(fault)]));
  });

  it.each([{}, { ADMIN_TOKEN: ' ', SECRETS_KEY: '' }])('requires both secrets with DATABASE_URL: %j', (source) =>
    expect(faultsOf({ ...source, DATABASE_URL: production.DATABASE_URL })).toEqual([
      'ADMIN_TOKEN is required with DATABASE_URL',
      'SECRETS_KEY is required with DATABASE_URL',
    ]),
  );

  it('is documented in docs/guides/operator.md: every variable, its default and its meaning', () => {
    const page = readFileSync('docs/guides/operator.md', 'utf8');
    const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
    const documented = rows.filter(([, name = '']) => name.slice(1, -1) in VARIABLES).map((cells) => cells.slice(1, 4));
    const declared = Object.entries(VARIABLES).map(([name, each]) => [`\`${name}\``, each.shownDefault, each.meaning]);
    expect(documented).toEqual(declared);
  });
});
