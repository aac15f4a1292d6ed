import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Overview, OverviewHour } from '../../src/contracts/admin/overview.dto.js';
import { DEMO } from '../../src/demo/demo-data.js';
import { ExchangeHours } from '../../src/exchanges/exchange-hours.repository.js';
import { ExchangeLog } from '../../src/exchanges/exchange-log.service.js';
import { StoredHours } from '../../src/vision/recordings/recordings.service.js';
import { type SandboxScene, startSandboxScene } from '../support/sandbox-scene.js';

const HOUR_MS = 3_600_000;

let scene: SandboxScene;
beforeAll(async () => void (scene = await startSandboxScene()));
afterAll(() => scene.service.close());

const push = (ticketNumber: string, minute: number, quantity: unknown, key = scene.platformKey) =>
  scene.service.call('POST', '/platform-api/v1/tickets', {
    headers: { 'PLATFORM-API-KEY': key },
    body: {
      siteId: DEMO.siteId,
      materials: [{ id: DEMO.materialId, name: 'Debris', quantity, unitOfMeasure: 'Ton' }],
      inboundFlow: { ticketNumber, updatedAt: `2026-11-20T14:0${minute}:00Z` },
    },
  });

async function overview(): Promise<Overview> {
  await scene.service.app.get(ExchangeLog).flush();
  return (await scene.service.admin<Overview>('GET', '/overview')).body;
}

const sum = (hours: readonly OverviewHour[], read: (hour: OverviewHour) => number): number =>
  hours.reduce((total, hour) => total + read(hour), 0);

describe('the overview', () => {
  it('counts the pushes of the last 24 hours by result, and refused ones by reason', async () => {
    await push('IN-1', 1, 1);
    await push('IN-1', 2, 2);
    await push('IN-1', 2, 2);
    await push('IN-1', 0, 3);
    for (let i = 0; i < 3; i++) await push('IN-2', 1, 'many');
    const refused = await push('IN-2', 1, 1, 'hb_not-a-key');
    const { hours, refusedPushes, ...rest } = await overview();
    expect(rest.exchangeLog).toBe('all');
    expect(hours).toHaveLength(24);
    expect(Date.parse(rest.to) - Date.parse(rest.from)).toBe(24 * HOUR_MS);
    expect(hours[0]?.startTime).toBe(rest.from);
    const names = ['created', 'updated', 'unchanged', 'stale', 'refused'] as const;
    expect(names.map((name) => sum(hours, ({ tickets }) => tickets[name]))).toEqual([1, 1, 1, 1, 4]);
    expect(sum(hours, ({ exchanges }) => exchanges.refused)).toBe(4);
    expect(sum(hours, ({ exchanges }) => exchanges.succeeded)).toBe(4);
    expect(refusedPushes).toEqual([
      expect.objectContaining({ interface: 'scale', status: 400, count: 3, errorCode: 'INVALID_PAYLOAD' }),
      expect.objectContaining({ interface: 'scale', status: 401, count: 1 }),
    ]);
    const last = await scene.service.admin<{ requestId: string }>(
      'GET',
      `/exchanges/${refusedPushes[1]?.lastExchangeId}`,
    );
    expect(last.body.requestId).toBe(refused.headers.get('x-request-id'));
  });

  it('counts on over several batches, and forgets days beyond the retention', async () => {
    const before = sum((await overview()).hours, ({ tickets }) => tickets.unchanged);
    await push('IN-1', 2, 2);
    expect(sum((await overview()).hours, ({ tickets }) => tickets.unchanged)).toBe(before + 1);
    const hours = scene.service.app.get(ExchangeHours);
    await hours.deleteOld(1);
    expect((await hours.counts(new Date(0))).size).toBeGreaterThan(0);
    await hours.deleteOld(-1);
    expect((await hours.counts(new Date(0))).size).toBe(0);
  });

  it('counts stored recordings by the hour of their download, and reads a past hour once', async () => {
    const stored = new StoredHours(scene.service.dataSource);
    const start = Date.parse('2026-11-20T10:00:00Z');
    const add = (at: number) =>
      scene.service.dataSource.query(
        `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id,
           camera_id, start_time, end_time, duration_seconds, status, fetch_by, stored_at, created_at, updated_at)
         VALUES ($1, $2, $3, 'continuous', $4, 'customer', 'TRUCK-1', $4, $5, $5::timestamptz + interval '1 minute', 60, 'stored', $5, $5, $5, $5)`,
        [scene.haulerId, randomUUID(), randomUUID(), randomUUID(), new Date(at)],
      );
    for (const minute of [0, 59, 60]) await add(start + minute * 60_000);
    const now = start + 1.5 * HOUR_MS;
    const counts = async () => [...(await stored.counts(new Date(start), now))];
    expect(await counts()).toEqual([
      [start, 2],
      [start + HOUR_MS, 1],
    ]);
    await add(start + 61 * 60_000);
    await add(start);
    expect(await counts()).toEqual([
      [start, 2],
      [start + HOUR_MS, 2],
    ]);
  });
});
