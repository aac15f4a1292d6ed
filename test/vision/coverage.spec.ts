import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { connectVision } from '../support/vision-partner.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
});
afterAll(() => app.close());

interface Interval {
  readonly startTime: string;
  readonly endTime: string;
  readonly cameraId?: string;
  readonly state: string;
  readonly reason?: string;
}

const DAY = { from: '2026-01-31T00:00:00Z', to: '2026-02-01T00:00:00Z' };

const coverage = <Body = { data: Interval[] }>(connectionId: string, query: Record<string, string> = {}) =>
  app.admin<Body>(
    'GET',
    `/coverage?${new URLSearchParams({ connectionId, truckId: 'TRUCK-7', ...DAY, ...query }).toString()}`,
  );

const connect = async () => (await connectVision(app, 'https://partner.invalid')).id;

describe('the connection of a coverage', () => {
  const siteConnection = async () => {
    const id = await connect();
    await app.dataSource.query("UPDATE connections SET interface = 'site', customer_id = NULL WHERE id = $1", [id]);
    return id;
  };

  test.each<[string, () => Promise<string> | string]>([
    ['an unknown connection', () => randomUUID()],
    ['a connection of another interface', siteConnection],
  ])('%s: 400, as a request for video', async (_, connection) => {
    const connectionId = await connection();
    const { status, body } = await coverage<object>(connectionId);
    const range = { startTime: DAY.from, endTime: DAY.to };
    const ordered = { connectionId, truckId: 'TRUCK-7', cameraId: 'front', ...range };
    const order = await app.admin<object>('POST', '/video-requests', ordered);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { details: { violations: [{ path: 'connectionId', rule: 'isKnown' }] } } });
    expect(body).toMatchObject({ error: { details: (order.body as { error: { details: object } }).error.details } });
  });

  test('with a wrong range as well: 400 with both violations', async () => {
    const { status, body } = await coverage<object>(randomUUID(), { to: DAY.from });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { details: { violations: [{ path: 'to' }, { path: 'connectionId' }] } } });
  });

  test('a deleted connection still has its coverage', async () => {
    const connectionId = await connect();
    expect((await app.admin('DELETE', `/connections/${connectionId}`)).status).toBe(204);
    const { status, body } = await coverage(connectionId);
    expect(status).toBe(200);
    expect(body.data).toMatchObject([{ state: 'missing' }]);
  });
});

describe('a month of many chunks', () => {
  /** One chunk of 59.5 s for each minute. */
  const addChunks = (connectionId: string, [first, last]: readonly [number, number]) =>
    app.dataSource.query(
      `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
         start_time, end_time, duration_seconds, status, fetch_by, created_at, updated_at)
       SELECT gen_random_uuid(), gen_random_uuid(), $1, 'continuous', n, 'c', 'TRUCK-7', 'front', begins,
         begins + interval '59.5 seconds', 59, 'stored', now(), now(), now()
       FROM (SELECT n, timestamptz '2026-01-01T00:00:00Z' + n * interval '1 minute' AS begins
             FROM generate_series($2::integer, $3::integer) AS n) AS series`,
      [connectionId, first, last],
    );

  test('has intervals without gaps, up to 50,000 recordings', async () => {
    const connectionId = await connect();
    await addChunks(connectionId, [0, 31 * 1440 - 1]);
    const [from, to] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];
    const { body } = await coverage(connectionId, { from, to });
    expect(body.data).toHaveLength(2 * 31 * 1440);
    expect(body.data.map(({ startTime }) => startTime)).toEqual(
      [from, ...body.data.map(({ endTime }) => endTime)].slice(0, -1),
    );
    expect(body.data.slice(0, 2)).toMatchObject([
      { endTime: '2026-01-01T00:00:59.500Z', state: 'stored' },
      { endTime: '2026-01-01T00:01:00Z', state: 'missing' },
    ]);
    expect(body.data.at(-1)).toMatchObject({ endTime: to, state: 'missing' });
    await addChunks(connectionId, [0, 10_000]);
    const tooMany = await coverage<object>(connectionId, { from, to });
    expect(tooMany).toMatchObject({ status: 400, body: { error: { details: { violations: [{ path: 'to' }] } } } });
  });
});
