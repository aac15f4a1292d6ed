import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Attention, AttentionItem } from '../../../src/contracts/admin/attention.routes.js';
import { PartitionPlanner } from '../../../src/core/database/partition-planner.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { whileLocked } from '../../support/rows.js';
import { refuses } from '../../support/scripted-partner.js';
import { SITES_ROUTE, SiteScene } from '../../support/site-scene.js';
import { connectVision } from '../../support/vision-partner.js';

const attentionOf = async (service: TestApp): Promise<Attention> => {
  const { status, body } = await service.admin<Attention>('GET', '/attention');
  expect(status).toBe(200);
  return body;
};

const ofKind = async (service: TestApp, kind: string): Promise<AttentionItem[]> =>
  (await attentionOf(service)).data.filter((item) => item.kind === kind);

const unmade = ({ checked }: Attention): string[] => checked.filter(({ ok }) => !ok).map(({ kind }) => kind);

let scene: SiteScene;
let service: TestApp;
beforeAll(async () => {
  scene = await SiteScene.start();
  ({ service } = scene);
});
afterAll(() => scene.stop());

const deleteConnections = () => service.dataSource.query('UPDATE connections SET deleted_at = now(), enabled = false');

describe('synchronisations and calls', () => {
  beforeEach(async () => {
    await deleteConnections();
    await scene.renew();
  });

  const site = (n: number, fields: object = {}) => ({
    id: randomUUID(),
    name: `Site ${n}`,
    updatedAt: '2026-11-20T14:00:00Z',
    ...fields,
  });
  const none = { kiosks: [], materials: [] };

  test('a table without partitions ahead is named until it has them again', async () => {
    const now = new Date();
    for (const step of [1, 2]) {
      const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + step, 1)).toISOString().slice(0, 7);
      expect(await ofKind(service, 'missing-partitions')).toMatchObject([]);
      await service.dataSource.query(`DROP TABLE recordings_${month.replace('-', '')}`);
    }
    expect(await ofKind(service, 'missing-partitions')).toMatchObject([
      {
        ...{ kind: 'missing-partitions', severity: 'soon', count: 1, subject: 'recordings' },
        since: expect.any(String),
        sentence: expect.stringContaining('recordings has no partition for the next month'),
        page: '/console/recordings',
      },
    ]);
    await service.app.get(PartitionPlanner, { strict: false }).plan();
    expect(await ofKind(service, 'missing-partitions')).toMatchObject([]);
  });

  test('quarantined records are counted, until a run stores them', async () => {
    await scene.sync({ sites: [site(1), site(2, { name: 7 })], ...none });
    expect(await ofKind(service, 'quarantined-records')).toMatchObject([
      { count: 1, sentence: '1 of 2 records could not be stored as sent.' },
    ]);
    await scene.sync({ sites: [site(3)], ...none });
    expect(await ofKind(service, 'quarantined-records')).toEqual([]);
  });

  test('while the exchange log is locked, held runs are listed, the checks that could not be made are named, and it is not known whether a failed run was meant to fail', async () => {
    await scene.sync({ sites: Array.from({ length: 10 }, (_, n) => site(n)), ...none });
    await scene.sync({ sites: [site(11)], ...none });
    const { haulerId } = scene;
    await scene.renew();
    scene.partner.on(SITES_ROUTE, refuses(500, 'INTERNAL_ERROR', 'no sites today'));
    await service.admin('PATCH', `/connections/${scene.connectionId}`, { enabled: true });
    await scene.sync();
    await whileLocked(service, 'exchange log', async () => {
      const attention = await attentionOf(service);
      expect(attention.data.filter(({ kind }) => kind === 'held-runs')).toMatchObject([{ hauler: { id: haulerId } }]);
      expect(unmade(attention).sort()).toEqual(['failing-calls', 'failing-runs', 'refused-keys', 'refused-pushes']);
    });
    expect(unmade(await attentionOf(service))).toEqual([]);
    expect(await ofKind(service, 'failing-runs')).toHaveLength(1);
  });
});

describe('footage', () => {
  let connection: { id: string; haulerId: string };
  beforeAll(async () => {
    await deleteConnections();
    connection = await connectVision(service, 'http://127.0.0.1:9');
  });

  /** Rows as the jobs write them, in a state that would take them days to reach. */
  const addRecordings = (count: number, truckId: string, columns: Readonly<Record<string, string>>) =>
    service.dataSource.query(
      `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
         start_time, end_time, duration_seconds, fetch_by, created_at, updated_at, ${Object.keys(columns).join(', ')})
       SELECT $1, uuidv7(), $2, 'continuous', n::text, 'c', $3, 'front', now() - n * interval '1 minute',
         now() - (n - 1) * interval '1 minute', 60, now(), now(), now() - n * interval '1 second',
         ${Object.values(columns).join(', ')}
       FROM generate_series(1, $4::int) AS n`,
      [connection.haulerId, connection.id, truckId, count],
    );

  test('all failed and expired recordings are counted by truck with their reasons, those that retention deleted are not', async () => {
    await addRecordings(120, 'T-1', {
      status: "'failed'",
      reason_code: "CASE WHEN n > 40 THEN 'linkRefused' ELSE 'invalidFile' END",
    });
    await addRecordings(250, 'T-2', { status: "'expired'", reason_code: "'notListed'" });
    await addRecordings(7, 'T-3', { status: "'expired'", deleted_at: 'now()' });
    const { data } = await attentionOf(service);
    expect(data.map(({ kind, subject, count }) => [kind, subject, count]).sort()).toEqual([
      ['expired-downloads', 'T-2', 250],
      ['failed-downloads', 'T-1', 120],
    ]);
    const [failed] = data.filter(({ kind }) => kind === 'failed-downloads');
    expect(failed?.sentence).toBe('120 recordings of T-1 failed: 80 link refused, 40 no whole MP4.');
    const { method = '', path = '', body } = failed?.action ?? {};
    const retried = await service.admin<{ matched: number }>(method, path, body);
    expect(retried.body).toEqual({ matched: 120 });
    expect(await ofKind(service, 'failed-downloads')).toEqual([]);
  });

  test('a waiting download is at risk when it failed so far, or when its link expires soon, the nearest first', async () => {
    const waits = { status: "'available'", link: "'x'", due_at: "now() + interval '1 hour'" };
    await addRecordings(2, 'R-1', { ...waits, expires_at: "now() + interval '40 minutes'" });
    await addRecordings(3, 'R-2', { ...waits, expires_at: "now() + n * interval '5 minutes'" });
    await addRecordings(4, 'R-3', { ...waits, last_error: "'refused'", expires_at: "now() + interval '1 day'" });
    await addRecordings(5, 'R-4', { ...waits, expires_at: "now() + interval '1 day'" });
    const items = (await ofKind(service, 'downloads-at-risk')).filter(({ subject }) => subject.startsWith('R-'));
    expect(items.map(({ subject, severity, count }) => [subject, severity, count])).toEqual([
      ['R-2', 'now', 3],
      ['R-1', 'soon', 2],
      ['R-3', 'soon', 4],
    ]);
    expect(items[2]).not.toHaveProperty('deadline');
    expect(items[2]?.sentence).toBe('4 downloads of R-3 may be lost: 4 failed so far and are tried again.');
  });

  test('windows that could not be read are counted by truck, and those that were given up come first', async () => {
    const create = async (truckId: string) => {
      const { body } = await service.admin<{ id: string }>('POST', '/video-subscriptions', {
        connectionId: connection.id,
        truckId,
        startTime: new Date().toISOString(),
      });
      return body.id;
    };
    const defer = (subscriptionId: string, hours: number, due: string) =>
      service.dataSource.query(
        `INSERT INTO video_windows (hauler_id, id, subscription_id, connection_id, start_time, end_time, reason, due_at)
         VALUES ($1, uuidv7(), $2, $3, '2026-11-01T00:00:00Z', '2026-11-01T00:00:00Z'::timestamptz + $4 * interval '1 hour', '504', ${due})`,
        [connection.haulerId, subscriptionId, connection.id, hours],
      );
    const [tried, givenUp] = [await create('W-1'), await create('W-2')];
    await defer(tried, 6, "now() + interval '1 day'");
    await defer(givenUp, 24, 'NULL');
    const items = await ofKind(service, 'unread-windows');
    expect(items.map(({ subject, severity }) => [subject, severity])).toEqual([
      ['W-2', 'now'],
      ['W-1', 'soon'],
    ]);
    expect(items[0]?.sentence).toBe(
      'The lists of W-2 could not be read for 1 window, 24 hours between 2026-11-01 and 2026-11-02. 1 of them is not tried again.',
    );
    await service.admin('DELETE', `/video-subscriptions/${givenUp}`);
    expect((await ofKind(service, 'unread-windows')).map(({ subject }) => subject)).toEqual(['W-1']);
  });

  test('a deleted connection leaves nothing that somebody could do something about', async () => {
    const id = connection.id;
    expect((await attentionOf(service)).data.some((item) => item.connection?.id === id)).toBe(true);
    await service.dataSource.query('UPDATE connections SET deleted_at = now() WHERE id = $1', [id]);
    const { data } = await attentionOf(service);
    await service.dataSource.query('UPDATE connections SET deleted_at = NULL WHERE id = $1', [id]);
    expect(data.filter((item) => item.connection?.id === id)).toEqual([]);
  });

  test('a check that could not be made is unknown, and the others are made', async () => {
    await service.dataSource.query('ALTER TABLE video_windows RENAME TO moved');
    try {
      const attention = await attentionOf(service);
      expect(unmade(attention)).toEqual(['late-work', 'unread-windows']);
      expect(attention.checked.find(({ ok }) => !ok)?.reason).toBe(
        'The check failed: the log of the service has the reason.',
      );
      expect(attention.data.some(({ kind }) => kind === 'downloads-at-risk')).toBe(true);
    } finally {
      await service.dataSource.query('ALTER TABLE moved RENAME TO video_windows');
    }
  });
});

test('a key that ends soon is listed behind 150 others, until its successor is used', async () => {
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  const soon = await issueKey(service, ['scale'], { expiresAt: inDays(5), name: 'Front gate' });
  const { haulerId } = soon;
  const replaced = await issueKey(service, ['scale'], { haulerId, expiresAt: inDays(6) });
  const { body: next } = await service.admin<{ key: string }>('POST', `/api-keys/${replaced.id}/rotate`, {
    expiresAt: inDays(400),
  });
  await Promise.all(Array.from({ length: 150 }, () => issueKey(service, ['scale'], { haulerId })));
  expect(await ofKind(service, 'expiring-keys')).toMatchObject([
    {
      severity: 'soon',
      subject: `${soon.prefix}… (Front gate)`,
      deadline: soon.expiresAt,
      page: `/console/keys?haulerId=${haulerId}`,
      sentence: expect.stringContaining('Issue its successor.'),
    },
    { sentence: expect.stringContaining('Its successor was issued, and is not used yet.') },
  ]);
  await service.call('POST', '/platform-api/v1/tickets', { headers: { 'PLATFORM-API-KEY': next.key }, body: {} });
  expect(await ofKind(service, 'expiring-keys')).toMatchObject([{ subject: `${soon.prefix}… (Front gate)` }]);
  await service.dataSource.query(
    "UPDATE api_keys SET expires_at = now() - interval '1 hour', last_used_at = now() - interval '2 hours' WHERE id = $1",
    [soon.id],
  );
  expect(await ofKind(service, 'expiring-keys')).toMatchObject([
    { severity: 'now', sentence: expect.stringContaining('was in use, and expired') },
  ]);
});

test('the partner side alone checks what it has, such as a storage that takes no files; without the exchange log, what that would show is unknown', async () => {
  const STORAGE_URL = 's3://videos?endpoint=http://127.0.0.1:9&region=us-east-1';
  const partner = await startTestApp({ env: { SIDES: new Set(['partner']), EXCHANGE_LOG: 'off', STORAGE_URL } });
  try {
    const attention = await attentionOf(partner);
    expect(attention.data).toMatchObject([{ kind: 'storage-trouble', severity: 'now', count: 1 }]);
    expect(attention.checked.map(({ kind }) => kind).sort()).toEqual([
      'clock',
      'database-trouble',
      'expiring-keys',
      'kept-versions',
      'late-work',
      'lost-exchanges',
      'missing-partitions',
      'replication',
      'storage-trouble',
    ]);
    expect(unmade(attention)).toEqual(['lost-exchanges']);
    expect(attention.checked.find(({ ok }) => !ok)?.reason).toContain('EXCHANGE_LOG');
  } finally {
    await partner.close();
  }
});
