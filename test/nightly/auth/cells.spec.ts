import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createKey, isWellFormedKey } from '../../../src/auth/api-key.js';
import { readEnv } from '../../../src/config/env.js';
import { maskSecrets } from '../../../src/observability/known-secrets.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { at, CUSTOMER, TRUCK, upload } from '../../support/reference-vision.js';

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

describe('the name of a cell', () => {
  test('stands in the key, in its prefix and in that of its successor', async () => {
    const { id, key, prefix } = await issueKey(cell, ['account']);
    expect(key).toMatch(/^hb_a7_[0-9A-Za-z]{49}$/);
    expect(prefix).toBe(key.slice(0, 'hb_a7_'.length + 8));
    expect(isWellFormedKey(key)).toBe(true);
    expect(isWellFormedKey(key.replace('hb_a7_', 'hb_a8_'))).toBe(false);
    const next = await cell.admin<{ key: string }>('POST', `/api-keys/${id}/rotate`, {});
    expect(next.body.key).toMatch(/^hb_a7_/);
  });

  test.each(['A', 'a-b', 'a_b', 'thirteenchars', 'ä', '../x'])('is refused at the start as %j', (name) => {
    expect(() => readEnv({ CELL: name })).toThrow('CELL must be 1 to 12 lower-case letters and digits');
  });

  test('keeps a key recognisable: it is masked, and its prefix is not', () => {
    for (const name of ['a', '0', 'abcdefghijkl', undefined]) {
      const { key, prefix } = createKey(name);
      expect(maskSecrets(`the key ${key} of`)).not.toContain(key.slice(prefix.length));
      expect(maskSecrets(`the key ${prefix} of`)).toBe(`the key ${prefix} of`);
    }
  });

  test('is the beginning of every path, with which a proxy may pass it on', async () => {
    const { key } = await issueKey(cell, ['account']);
    const found = await cell.call('POST', '/cells/a7/platform-api/v1/accounts', {
      headers: { 'PLATFORM-API-KEY': key },
      body: {},
    });
    expect([found.status, (await push(cell, key)).status]).toEqual([400, 400]);
    expect((await cell.call('GET', '/cells/a7/health/live')).status).toBe(200);
    expect((await cell.call('GET', '/cells/a7')).status).toBe(404);
    expect((await cell.call('GET', '/cells/b/health/live')).status).toBe(404);
    expect((await nameless.call('GET', '/cells/a7/health/live')).status).toBe(404);
  });

  test('stands in the path of a signed link, which the cell serves', async () => {
    const { body: video } = await upload(cell, 0);
    const { key } = await issueKey(cell, ['vision'], { customerId: CUSTOMER });
    const query = new URLSearchParams({ customerId: CUSTOMER, truckId: TRUCK, startTime: at(0), endTime: at(1) });
    const { body } = await cell.call<{ data: { recordings: { downloadUrl: string }[] } }>(
      'GET',
      `/video-platform/v1/videos/continuous?${query.toString()}`,
      { headers: { 'API-KEY': key } },
    );
    const link = new URL(body.data.recordings[0]?.downloadUrl ?? '');
    expect(`${link.origin}${link.pathname}`).toBe(
      `https://api.example.com/cells/a7/media/v1/recordings/${video.id}.mp4`,
    );
    const file = await fetch(cell.url + link.pathname + link.search);
    expect([file.status, file.headers.get('etag')]).toEqual([200, `"${video.sha256}"`]);
  });

  test('gives the sessions of the console a cookie of their own, because cells share an address', async () => {
    const signIn = (service: TestApp) =>
      service.call('POST', '/console/api/session', {
        headers: { 'X-Console': '1' },
        body: { token: service.env.ADMIN_TOKEN },
      });
    expect((await signIn(cell)).headers.get('set-cookie')).toMatch(/^haulbridge_session_a7=/);
    expect((await signIn(nameless)).headers.get('set-cookie')).toMatch(/^haulbridge_session=/);
  });
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

  test('of another cell is refused with its name and without a query', async () => {
    const { key } = createKey('west');
    await eventually(async () => {
      const { status, body } = await push(cell, key);
      expect([status, body.error.message]).toEqual([
        401,
        'the key belongs to cell west, and this is cell a7: check the address, or the routes of the proxy',
      ]);
    });
    const inPartnerApi = await cell.call('GET', '/partner/v1/me', { headers: { 'API-KEY': key } });
    expect([inPartnerApi.status, inPartnerApi.text]).toEqual([401, expect.stringContaining('cell west')]);
    expect((await push(nameless, key)).body.error.message).toContain('this service has no cells');
    // A mistyped key has no cell that could be named.
    const mistyped = key.slice(0, -1) + (key.endsWith('x') ? 'y' : 'x');
    expect((await push(cell, mistyped)).body.error.message).toMatch(/^send a valid API key/);
  });
});
