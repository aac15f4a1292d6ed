import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Connection } from '../../../src/contracts/admin/connection.dto.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { connectionRow, setConnectionRow } from '../../support/rows.js';
import { type ScriptedPartner, startScriptedPartner } from '../../support/scripted-partner.js';
import { makeConnectionDue } from '../../support/time.js';

const KEY = 'partner-key-5f0c1f2e7a3b';

let open: TestApp;
let haulerId: string;
beforeAll(async () => {
  open = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  haulerId = (await open.admin<{ id: string }>('POST', '/haulers', { name: 'Green Valley' })).body.id;
});
afterAll(async () => {
  await open.close();
});

const site = (more: object = {}) => ({
  haulerId,
  interface: 'site',
  baseUrl: 'https://partner.example.com',
  apiKey: KEY,
  // No partner answers in these tests, so the connection is not enabled.
  enabled: false,
  ...more,
});
const vision = (more: object = {}) => site({ interface: 'vision', ...more });
const create = async (body: object = site()): Promise<Connection> => {
  const reply = await open.admin<Connection>('POST', '/connections', body);
  expect(reply.status).toBe(201);
  return reply.body;
};

const stored = (id: string) => connectionRow(open, id);

describe('PATCH /admin/v1/connections/{id}', () => {
  test('does not move the next run for an unchanged field or an interval, but for a new key, which resets the attempts', async () => {
    const { id } = await create(site({ enabled: true, baseUrl: 'http://127.0.0.1:1' }));
    // Its first run, which may be in progress, loses its row.
    await setConnectionRow(open, id, { attempts: 2, isRunning: false });
    await makeConnectionDue(open, id, 3_600);
    const dueInMs = async (body: object) =>
      Date.parse((await open.admin<Connection>('PATCH', `/connections/${id}`, body)).body.nextRunAt ?? '') - Date.now();
    expect(await dueInMs({ enabled: true })).toBeGreaterThan(1_800_000);
    expect(await dueInMs({ intervalSeconds: 60 })).toBeGreaterThan(1_800_000);
    expect(await dueInMs({ nextApiKey: KEY })).toBeLessThan(1_800_000);
    expect((await stored(id)).attempts).toBeLessThan(2);
    await open.admin('DELETE', `/connections/${id}`);
  });

  test('never makes a Vision connection due', async () => {
    const { id } = await create(vision());
    for (const body of [{ enabled: true }, { apiKey: `${KEY}-other` }, { intervalSeconds: 60 }]) {
      expect((await open.admin<Connection>('PATCH', `/connections/${id}`, body)).body.nextRunAt).toBeNull();
    }
    expect((await stored(id)).dueAt).toBeNull();
  });
});

describe('DELETE /admin/v1/connections/{id}', () => {
  test('deletes the keys and hides the connection; the row stays for the data that came through it', async () => {
    const { id } = await create();
    await open.admin('PATCH', `/connections/${id}`, { nextApiKey: KEY });
    // The state during a run that an admin has requested.
    await setConnectionRow(open, id, { isRequested: true, isRunning: true });
    await makeConnectionDue(open, id, 3_600);
    expect(await open.admin('DELETE', `/connections/${id}`)).toMatchObject({ status: 204, text: '' });
    expect(await stored(id)).toMatchObject({
      sealedKey: '',
      sealedNextKey: null,
      dueAt: null,
      isRequested: false,
      isRunning: false,
    });
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/check'],
    ] as const) {
      const reply = await open.admin(method, `/connections/${id}${path}`, method === 'PATCH' ? {} : undefined);
      expect(reply.status).toBe(404);
    }
    const { body } = await open.admin<{ data: Connection[] }>('GET', '/connections?pageSize=100');
    expect(body.data.map((connection) => connection.id)).not.toContain(id);
  });
});

describe("a partner's key and its origin, beyond acceptance/site/keys.spec.ts", () => {
  const OTHER_KEY = 'partner-key-of-the-other-host';
  let first: ScriptedPartner;
  let other: ScriptedPartner;
  beforeAll(async () => {
    [first, other] = [await startScriptedPartner(), await startScriptedPartner()];
  });
  const connect = async () => (await create(site({ baseUrl: first.url }))).id;
  const change = (id: string, body: object) => open.admin<Connection>('PATCH', `/connections/${id}`, body);
  const check = (id: string) => open.admin('POST', `/connections/${id}/check`);
  const keysAt = ({ asked }: ScriptedPartner) => [...new Set(asked.map(({ headers }) => headers['api-key']))];

  test('two concurrent changes do not join the key of one with the address of the other', async () => {
    const changed = Array.from({ length: 20 }, async () => {
      const id = await connect();
      await Promise.all([
        change(id, { baseUrl: other.url, apiKey: OTHER_KEY }),
        change(id, { baseUrl: `${first.url}/path` }),
      ]);
      await check(id);
    });
    await Promise.all(changed);
    expect(keysAt(other)).toEqual([OTHER_KEY]);
    expect(keysAt(first)).not.toContain(OTHER_KEY);
  });
});
