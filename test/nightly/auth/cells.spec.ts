import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';

let cell: TestApp;
/** The same database before it had a name. */
let nameless: TestApp;
let renamed: TestApp;
beforeAll(async () => {
  cell = await startTestApp({ env: { CELL: 'a7', PUBLIC_URL: 'https://api.example.com' } });
  nameless = await startTestApp({ on: cell, env: { CELL: undefined } });
  renamed = await startTestApp({ on: cell, env: { CELL: 'b' } });
});
afterAll(async () => {
  await renamed.close();
  await nameless.close();
  await cell.close();
});

const push = (service: TestApp, key: string) =>
  service.call<{ error: { message: string } }>('POST', '/platform-api/v1/accounts', {
    headers: { 'PLATFORM-API-KEY': key },
    body: {},
  });

describe('a key', () => {
  test('that was issued before there were cells goes on working', async () => {
    const { key } = await issueKey(nameless, ['account']);
    expect(key).toMatch(/^hb_[0-9A-Za-z]{49}$/);
    expect((await push(cell, key)).status).toBe(400);
  });

  test('that an earlier name of this cell issued, or that moved here, goes on working', async () => {
    const { key } = await issueKey(cell, ['account']);
    await eventually(async () => expect((await push(renamed, key)).status).toBe(400));
    await eventually(async () => expect((await push(nameless, key)).status).toBe(400));
  });
});
