import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ExchangeLog } from '../../src/exchanges/exchange-log.service.js';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { listExchanges, newestExchange, storedText } from '../support/exchange-scene.js';
import { json } from '../support/scripted-partner.js';
import { startServiceProcess } from '../support/service-process.js';
import { PARTNER_KEY, SITES_ROUTE, SiteScene } from '../support/site-scene.js';

let scene: SiteScene;
let service: TestApp;
beforeAll(async () => {
  scene = await SiteScene.start();
  service = scene.service;
  await scene.renew();
});
afterAll(() => scene.stop());

const account = (url: TestApp, key: string, body: object, headers: Record<string, string> = {}) =>
  url.call('POST', '/platform-api/v1/accounts', { headers: { 'PLATFORM-API-KEY': key, ...headers }, body });

test('no stored byte contains one of nine secrets after a busy run', async () => {
  const { key } = await issueKey(service, ['account', 'scale', 'vision']);
  const secrets = {
    platformKey: key,
    partnerKey: PARTNER_KEY,
    nextPartnerKey: 'the-next-key-that-the-partner-issued',
    bearer: 'bearer-credentials-0001',
    cookie: 'session-cookie-000002',
    member: 'nested-member-secret-03',
    link: 'partner-link-signature-04',
    password: 'pass-word-in-a-link-05',
    signature: 'signature-of-our-link-06',
  };
  await service.admin('PATCH', `/connections/${scene.connectionId}`, { nextApiKey: secrets.nextPartnerKey });
  const link = `https://me:${secrets.password}@cdn.example/a.mp4?X-Signature=${secrets.link}`;
  const echo = { apiKey: PARTNER_KEY, note: `${secrets.nextPartnerKey} ${PARTNER_KEY}`, downloadUrl: link };
  scene.partner.on(
    SITES_ROUTE,
    json({ success: true, data: {}, echo }, { headers: { Location: link, 'Set-Cookie': secrets.cookie } }),
  );
  await service.admin('POST', `/connections/${scene.connectionId}/check`);
  const deep = { a: [{ b: { token: secrets.member, nextApiKey: { c: secrets.member }, note: `my key ${key}` } }] };
  const headers = { Authorization: `Bearer ${secrets.bearer}`, Cookie: secrets.cookie };
  for (let i = 0; i < 20; i++)
    await account(service, key, { accountName: `A ${i % 4}`, password: secrets.member, deep }, headers);
  await service.call('POST', '/platform-api/v1/accounts', {
    headers: { 'PLATFORM-API-KEY': key, ...headers },
    body: `{"accountName": 7, "apiKey": "${secrets.member}", "broken": "${key}`,
  });
  await service.call('GET', `/media/v1/clips/${randomUUID()}.mp4?expires=9&signature=${secrets.signature}`, {
    headers,
  });
  await service.call('GET', `/video-platform/v1/videos?api-key=${key}&token=${secrets.member}`, {
    headers: { 'API-KEY': key },
  });
  const filter = { connectionId: scene.connectionId };
  const replays = await service.admin<{ replayed: number }>('POST', '/exchanges/replay', filter);
  expect(replays.body.replayed).toBeGreaterThan(0);
  const stored = await storedText(service);
  expect(stored.length).toBeGreaterThan(10_000);
  for (const [name, secret] of Object.entries(secrets)) expect([name, stored.includes(secret)]).toEqual([name, false]);
});

test('a database that is unavailable loses no push, and no exchange while the queue has space', async () => {
  const { key } = await issueKey(service, ['account']);
  await service.app.get(ExchangeLog).flush();
  await service.dataSource.query('ALTER TABLE exchanges RENAME TO exchanges_away');
  const { status } = await account(service, key, { accountName: 'While away' });
  expect(status).toBe(200);
  await service.app.get(ExchangeLog).flush();
  await service.dataSource.query('ALTER TABLE exchanges_away RENAME TO exchanges');
  expect(await lostIn(service, 'not-writable')).toBe(1);
  expect((await account(service, key, { accountName: 'While away' })).status).toBe(409);
  await service.dataSource.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'haulbridge exchanges'",
  );
  await account(service, key, { accountName: 'After a lost connection' });
  const found = await newestExchange(service, { reference: 'accountName:After a lost connection' });
  expect(found.result).toBe('created');
});

test('a log that cannot keep up loses its oldest exchanges and counts them, and every push is answered', async () => {
  const { key } = await issueKey(service, ['account']);
  const slow = await startTestApp({ on: service, env: { EXCHANGE_BODY_LIMIT: 1_048_576 } });
  const lock = service.dataSource.createQueryRunner();
  try {
    await lock.startTransaction();
    await lock.query('LOCK TABLE exchanges IN ACCESS EXCLUSIVE MODE');
    await account(slow, key, { accountName: 'Before the lock' });
    await eventually(async () => {
      const waiting = await service.dataSource.query<unknown[]>(
        `SELECT FROM pg_stat_activity WHERE application_name = 'haulbridge exchanges' AND wait_event_type = 'Lock'`,
      );
      expect(waiting.length).toBeGreaterThan(0);
    });
    const filler = 'x'.repeat(900_000);
    for (let i = 0; i < 40; i++) expect((await account(slow, key, { accountName: i, filler })).status).toBe(400);
    expect((await account(slow, key, { accountName: 'During the lock' })).status).toBe(200);
    expect(await lostIn(slow, 'queue-full')).toBeGreaterThan(5);
    await lock.rollbackTransaction();
    for (const accountName of ['Before the lock', 'During the lock']) {
      const found = await newestExchange(slow, { reference: `accountName:${accountName}` });
      expect(found.result).toBe('created');
    }
  } finally {
    await lock.release();
    await slow.close();
  }
});

async function lostIn(app: TestApp, reason: string): Promise<number> {
  const { text } = await app.call<string>('GET', '/metrics', {
    headers: { Authorization: `Bearer ${app.env.ADMIN_TOKEN}` },
  });
  return Number(new RegExp(`^exchanges_lost_total\\{reason="${reason}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
}

test('a process that is killed while it writes leaves whole exchanges', async () => {
  const { key } = await issueKey(service, ['account']);
  const { child, url, ended } = await startServiceProcess(service.env);
  let isRunning = true;
  const push = async () => {
    while (isRunning) {
      const accountName = randomUUID();
      const body = JSON.stringify({ accountName });
      const headers = { 'PLATFORM-API-KEY': key, 'Content-Type': 'application/json' };
      await fetch(`${url}/platform-api/v1/accounts`, { method: 'POST', headers, body }).catch(() => undefined);
    }
  };
  const pushing = [push(), push(), push(), push()];
  await eventually(async () => expect((await count()).exchanges).toBeGreaterThan(50));
  child.kill('SIGKILL');
  await ended;
  isRunning = false;
  await Promise.all(pushing);
  const { exchanges, whole } = await count();
  expect(whole).toBe(exchanges);
  expect((await listExchanges(service, { pageSize: '100' })).status).toBe(200);

  async function count() {
    const [row] = await service.dataSource.query<{ exchanges: number; whole: number }[]>(
      `SELECT count(*)::int AS exchanges, count(*) FILTER (WHERE cardinality(keys) > 0 AND names.found AND response_body IS NOT NULL)::int AS whole
         FROM exchanges e CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM json_to_recordset(e.refs::json) AS r (kind text, value text)
           WHERE r.kind = 'accountId' AND e.response_body LIKE '%' || r.value || '%') AS found) AS names
        WHERE key_prefix = $1 AND status = 200`,
      [key.slice(0, 11)],
    );
    return row ?? { exchanges: 0, whole: -1 };
  }
});
