import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runCommandLine } from '../../../src/cli/program.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { commandsBeside } from '../../support/command-line.js';
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
