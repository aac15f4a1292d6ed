import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { COMMAND_GROUPS } from '../../../src/cli/commands.js';
import { ADMIN_ROUTES, type AdminRouteName } from '../../../src/contracts/admin/admin.api.js';
import { IdParam } from '../../../src/contracts/admin/list.dto.js';
import { fieldsOf } from '../../../src/contracts/common/fields/field.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type CommandOutcome, commandsBeside, runCommand as run } from '../../support/command-line.js';

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
    const everywhere = ['json', 'url', 'token', 'token-file', 'insecure'];
    const own: Partial<Record<AdminRouteName, string[]>> = {
      getHoldBundle: ['to'],
    };
    expect(new Set(out.match(/(?<=^ +--)[a-z-]+/gm))).toEqual(
      new Set([...expected, ...everywhere, ...(own[name] ?? [])]),
    );
  });
});

describe('a wrong call has exit code 2', () => {
  test.each<[string, string[]]>([
    ['an unknown command', ['nothing']],
    ['an unknown option', ['hauler', 'list', '--nothing']],
    ['a missing option', ['hauler', 'create']],
    ['an empty argument', ['hauler', 'show', '']],
    ['an argument too many', ['hauler', 'list', 'all']],
    ['an unknown interface', ['key', 'issue', '--interfaces', 'scales']],
    ['an address that is not HTTP', ['hauler', 'list', '--url', 'ftp://127.0.0.1']],
  ])('%s', async (_what, words) => {
    expect((await refusal(...words)).code).toBe(2);
  });
});
