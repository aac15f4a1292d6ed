import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { HoldDetails } from '../../../src/contracts/admin/hold.dto.js';
import type { CoverageInterval } from '../../../src/contracts/admin/coverage.dto.js';
import type { Erasure } from '../../../src/contracts/admin/erasure.dto.js';
import { RecordingsRepository } from '../../../src/vision/recordings/recordings.repository.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { issueKey } from '../../support/api-keys.js';
import { eventually } from '../../support/eventually.js';
import { type Footage, insertFootage, videoConnection } from '../../support/held-footage.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const RANGE = { from: '2026-01-31T08:00:00Z', to: '2026-01-31T09:00:00Z' };

type Refusal = { error: { message: string; details?: { holdIds?: string[] } } };
const prepare = (body: object) => app.admin<Erasure & Refusal>('POST', '/erasures', body);
const confirm = (id: string, confirmationCode: string | undefined) =>
  app.admin<Erasure & Refusal>('POST', `/erasures/${id}/confirm`, { confirmationCode });
const receipt = async (id: string) => (await app.admin<Erasure>('GET', `/erasures/${id}`)).body;

async function erase(body: object): Promise<Erasure> {
  const { body: prepared } = await prepare(body);
  expect(await confirm(prepared.id, prepared.confirmationCode)).toMatchObject({ status: 202 });
  await eventually(async () => expect((await receipt(prepared.id)).status).not.toBe('running'));
  return receipt(prepared.id);
}

const minute = (at: string, fields: Omit<Footage, 'start' | 'end'>): Footage => ({
  ...fields,
  ...{ start: `2026-01-31T${at}:00Z`, end: new Date(Date.parse(`2026-01-31T${at}:00Z`) + 60_000).toISOString() },
});

async function files(): Promise<string[]> {
  const folder = fileURLToPath(`${app.env.STORAGE_URL}/recordings`);
  return (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.mp4'));
}

describe('an erasure of footage', () => {
  test('deletes files, rows and links of the range alone, and the range is not fetched again', async () => {
    const scene = await videoConnection(app);
    const [inside = '', outside = ''] = await insertFootage(app, [minute('08:30', scene), minute('09:30', scene)]);
    const { haulerId, connectionId } = scene;
    const link = `/video/${inside}.mp4`;
    await app.dataSource.query(
      `INSERT INTO exchanges (id, direction, interface, method, path, hauler_id, status, duration_ms, request_bytes, response_bytes,
         request_headers, response_body, response_form, request_form, in_revision, refs)
       SELECT id, 'outbound', 'vision', 'GET', $1, $2, 200, 1, 0, 10, '{}', '{"secret":"picture"}', 0, 0, false,
         ARRAY['recordingId:' || $3::text, 'truckId:TRUCK-7']
       FROM (SELECT id FROM actions ORDER BY at DESC LIMIT 1) AS newest`,
      [link, haulerId, inside],
    );
    const { body } = await prepare({ connectionId, truckId: 'TRUCK-7', ...RANGE });
    expect(body).toMatchObject({
      status: 'previewed',
      kind: 'footage',
      preview: { recordings: 1, bytes: 1000, exchanges: 1 },
    });
    expect((await confirm(body.id, 'WRONG1')).status).toBe(409);
    expect((await app.admin('GET', `/recordings/${inside}`)).status).toBe(200);

    expect((await confirm(body.id, body.confirmationCode)).status).toBe(202);
    await eventually(async () => expect(await receipt(body.id)).toMatchObject({ status: 'done' }));
    const done = await receipt(body.id);
    expect(done).toMatchObject({ erased: { recordings: 1, bytes: 1000, exchanges: 1 }, confirmedBy: 'admin' });
    expect(done.notReached.join()).toContain('Backups');
    expect((await confirm(body.id, body.confirmationCode)).status).toBe(409);
    expect((await app.admin('GET', `/recordings/${inside}`)).status).toBe(404);
    expect((await app.admin('GET', `/recordings/${outside}`)).body).toMatchObject({ status: 'stored' });
    const left = await files();
    expect([left.some((name) => name.includes(inside)), left.some((name) => name.includes(outside))]).toEqual([
      false,
      true,
    ]);
    const [exchange] = await app.dataSource.query<{ path: string; response_body: string; refs: string[] }[]>(
      "SELECT path, response_body, refs FROM exchanges WHERE hauler_id = $1 AND interface = 'vision'",
      [haulerId],
    );
    expect(exchange).toEqual({ path: '/[erased]', response_body: '[erased]', refs: ['truckId:TRUCK-7'] });

    const listed = ['08:30', '08:59', '10:00'].map((at) => {
      const [start, end] = [`2026-01-31T${at}:00.000000Z`, `2026-01-31T${at}:59.000000Z`];
      return {
        ...{ id: `again-${at}`, customerId: 'customer', truckId: 'TRUCK-7', cameraId: 'front', durationSeconds: 60 },
        ...{ startTime: start, endTime: end, downloadUrl: 'https://partner.example/again.mp4' },
      };
    });
    const connection = { haulerId, id: connectionId } as never;
    await app.dataSource.transaction((manager) =>
      app.app.get(RecordingsRepository, { strict: false }).addChunks(manager, connection, listed),
    );
    const { body: found } = await app.admin<{ data: { partnerRecordingId: string }[] }>(
      'GET',
      `/recordings?connectionId=${connectionId}&status=available`,
    );
    expect(found.data.map(({ partnerRecordingId }) => partnerRecordingId)).toEqual(['again-10:00']);
    const { body: held } = await app.admin<HoldDetails>('POST', '/holds', {
      ...{
        caseId: 'CASE',
        reason: 'dispute',
        connectionId,
        truckId: 'TRUCK-7',
        from: RANGE.from,
        to: '2026-01-31T09:45:00Z',
      },
    });
    expect(held.missing).toEqual([
      { cameraId: 'front', from: RANGE.from, to: RANGE.to, cause: 'erased' },
      expect.objectContaining({ from: RANGE.to, cause: 'notListed' }),
      expect.objectContaining({ cause: 'notListed' }),
    ]);
    const query = `connectionId=${connectionId}&truckId=TRUCK-7&cameraId=front&from=${RANGE.from}&to=${RANGE.to}`;
    const { body: coverage } = await app.admin<{ data: CoverageInterval[] }>('GET', `/coverage?${query}`);
    expect(coverage.data).toEqual([
      expect.objectContaining({ state: 'expired', cause: 'erased', startTime: RANGE.from, endTime: RANGE.to }),
    ]);
    const { body: buckets } = await app.admin<{ data: object[] }>('GET', `/coverage?${query}&resolution=3600`);
    expect(buckets.data).toMatchObject([{ expired: 3600, missing: 0 }]);
    const clip = { connectionId, truckId: 'TRUCK-7', cameraId: 'front', startTime: RANGE.from, endTime: RANGE.to };
    expect((await app.admin('POST', '/video-requests', clip)).status).toBe(409);
  });

  test('reaches webhook deliveries and the kept parts of lists, and counts them', async () => {
    const scene = await videoConnection(app);
    const [inside = '', outside = ''] = await insertFootage(app, [minute('08:30', scene), minute('09:30', scene)]);
    const { haulerId, connectionId } = scene;
    const named = (recordingId: string) => ({ haulerId, connectionId, recordingId, truckId: 'TRUCK-7' });
    const endpoint = randomUUID();
    await insertDeliveries(haulerId, endpoint, [
      [named(inside), null],
      [{ haulerId, ticketId: randomUUID() }, `no such recording: ${inside.toUpperCase()}`],
      [named(outside), 'thanks'],
      [{ haulerId, ticketId: inside.replace(/.$/, 'x') }, null],
    ]);
    const part = (truckId: unknown, times: object) => JSON.stringify({ id: 'chunk', truckId, ...times });
    const times = (start: string, end: string) => ({ startTime: start, endTime: end });
    const parts = {
      within: part('TRUCK-7', times('2026-01-31T08:10:00Z', '2026-01-31T08:11:00Z')),
      // Of another form, and the end before the start: each is why it is a finding.
      turned: part('TRUCK-7', times('2026-01-31 10:59:30+02:00', '2026-01-31T08:58:00Z')),
      timeless: part('TRUCK-7', { startTime: 'yesterday' }),
      cut: part('TRUCK-7', times('2026-01-31T08:10:00Z', '2026-01-31T08:11:00Z')).slice(0, 60),
      later: part('TRUCK-7', times('2026-01-31T09:00:00Z', '2026-01-31T09:01:00Z')),
      other: part('TRUCK-77', times('2026-01-31T08:10:00Z', '2026-01-31T08:11:00Z')),
    };
    await app.dataSource.query(
      `INSERT INTO vision_findings (hauler_id, connection_id, digest, path, reason, raw, first_seen_at, last_seen_at)
       SELECT $1, $2, key, 'data.recordings[]', 'wrong', value, now(), now() FROM json_each_text($3::json)`,
      [haulerId, connectionId, JSON.stringify(parts)],
    );
    const { body } = await prepare({ connectionId, truckId: 'TRUCK-7', ...RANGE });
    expect(body.preview).toMatchObject({ deliveries: 2, findings: 4 });
    const done = await erase({ connectionId, truckId: 'TRUCK-7', ...RANGE });
    expect(done.erased).toMatchObject({ recordings: 1, deliveries: 2, findings: 4 });
    const { body: found } = await app.admin<{ data: { raw: string }[] }>(
      'GET',
      `/vision-findings?connectionId=${connectionId}`,
    );
    expect(found.data.map(({ raw }) => raw).sort()).toEqual(
      [...Array<string>(4).fill('[erased]'), parts.later, parts.other].sort(),
    );
    expect(await deliveriesOf(endpoint)).toHaveLength(2);
    expect((await deliveriesOf(endpoint)).join()).not.toContain(inside);
  });

  test('is refused where a hold keeps any of it, also one that was created after the preview', async () => {
    const scene = await videoConnection(app);
    const [id = ''] = await insertFootage(app, [minute('08:59', scene)]);
    const { connectionId } = scene;
    const { body } = await prepare({ connectionId, truckId: 'TRUCK-7', ...RANGE });
    const { body: held } = await app.admin<{ id: string }>('POST', '/holds', {
      ...{ caseId: 'CLAIM-1', reason: 'collision', connectionId, truckId: 'TRUCK-7' },
      ...{ from: '2026-01-31T08:59:30Z', to: '2026-01-31T10:00:00Z' },
    });
    for (const refused of [
      await confirm(body.id, body.confirmationCode),
      await prepare({ connectionId, truckId: 'TRUCK-7', ...RANGE }),
      // A recording is erased as a whole: the held part of this one too.
      await prepare({ connectionId, truckId: 'TRUCK-7', from: RANGE.from, to: '2026-01-31T08:59:10Z' }),
    ])
      expect([refused.status, refused.body.error.details]).toEqual([409, { holdIds: [held.id] }]);
    expect((await app.admin('GET', `/recordings/${id}`)).status).toBe(200);
    await app.admin('POST', `/holds/${held.id}/release`, { reason: 'settled' });
    expect((await confirm(body.id, body.confirmationCode)).status).toBe(202);
  });

  test('may name the hauler of the connection, and no other one', async () => {
    const { connectionId, haulerId } = await videoConnection(app);
    const range = { connectionId, truckId: 'TRUCK-7', ...RANGE };
    expect(await prepare({ ...range, haulerId })).toMatchObject({ status: 201, body: { haulerId, kind: 'footage' } });
    const { status, body } = await prepare({ ...range, haulerId: randomUUID() });
    expect([status, body.error.message]).toEqual([400, 'haulerId must be the hauler of the connection']);
  });

  test('stops where a hold is created while it runs, and says what it has erased', async () => {
    const scene = await videoConnection(app);
    await insertFootage(app, [minute('08:10', scene), minute('08:20', scene)]);
    const { connectionId, haulerId } = scene;
    const { body } = await prepare({ connectionId, truckId: 'TRUCK-7', ...RANGE });
    await app.dataSource.query(
      `INSERT INTO holds (hauler_id, id, connection_id, truck_id, start_time, end_time, case_id, reason, created_by)
       VALUES ($1, $2, $3, 'TRUCK-7', $4, $5, 'CLAIM-9', 'late', 'admin')`,
      [haulerId, randomUUID(), connectionId, RANGE.from, RANGE.to],
    );
    await app.dataSource.query("UPDATE erasures SET status = 'running', due_at = now() WHERE id = $1", [body.id]);
    await eventually(async () =>
      expect(await receipt(body.id)).toMatchObject({
        status: 'stopped',
        erased: { recordings: 0 },
        reason: expect.stringContaining('CLAIM-9'),
      }),
    );
  });

  test.each([
    ['nothing', {}, ['connectionId', 'truckId', 'from', 'to']],
    ['half of each form', { haulerId: randomUUID(), truckId: 'T' }, ['connectionId', 'from', 'to']],
    ['an account and a truck', { accountId: randomUUID(), truckId: 'T' }, ['haulerId', 'truckId']],
    ['an unknown account', { haulerId: randomUUID(), accountId: randomUUID() }, ['accountId']],
    ['an unknown connection', { connectionId: randomUUID(), truckId: 'T', ...RANGE }, ['connectionId']],
    ['an empty range', { connectionId: randomUUID(), truckId: 'T', from: RANGE.from, to: RANGE.from }, ['to']],
  ])('is refused for %s', async (_, body, paths) => {
    const { status, body: answer } = await prepare(body);
    const { violations } = answer.error.details as unknown as { violations: { path: string }[] };
    expect([status, violations.map(({ path }) => path)]).toEqual([400, paths]);
  });
});

const insertDeliveries = (haulerId: string, endpoint: string, rows: readonly (readonly [object, string | null])[]) =>
  app.dataSource.query(
    `INSERT INTO webhook_deliveries (id, endpoint_id, hauler_id, topic, data, status, due_at, response_status, response_body)
     SELECT gen_random_uuid(), $1, $2, 'ticket.created', data, 'delivered', NULL, 200, body
     FROM unnest($3::text[], $4::text[]) AS row (data, body)`,
    [endpoint, haulerId, rows.map(([data]) => JSON.stringify(data)), rows.map(([, body]) => body)],
  );

const deliveriesOf = async (endpoint: string): Promise<string[]> =>
  (
    await app.dataSource.query<{ text: string }[]>(
      'SELECT d::text AS text FROM webhook_deliveries AS d WHERE endpoint_id = $1',
      [endpoint],
    )
  ).map(({ text }) => text);

describe('an erasure of an account', () => {
  test('removes it, its answers and what names it in exchanges, tickets and actions; its name may come again', async () => {
    const { key, haulerId } = await issueKey(app, ['account']);
    const push = (accountName: string, email: string) =>
      app.call<{ accountId: string; accountNumber: string }>('POST', '/platform-api/v1/accounts', {
        headers: { 'PLATFORM-API-KEY': key, 'Idempotency-Key': randomUUID() },
        body: { accountName, primaryContact: { firstName: 'Dana', lastName: 'Erasure', email } },
      });
    const { body: account } = await push('Erased Recycling', 'dana@erased.example');
    const { body: other } = await push('Other Recycling', 'kim@other.example');
    const { status: refused } = await push('Erased Recycling ', 'dana@erased');
    expect(refused).toBe(400);
    const fields = JSON.stringify({ Customer: account.accountNumber, Gate: 'north' });
    await app.dataSource.query(
      `INSERT INTO tickets (hauler_id, id, site_id, revision, materials, custom_fields, created_at, updated_at)
       VALUES ($1, $2, $2, 1, '[]', $3, now(), now())`,
      [haulerId, randomUUID(), fields],
    );
    const endpoint = randomUUID();
    await insertDeliveries(haulerId, endpoint, [
      [{ haulerId, accountId: account.accountId }, null],
      [{ haulerId, ticketId: randomUUID() }, 'cannot bill ERASED Recycling'],
      [{ haulerId, accountId: other.accountId }, 'thanks'],
    ]);
    const done = await erase({ haulerId, accountId: account.accountId });
    expect(done).toMatchObject({ status: 'done', erased: { accounts: 1, answers: 1, tickets: 1, deliveries: 2 } });
    expect(await deliveriesOf(endpoint)).toEqual([expect.stringContaining(other.accountId)]);
    expect(done.erased.exchanges).toBeGreaterThanOrEqual(2);
    expect(JSON.stringify(done)).not.toMatch(/Erased Recycling|dana@/);
    expect((await app.admin('GET', `/accounts/${account.accountId}`)).status).toBe(404);
    expect((await app.admin('GET', `/accounts/${other.accountId}`)).status).toBe(200);
    const [dump] = await app.dataSource.query<{ text: string }[]>(
      `SELECT concat((SELECT string_agg(exchanges::text, ' ') FROM exchanges WHERE hauler_id = $1),
         (SELECT string_agg(idempotency_keys::text, ' ') FROM idempotency_keys WHERE hauler_id = $1),
         (SELECT string_agg(tickets::text, ' ') FROM tickets WHERE hauler_id = $1),
         (SELECT string_agg(accounts::text, ' ') FROM accounts WHERE hauler_id = $1)) AS text`,
      [haulerId],
    );
    expect(dump?.text).not.toContain('dana@erased.example');
    expect(dump?.text).not.toContain(account.accountId);
    expect(dump?.text).toContain('north');
    expect(dump?.text).toContain('kim@other.example');
    const { status, body: again } = await push('Erased Recycling', 'dana@erased.example');
    expect([status, again.accountId === account.accountId]).toEqual([200, false]);
  });
});
