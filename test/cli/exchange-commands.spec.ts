import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { commandsBeside, runCommand as run } from '../support/command-line.js';
import { newestExchange } from '../support/exchange-scene.js';

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
