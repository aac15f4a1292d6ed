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

describe('whose coverage is asked for', () => {
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

  test('a connection that was deleted: what came through it is told', async () => {
    const connectionId = await connect();
    expect((await app.admin('DELETE', `/connections/${connectionId}`)).status).toBe(204);
    const { status, body } = await coverage(connectionId);
    expect(status).toBe(200);
    expect(body.data).toMatchObject([{ state: 'missing' }]);
  });
});
