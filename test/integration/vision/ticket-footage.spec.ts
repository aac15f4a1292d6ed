import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { TicketFootage, TicketFootageRequests } from '../../../src/contracts/admin/footage.dto.js';
import { eventually } from '../../support/eventually.js';
import { addRecordings, addTicket } from '../../support/rows.js';
import { accepts, POST } from '../../support/scripted-vision.js';
import { useVision } from '../../support/vision-scene.js';

const vision = useVision({ VISION_MAX_CLIP_MINUTES: 10 });

const at = (minutes: number, from = '2026-01-31T08:30:00Z'): string =>
  new Date(Date.parse(from) + minutes * 60_000).toISOString().replace('.000Z', 'Z');
const setting = (fields: object = {}) => ({
  truckField: 'truckNumber',
  connectionId: vision.connectionId,
  cameras: [],
  ...fields,
});
const setUp = (fields: object = {}, haulerId = vision.haulerId) =>
  vision.app.admin('PUT', `/haulers/${haulerId}/ticket-footage`, setting(fields));
const ticketOf = (fields: Parameters<typeof addTicket>[2]) => addTicket(vision.app, vision.haulerId, fields);
async function chunk(fields: { start: string; end: string; cameraId?: string; status?: string }): Promise<string> {
  const { haulerId, connectionId } = vision;
  const row = { haulerId, connectionId, id: randomUUID(), truckId: 'TRUCK-7', cameraId: 'front', status: 'stored' };
  await addRecordings(vision.app, [{ ...row, ...fields }]);
  return row.id;
}
async function readFootage(ticketId: string): Promise<TicketFootage> {
  const { status, body } = await vision.app.admin<TicketFootage>('GET', `/tickets/${ticketId}/footage`);
  expect(status).toBe(200);
  return body;
}
const request = (id: string) => vision.app.admin<TicketFootageRequests>('POST', `/tickets/${id}/footage`);

beforeEach(() => vision.connect());

describe('GET /admin/v1/tickets/{id}/footage', () => {
  test('shows ten minutes around each flow with coverage, recordings and requests', async () => {
    await setUp();
    const stored = await chunk({ start: at(-5), end: at(5) });
    await chunk({ start: at(-60), end: at(-30) });
    const rear = await chunk({ cameraId: 'rear', start: at(55), end: at(65), status: 'available' });
    vision.partner.on(POST, accepts());
    const ordered = await vision.order(vision.connectionId, { startTime: at(-9), endTime: at(-8) });
    const id = await ticketOf({
      inbound: at(0),
      outbound: at(60),
      customFields: { truckNumber: ' TRUCK-7\u00a0', truck: 'T-9' },
    });
    const footage = await readFootage(id);
    expect(footage).toMatchObject({
      truckId: 'TRUCK-7',
      ranges: [
        { startTime: at(-10), endTime: at(10), flows: [{ flow: 'inbound', time: at(0) }] },
        { startTime: at(50), endTime: at(70), flows: [{ flow: 'outbound', time: at(60) }] },
      ],
    });
    expect(footage.recordings.map((each) => each.id)).toEqual([stored, rear]);
    expect(footage.requests.map((each) => each.id)).toEqual([ordered]);
    const states = footage.coverage.map(({ cameraId, startTime, state }) => [cameraId, startTime, state]);
    expect(states).toEqual([
      ['front', at(-10), 'missing'],
      ['front', at(-5), 'stored'],
      ['front', at(5), 'missing'],
      ['rear', at(-10), 'missing'],
      ['front', at(50), 'missing'],
      ['rear', at(50), 'missing'],
      ['rear', at(55), 'available'],
      ['rear', at(65), 'missing'],
    ]);
    expect(footage.reasonCode).toBeUndefined();
  });

  test('joins flows whose times overlap, and ends now', async () => {
    await setUp({ cameras: ['front'] });
    await chunk({ start: at(-5), end: at(5) });
    const joined = await readFootage(await ticketOf({ outbound: at(0), inbound: at(15) }));
    expect(joined.ranges).toMatchObject([
      { startTime: at(-10), endTime: at(25), flows: [{ flow: 'outbound' }, { flow: 'inbound' }] },
    ]);
    const now = new Date().toISOString();
    const fresh = await readFootage(await ticketOf({ inbound: now }));
    expect(Date.parse(fresh.ranges[0]?.endTime ?? '')).toBeLessThanOrEqual(Date.now());
    expect(fresh.coverage.map(({ cause }) => cause)).not.toContain('future');
  });

  test.each([
    ['noTruck', { inbound: at(0), customFields: { TruckNumber: 'TRUCK-7' } }],
    ['noTruck', { inbound: at(0), customFields: { truckNumber: ' ' } }],
    ['noTruck', { inbound: at(0), customFields: {} }],
    ['noTimes', {}],
    ['future', { inbound: new Date(Date.now() + 3_600_000).toISOString() }],
    ['unknownTruck', { inbound: at(0), customFields: { truckNumber: 'truck-7' } }],
  ])('says %s as a code and a sentence, and refuses a request with it', async (reasonCode, fields) => {
    await setUp();
    await chunk({ start: at(-5), end: at(5) });
    const id = await ticketOf(fields);
    expect(await readFootage(id)).toMatchObject({ reasonCode, reason: expect.stringMatching(/\w+.*\.$/) });
    const refused = await request(id);
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT', details: {} } } });
  });

  test('says that it is not set up, or that its connection was deleted; what is stored stays', async () => {
    const { app, connectionId } = vision;
    const id = await ticketOf({ inbound: at(0) });
    expect(await readFootage(id)).toMatchObject({ reasonCode: 'notSetUp', truckId: null });
    await setUp();
    const stored = await chunk({ start: at(-5), end: at(5) });
    await app.admin('DELETE', `/connections/${connectionId}`);
    expect(await readFootage(id)).toMatchObject({ reasonCode: 'connectionDeleted', recordings: [{ id: stored }] });
    expect((await request(id)).status).toBe(409);
    expect((await app.admin('GET', `/tickets/${randomUUID()}/footage`)).status).toBe(404);
  });
});

describe('POST /admin/v1/tickets/{id}/footage', () => {
  test('requests what is missing of each camera once, however often it is sent', async () => {
    await setUp({ cameras: ['front', 'rear'] });
    vision.partner.on(POST, accepts());
    await chunk({ start: at(-5), end: at(10) });
    const id = await ticketOf({ inbound: at(0) });
    const answers = await Promise.all([request(id), request(id), request(id)]);
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
    const { requests } = (await request(id)).body;
    const asked = requests.map(({ cameraId, startTime, endTime }) => [cameraId, startTime, endTime]).sort();
    expect(asked).toEqual([
      ['front', at(-10), at(-5)],
      ['rear', at(-10), at(10)],
    ]);
    expect(requests.find(({ cameraId }) => cameraId === 'rear')?.parts).toMatchObject([
      { startTime: at(-10), endTime: at(0) },
      { startTime: at(0), endTime: at(10) },
    ]);
    await eventually(() => expect(vision.partner.askedOf(POST)).toHaveLength(3));
    expect((await readFootage(id)).requests).toHaveLength(2);
  });
});

describe('GET /admin/v1/recordings/{id}/tickets', () => {
  test('lists the tickets that name its truck and were weighed about then', async () => {
    await setUp();
    const recording = await chunk({ start: at(0), end: at(5) });
    const far = await ticketOf({ inbound: at(-9), outbound: at(-200) });
    const near = await ticketOf({ outbound: at(2) });
    await ticketOf({ inbound: at(16) });
    await ticketOf({ inbound: at(2), customFields: { truckNumber: 'TRUCK-77', other: 'TRUCK-7' } });
    const read = () => vision.app.admin<{ data: { id: string }[] }>('GET', `/recordings/${recording}/tickets`);
    expect((await read()).body.data.map(({ id }) => id)).toEqual([near, far]);
    await vision.app.admin('DELETE', `/haulers/${vision.haulerId}/ticket-footage`);
    expect((await read()).body.data).toEqual([]);
  });
});
