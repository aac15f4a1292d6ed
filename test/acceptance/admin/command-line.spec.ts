import { describe, expect, test } from '@jest/globals';
import { run } from '../support/command-line.js';
import { Hauler } from '../support/hauler.js';
import { administer, target } from '../support/target.js';

/** The cases of this file run side by side. With the target and its token in the environment, as an operator sets them. */
const onTarget = (words: readonly string[], input = '') =>
  run(words, { input, env: { HAULBRIDGE_URL: target.url, HAULBRIDGE_TOKEN: target.adminToken } });

describe('a command', () => {
  test.concurrent('prints what the admin API answers, as JSON and as a table with the fields of all rows', async () => {
    const hauler = await Hauler.create();
    await hauler.issueKey({ interfaces: ['scale'], name: 'Gate' });
    const words = ['key', 'list', '--hauler-id', hauler.id];
    const [json, table] = await Promise.all([onTarget([...words, '--json']), onTarget(words)]);
    expect([json.code, json.err]).toEqual([0, '']);
    expect(JSON.parse(json.out)).toEqual(await administer('GET', `/api-keys?haulerId=${hauler.id}`));
    expect(table.out).toMatch(/^id +prefix .*\n[0-9a-f-]{36} +hb_\w{8} .*\n1 in all, page 1 of 1\n$/);
  });

  test.concurrent('changes what the admin API changes, and escapes control characters', async () => {
    const created = await onTarget(['hauler', 'create', '--name', 'Line\nend\u009b']);
    expect([created.code, created.err]).toEqual([0, '']);
    const [, id = ''] = /^id +(\S+)\nname +Line\\nend\\u009b\n/.exec(created.out) ?? [];
    expect(await administer('GET', `/haulers/${id}`)).toMatchObject({ name: 'Line\nend\u009b' });
  });

  test.concurrent.each<[string, number, string[], RegExp]>([
    ['an unknown id ends with 1', 1, ['key', 'revoke', '0197a1d0-11aa-7c33-9b44-0f1e2d3c4b5a'], /^error: .*\n$/],
    ['an invalid field ends with 2 and its path', 2, ['hauler', 'create', '--name', ' '], /name must be text/],
    ['an unknown command ends with 2', 2, ['hauler', 'paint'], /paint/],
    ['a missing option ends with 2 and names it', 2, ['hauler', 'create'], /--name/],
  ])('that is refused: %s', async (_, expected, words, sentence) => {
    const { code, out, err } = await onTarget(words);
    expect([code, out]).toEqual([expected, '']);
    expect(err).toMatch(sentence);
  });

  test.concurrent('without arguments or with --help shows the usage', async () => {
    const [usage, help] = await Promise.all([run([]), run(['--help'])]);
    expect([usage.code === 0, help.code]).toEqual([false, 0]);
    for (const name of ['hauler', 'key', 'connection', 'recording', 'doctor']) expect(help.out).toContain(name);
  });
});

describe('a secret', () => {
  const words = ['hauler', 'list', '--page-size', '1'];

  test.concurrent('is read from the environment, an option or a file, and is in no output', async () => {
    const [wrong, option] = await Promise.all([
      run([...words, '--url', target.url, '--token', 'wrong-token-0123456789']),
      run([...words, '--url', target.url, '--token', target.adminToken]),
    ]);
    expect([wrong.code, option.code]).toEqual([1, 0]);
    for (const { out, err } of [wrong, option]) expect(out + err).not.toMatch(/wrong-token|test-admin-token/);
  });

  test.concurrent('is never sent unencrypted to another machine', async () => {
    const { code, err } = await run([...words, '--url', 'http://haulbridge.invalid', '--token', target.adminToken]);
    expect([code, err]).toEqual([2, expect.stringMatching(/unencrypted to .*: use https, or pass --insecure/)]);
  });

  test.concurrent('that should come from standard input is asked for when it is absent', async () => {
    const more = ['--interface', 'site', '--base-url', 'https://partner.example', '--api-key', '-'];
    const { code, err } = await onTarget(['connection', 'add', '--hauler-id', 'x', ...more]);
    expect([code, err]).toEqual([2, expect.stringContaining('Standard input is empty')]);
  });
});

test.concurrent('a service that does not run ends with 1 and says what to do', async () => {
  const { code, err } = await run(['hauler', 'list', '--url', 'http://127.0.0.1:9', '--token', 'x'.repeat(20)]);
  expect([code, err]).toEqual([1, expect.stringMatching(/connection refused by .*: start the service or pass --url/)]);
});

test.concurrent('storage check ends with 0 where nothing is wrong (decision 69)', async () => {
  const check = await onTarget(['storage', 'check', '--json']);
  expect([check.code, check.err]).toEqual([0, '']);
});

test.concurrent('database url prints the address that DATABASE_URL or its file has (decision 70)', async () => {
  const url = 'postgresql://user:p%40ss@db.example:5432/haulbridge?sslmode=require';
  const { code, out } = await run(['database', 'url'], { env: { DATABASE_URL: url } });
  expect([code, out]).toEqual([0, `${url}\n`]);
});

test.concurrent('storage repair says what it would do, as a table and in a sentence (decision 68)', async () => {
  const { code, out } = await onTarget(['storage', 'repair', '--dry-run']);
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/examined \d+ rows and files: \d+ recordings would be fetched/),
  ]);
});

test.concurrent.each([
  [['backup', 'verify', '--from', 'haulbridge.tar'], 'backup'],
  [['hauler', 'export', 'x', '--to', 'hauler.tar'], 'cells'],
  [['doctor', '--repair', '--dry-run'], 'operator'],
  [['retention', 'preview', '--continuous-days', '30'], 'holds'],
])('a removed command ends with 1 and names the page to read: %j (decisions 70 and 71)', async (words, page) => {
  const { code, out, err } = await onTarget(words);
  expect([code, out, err]).toEqual([1, '', expect.stringContaining(`/docs/guides/${page}`)]);
});
