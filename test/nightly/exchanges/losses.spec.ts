import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { DatabaseStage } from '../../support/database-stage.js';
import { eventually } from '../../support/eventually.js';
import { newestExchange } from '../../support/exchange-scene.js';
import { SiteScene } from '../../support/site-scene.js';

let scene: SiteScene;
let service: TestApp;
beforeAll(async () => {
  scene = await SiteScene.start();
  service = scene.service;
  await scene.renew();
});
afterAll(() => scene.stop());

/** The connections that write the log of this database; other files of the run have theirs on the same server. */
const WRITERS = `FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'haulbridge exchanges'`;

const account = (url: TestApp, key: string, body: object, headers: Record<string, string> = {}) =>
  url.call('POST', '/platform-api/v1/accounts', { headers: { 'PLATFORM-API-KEY': key, ...headers }, body });

test('five seconds without a database lose no exchange', async () => {
  const stage = await DatabaseStage.open();
  try {
    const requestIds: string[] = [];
    const call = async (): Promise<void> => {
      const { headers } = await stage.createAccount();
      requestIds.push(headers.get('x-request-id') ?? '');
    };
    const calls: Promise<void>[] = [];
    const pushFor = async (milliseconds: number) => {
      for (const end = performance.now() + milliseconds; performance.now() < end; await delay(25)) {
        for (let i = 0; i < 5; i++) calls.push(call());
      }
    };
    await pushFor(300);
    stage.proxy.cut();
    await pushFor(5_000);
    stage.proxy.pass();
    await Promise.all(calls);
    await eventually(async () => {
      const rows = await stage.service.dataSource.query<{ request_id: string }[]>('SELECT request_id FROM exchanges');
      const stored = new Set(rows.map(({ request_id }) => request_id));
      expect(requestIds.filter((id) => !stored.has(id))).toEqual([]);
    });
    expect(requestIds.length).toBeGreaterThan(100);
    expect(await lostIn(stage.service)).toBe(0);
  } finally {
    await stage.close();
  }
}, 90_000);

test('a log that cannot keep up loses its oldest exchanges and counts them, and every push is answered', async () => {
  const { key } = await issueKey(service, ['account']);
  const slow = await startTestApp({ on: service, env: { EXCHANGE_BODY_LIMIT: 1_048_576 } });
  const lock = service.dataSource.createQueryRunner();
  try {
    await lock.startTransaction();
    await lock.query('LOCK TABLE exchanges IN ACCESS EXCLUSIVE MODE');
    await account(slow, key, { accountName: 'Before the lock' });
    await eventually(async () => {
      const waiting = await service.dataSource.query<unknown[]>(`SELECT ${WRITERS} AND wait_event_type = 'Lock'`);
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

/** All, or those of one reason. */
async function lostIn(app: TestApp, reason = '[a-z-]+'): Promise<number> {
  const { text } = await app.call<string>('GET', '/metrics', {
    headers: { Authorization: `Bearer ${app.env.ADMIN_TOKEN}` },
  });
  const counts = text.matchAll(new RegExp(`^exchanges_lost_total\\{reason="${reason}"\\} (\\d+)$`, 'gm'));
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
