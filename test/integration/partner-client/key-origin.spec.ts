import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Connection } from '../../../src/contracts/admin/connection.dto.js';
import type { ReplayedExchange } from '../../../src/contracts/admin/replay.dto.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { commandsBeside, runCommand } from '../../support/command-line.js';
import { newestExchange } from '../../support/exchange-scene.js';
import * as partnerDoes from '../../support/scripted-partner.js';
import { type ScriptedPartner, startScriptedPartner } from '../../support/scripted-partner.js';

const SITES = 'GET /scale-platform/v1/sites';
const KEY = 'partner-key-of-the-first-host';
const OTHER_KEY = 'partner-key-of-the-other-host';
const EMPTY = partnerDoes.json({ success: true, data: { sites: [], kiosks: [], materials: [] } });

let service: TestApp;
let endCommands: () => void;
let first: ScriptedPartner;
let other: ScriptedPartner;
let haulerId: string;
beforeAll(async () => {
  service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  endCommands = commandsBeside(service);
  [first, other] = [await startScriptedPartner(), await startScriptedPartner()];
  haulerId = (await service.admin<{ id: string }>('POST', '/haulers', { name: 'Green Valley' })).body.id;
});
afterEach(() => [first, other].forEach((partner) => partner.reset()));
afterAll(async () => {
  endCommands();
  await service.close();
  await Promise.all([first.stop(), other.stop()]);
});

async function connect(baseUrl = first.url): Promise<string> {
  const body = { haulerId, interface: 'site', baseUrl, apiKey: KEY, enabled: false };
  return (await service.admin<Connection>('POST', '/connections', body)).body.id;
}
const change = (id: string, body: object) => service.admin<Connection>('PATCH', `/connections/${id}`, body);
const check = (id: string) => service.admin('POST', `/connections/${id}/check`);
const keysAt = ({ asked }: ScriptedPartner) => [...new Set(asked.map(({ headers }) => headers['api-key']))];
const needsKey = { status: 400, body: { error: { details: { violations: [{ path: 'apiKey' }] } } } };

describe("a partner's key stays with the origin that it was saved with", () => {
  test('another host needs its key in the same call, and the stored key is never sent there', async () => {
    const id = await connect();
    for (const body of [
      { baseUrl: other.url },
      { baseUrl: other.url, nextApiKey: OTHER_KEY },
      { baseUrl: `${other.url}/path`, enabled: true },
    ]) {
      expect(await change(id, body)).toMatchObject(needsKey);
    }
    await check(id);
    expect([keysAt(first), keysAt(other)]).toEqual([[KEY], []]);
    expect((await change(id, { baseUrl: other.url, apiKey: OTHER_KEY })).status).toBe(200);
    await check(id);
    expect(keysAt(other)).toEqual([OTHER_KEY]);
    // Back again as well: the first key is no longer stored.
    expect(await change(id, { baseUrl: first.url })).toMatchObject(needsKey);
  });

  test('a move drops the next key of the former host, and keeps one of the same call', async () => {
    const id = await connect();
    await change(id, { nextApiKey: `${KEY}-next` });
    expect((await change(id, { baseUrl: other.url, apiKey: OTHER_KEY })).body.hasNextApiKey).toBe(false);
    other.on(SITES, partnerDoes.refuses(401, 'UNAUTHORIZED'));
    await check(id);
    expect(keysAt(other)).toEqual([OTHER_KEY]);
    const moved = await change(id, { baseUrl: first.url, apiKey: KEY, nextApiKey: `${KEY}-next` });
    expect(moved.body.hasNextApiKey).toBe(true);
    expect((await change(id, { baseUrl: `${first.url}/tenant` })).body.hasNextApiKey).toBe(true);
  });

  test.each([
    ['https://partner.example.com', 'https://PARTNER.example.com:443/tenant/7/'],
    ['http://partner.example.com', 'http://partner.example.com:80'],
    ['https://partner.example.com/a', 'https://partner.example.com'],
    ['https://müller.example', 'https://xn--mller-kva.example/v2'],
    ['http://127.0.0.1:1', 'http://127.1:1/path'],
    ['http://[::1]:1', 'http://[0:0:0:0:0:0:0:1]:1/path'],
  ])('%s and %s are one origin', async (saved, baseUrl) => {
    const id = await connect(saved);
    expect((await change(id, { baseUrl })).status).toBe(200);
  });

  test.each([
    ['https://partner.example.com', 'http://partner.example.com'],
    ['https://partner.example.com', 'https://partner.example.com:8443'],
    ['https://partner.example.com', 'https://partner.example.com.'],
    ['https://partner.example.com', 'https://www.partner.example.com'],
    ['https://partner.example.com', 'https://partner.example.com.evil.example'],
    ['https://partner.example.com', 'https://evil.example\\partner.example.com'],
    ['https://partner.example.com', 'https://pаrtner.example.com'], // a Cyrillic letter
    ['http://127.0.0.1:1', 'http://localhost:1'],
    ['http://127.0.0.1:1', 'http://[::ffff:127.0.0.1]:1'],
  ])('%s and %s are two', async (saved, baseUrl) => {
    const id = await connect(saved);
    expect(await change(id, { baseUrl })).toMatchObject(needsKey);
  });

  test('two concurrent changes do not join the key of one with the address of the other', async () => {
    for (let i = 0; i < 20; i++) {
      const id = await connect();
      await Promise.all([
        change(id, { baseUrl: other.url, apiKey: OTHER_KEY }),
        change(id, { baseUrl: `${first.url}/path` }),
      ]);
      await check(id);
    }
    expect(keysAt(other)).toEqual([OTHER_KEY]);
    expect(keysAt(first)).not.toContain(OTHER_KEY);
  });

  test('a replay of an earlier call goes to the present origin, with its key', async () => {
    const id = await connect();
    first.on(SITES, EMPTY);
    await check(id);
    const { id: exchangeId } = await newestExchange(service, { connectionId: id });
    await change(id, { baseUrl: other.url, apiKey: OTHER_KEY });
    other.on(SITES, EMPTY);
    const before = first.asked.length;
    const { body } = await service.admin<ReplayedExchange>('POST', `/exchanges/${exchangeId}/replay`);
    expect(body.status).toBe(200);
    expect([first.asked.length, keysAt(other)]).toEqual([before, [OTHER_KEY]]);
  });

  test('the command line names the option that is missing', async () => {
    const id = await connect();
    const refused = await runCommand('connection', 'change', id, '--base-url', other.url);
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('--api-key is required') });
  });
});
