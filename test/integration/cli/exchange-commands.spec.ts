import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runCommandLine } from '../../../src/cli/program.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { commandsBeside, runCommand as run } from '../../support/command-line.js';
import { eventually } from '../../support/eventually.js';
import { newestExchange } from '../../support/exchange-scene.js';

let service: TestApp;
let leave: () => void;
let key: string;
beforeAll(async () => {
  service = await startTestApp();
  leave = commandsBeside(service);
  ({ key } = await issueKey(service, ['account']));
  for (const accountName of ['First', 'first', 'Second\u001b[2J']) {
    await service.call('POST', '/platform-api/v1/accounts', {
      headers: { 'PLATFORM-API-KEY': key },
      body: { accountName },
    });
  }
});
afterAll(async () => {
  leave();
  await service.close();
});

test('exchange list prints one line for each exchange, in 100 columns', async () => {
  const { id } = await newestExchange(service, { status: '4xx' });
  const { code, out } = await run('exchange', 'list');
  const lines = out.trimEnd().split('\n');
  expect([code, lines.length]).toEqual([0, 3]);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(100);
  expect(lines[1]).toMatch(new RegExp(`in +createAccount +409 +NAME_TAKEN +${id}$`));
  const page = await run('exchange', 'list', '--page-size', '2');
  expect(page.out).toMatch(/^more: --cursor \S+$/m);
});

test('exchange show explains an exchange', async () => {
  const { id } = await newestExchange(service, { status: '4xx' });
  const { code, out } = await run('exchange', 'show', id);
  expect(code).toBe(0);
  expect(out).toMatch(/^The call POST \/platform-api\/v1\/accounts received 409\./);
  expect(out).toContain('accountName:first');
  expect(out).toContain('{"accountName":"first"}');
  expect(out).not.toContain(key);
  const json = await run('exchange', 'show', id, '--json');
  expect(JSON.parse(json.out)).toMatchObject({ id, status: 409 });
});

test('exchange tail prints the newest last', async () => {
  const newest = await newestExchange(service, {});
  const { code, out } = await run('exchange', 'tail');
  expect(code).toBe(0);
  expect(out.trimEnd().split('\n').at(-1)).toContain(newest.id);
  expect((await run('exchange', 'tail', '--status', 'nonsense')).code).toBe(2);
});

test('exchange tail --follow prints each later exchange once, when it is written', async () => {
  const watched = await startTestApp({ on: service });
  const printed: string[] = [];
  const streams = { out: (text: string) => void printed.push(text), err: () => undefined };
  const local = { url: watched.url, token: service.env.ADMIN_TOKEN };
  const following = runCommandLine(['exchange', 'tail', '--follow', '--interface', 'account'], streams, local);
  await eventually(async () => expect(printed.length).toBeGreaterThanOrEqual(3));
  const before = printed.length;
  const headers = { 'PLATFORM-API-KEY': key };
  for (const accountName of ['Third', 'Fourth']) {
    await service.call('POST', '/platform-api/v1/accounts', { headers, body: { accountName } });
  }
  const newest = await newestExchange(service, {});
  await eventually(async () => expect(printed.at(-1)).toContain(newest.id));
  expect([printed.length, new Set(printed).size]).toEqual([before + 2, before + 2]);
  await watched.close();
  expect(await following).toBe(1);
});

test('exchange replay sends one again and prints both answers, or many by filter', async () => {
  const { id } = await newestExchange(service, { status: '4xx' });
  const { code, out } = await run('exchange', 'replay', id);
  expect(code).toBe(0);
  const replayed = await newestExchange(service, { status: '4xx' });
  expect(out).toMatch(new RegExp(`^replayed as ${replayed.id}: 409\n\nearlier answer: 409`));
  expect(out).toContain('answer now: 409');
  expect(replayed.replayOf).toBe(id);
  const dry = await run('exchange', 'replay', '--status', '409', '--dry-run');
  expect(dry.out).toBe(`skipped ${replayed.id}\n  it is a replay of ${id}\n2 matched, 0 replayed, 1 skipped\n`);
  const json = await run('exchange', 'replay', '--status', '409', '--json');
  expect(JSON.parse(json.out)).toMatchObject({ matched: 2, replayed: 1 });
  const wrong = await run('exchange', 'replay', id, '--status', '409');
  expect([wrong.code, wrong.err]).toEqual([2, 'error: --status cannot be used with an id\n']);
  expect((await run('exchange', 'replay')).code).toBe(2);
});
