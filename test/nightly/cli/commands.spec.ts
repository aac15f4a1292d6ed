import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { COMMAND_GROUPS } from '../../../src/cli/commands.js';
import { render } from '../../../src/cli/output.js';
import { ADMIN_ROUTES, type AdminRouteName } from '../../../src/contracts/admin/admin.api.js';
import { IdParam } from '../../../src/contracts/admin/list.dto.js';
import { fieldsOf } from '../../../src/contracts/common/fields/documented.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type CommandOutcome, commandsBeside, runCommand as run } from '../../support/command-line.js';
import { testEnv } from '../../support/env.js';
import { fromSource } from '../../support/from-source.js';
import { heldChild } from '../../support/held.js';
import { startServiceProcess } from '../../support/service-process.js';
import { testServer } from '../../support/test-run.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

let service: TestApp;
let leave: () => void;
beforeAll(async () => {
  service = await startTestApp();
  leave = commandsBeside(service);
});
afterAll(async () => {
  leave();
  await service.close();
});

async function refusal(...words: string[]): Promise<CommandOutcome> {
  const outcome = await run(...words);
  expect(outcome.out).toBe('');
  expect(outcome.err).toMatch(/^error: /);
  expect(outcome.err).not.toContain('    at ');
  return outcome;
}

describe('the commands', () => {
  const commands = Object.entries(COMMAND_GROUPS).flatMap(([group, { commands }]) =>
    Object.entries(commands).map(([word, route]) => [`${group} ${word}`, route] as const),
  );

  test('cover every route of the admin API but the download of a recording', () => {
    // `exchange replay` is no command of one route in a group.
    const others = ['getRecordingContent', 'replayExchange', 'replayExchanges'];
    const routes = [...commands.map(([, route]) => route), ...others].sort();
    expect(routes).toEqual(Object.keys(ADMIN_ROUTES).sort());
  });

  test.each(commands)('%s --help names an option for each field of %s', async (words, name: AdminRouteName) => {
    const { code, out, err } = await run(...words.split(' '), '--help');
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(`Usage: npm run cli -- ${words} `);
    const { params, query, body } = ADMIN_ROUTES[name];
    const fields = [params, query, body].flatMap((type) => (type === undefined ? [] : [...fieldsOf(type).keys()]));
    const flags = fields.map((field) => field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
    // The id of a resource is an argument, and the end of an imported recording follows from its length.
    const left = name === 'uploadHostedRecording' ? 'end-time' : params === IdParam ? 'id' : undefined;
    const expected = flags.filter((flag) => flag !== left);
    const everywhere = ['json', 'url', 'token', 'token-file', 'insecure', 'cell'];
    const own: Partial<Record<AdminRouteName, string[]>> = {
      checkStorage: ['repair', 'dry-run', 'remove-orphans'],
      getHoldBundle: ['to'],
    };
    expect(new Set(out.match(/(?<=^ +--)[a-z-]+/gm))).toEqual(
      new Set([...expected, ...everywhere, ...(own[name] ?? [])]),
    );
  });

  test.each([[['help']], [['help', 'key']], [['key', 'help', 'issue']], [['--help', 'key']], [['hauler', '--help']]])(
    '%j shows the usage',
    async (words) => {
      const { code, out, err } = await run(...words);
      expect([code, err]).toEqual([0, '']);
      expect(out).toContain('Usage: npm run cli --');
    },
  );

  test.each([[[]], [['key']]])('%j, without a command, shows the usage as an error', async (words) => {
    expect(await run(...words)).toMatchObject({ code: 2, err: expect.stringContaining('Usage: npm run cli --') });
  });
});

describe('a wrong call has exit code 2', () => {
  test.each<[string, string[]]>([
    ['an unknown command', ['nothing']],
    ['the help of an unknown command', ['nothing', '--help']],
    ['the help of an unknown command, requested first', ['-h', 'nothing']],
    ['the help of an unknown command of a group', ['hauler', 'nothing', '--help']],
    ['the help of a command of another group', ['hauler', 'rotate', '--help']],
    ['an unknown option', ['hauler', 'list', '--nothing']],
    ['a missing option', ['hauler', 'create']],
    ['a missing argument', ['key', 'revoke']],
    ['an empty argument', ['hauler', 'show', '']],
    ['an argument too many', ['hauler', 'list', 'all']],
    ['an empty name', ['hauler', 'create', '--name', '']],
    ['no interface', ['key', 'issue', '--interfaces', '']],
    ['an unknown interface', ['key', 'issue', '--interfaces', 'scales']],
    ['an overlap that is not a number', ['key', 'rotate', UNKNOWN, '--overlap-seconds', 'long']],
    ['an empty overlap', ['key', 'rotate', UNKNOWN, '--overlap-seconds', '']],
    ['an empty ticket number', ['ticket', 'list', '--ticket-number', '']],
    ['a blank search', ['account', 'list', '--search', ' ']],
    ['an address that is not HTTP', ['hauler', 'list', '--url', 'ftp://127.0.0.1']],
  ])('%s', async (_what, words) => {
    expect((await refusal(...words)).code).toBe(2);
  });

  test.each<[string, string[]]>([
    ['--hauler-id is required for scale and account', ['key', 'issue', '--interfaces', 'scale']],
    ['--hauler-id must be a UUID', ['key', 'list', '--hauler-id', 'x']],
    ['--page must be', ['key', 'list', '--page', '0']],
    ['--page-size must be', ['account', 'list', '--page-size', '101']],
    ['--from must be an RFC 3339 date-time', ['ticket', 'list', '--from', 'yesterday']],
    ['<id> must be a UUID', ['key', 'rotate', 'x']],
    ['<id> must be a UUID', ['ticket', 'show', '..']],
    ['<id> must be a UUID', ['ticket', 'revisions', 'IN-1']],
    ['<id> must be a UUID', ['account', 'show', 'A-1/x?y']],
  ])('the error names the option or argument: %s', async (sentence, words) => {
    const { code, err } = await refusal(...words);
    expect([code, err]).toEqual([2, expect.stringContaining(`error: ${sentence}`)]);
  });
});

let dataDir: string;
beforeAll(() => {
  dataDir = mkdtempSync(join(testServer().folder, 'cli-'));
});

async function cli(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(process.execPath, [...fromSource('src/cli/main.ts'), ...words], {
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
});

describe('a field of a result that is an object', () => {
  test.each<[string, object, string]>([
    [
      'the counts of a run in words',
      { sites: { received: 2, stale: 0 }, kiosks: { received: 0 } },
      'sites: received 2; kiosks: none',
    ],
    ['other objects as JSON', { note: 'Export was empty' }, '{"note":"Export was empty"}'],
    ['members that are null as JSON', { customerId: null }, '{"customerId":null}'],
  ])('prints %s', (_, changes, expected) => {
    expect(render({ changes }, false)).toBe(`changes  ${expected}\n`);
  });
});
