import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../src/demo/demo-data.js';
import { isNearly } from '../../src/http/json-body.js';
import { newestExchange } from '../support/exchange-scene.js';
import { type SandboxScene, startSandboxScene } from '../support/sandbox-scene.js';

let scene: SandboxScene;
beforeAll(async () => {
  scene = await startSandboxScene();
});
afterAll(() => scene.service.close());

const ignored = ({ headers }: { headers: Headers }) => headers.get('ignored-fields');
const material = { id: DEMO.materialId, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' };

describe('Ignored-Fields', () => {
  test('names unknown fields at any depth, with the field that was probably meant', async () => {
    const reply = await scene.pushTicket(
      {},
      {
        inBoundFlow: {},
        outboundFlow: { ticketNumber: 'OUT-1', updatedAt: '2026-11-20T14:00:00Z', upDatedAt: 1 },
        materials: [material, { ...material, qty: 1, quantitty: 2 }],
        customFields: { anything: 'goes' },
        'größe x': 1,
      },
    );
    expect(reply.status).toBe(200);
    expect(ignored(reply)?.split(', ')).toEqual([
      'materials[1].qty',
      'materials[1].quantitty (did you mean quantity?)',
      'inBoundFlow (did you mean inboundFlow?)',
      'outboundFlow.upDatedAt (did you mean updatedAt?)',
      '["gr%C3%B6%C3%9Fe%20x"]',
    ]);
    const { ignoredFields } = await newestExchange(scene.service, { reference: 'ticketNumber:OUT-1' });
    expect(ignoredFields).toBe(ignored(reply));
  });

  test('is absent where nothing was ignored', async () => {
    expect(ignored(await scene.pushTicket())).toBeNull();
  });

  test('is on refusals too, and names at most 10 paths', async () => {
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`unknown${i}`, i]));
    const reply = await scene.pushTicket({}, { siteId: 1, ...many });
    expect([reply.status, ignored(reply)?.split(', ').length]).toEqual([400, 10]);
    expect(ignored(await scene.requestVideo({ truckID: 'x' }))).toBe('truckID (did you mean truckId?)');
  });
});

test.each([
  ['truckID', 'truckId', true],
  ['quantty', 'quantity', true],
  ['quantityy', 'quantity', true],
  ['quantizy', 'quantity', true],
  ['qunatity', 'quantity', true],
  ['qty', 'quantity', false],
  ['quanty', 'quantity', false],
  ['siteId', 'sideIt', false],
])('%s is nearly %s: %s', (name, other, expected) => expect(isNearly(name, other)).toBe(expected));

test('a revision names its key, request and exchange, and the fields that changed', async () => {
  const flow = (second: number) => ({ ticketNumber: 'IN-REV', updatedAt: `2026-11-20T14:00:0${second}Z` });
  await scene.pushTicket({}, { inboundFlow: flow(1) });
  const reply = await scene.pushTicket(
    { 'X-Request-Id': 'second-push' },
    { inboundFlow: flow(2), materials: [{ ...material, quantity: 2 }] },
  );
  const { disposalTicketId } = reply.body as unknown as { disposalTicketId: string };
  const { body } = await scene.service.admin<{ data: Record<string, unknown>[] }>(
    'GET',
    `/tickets/${disposalTicketId}/revisions`,
  );
  const { id, apiKeyId, keyPrefix } = await newestExchange(scene.service, { requestId: 'second-push' });
  expect(body.data).toMatchObject([
    { revision: 1, apiKeyId, keyPrefix, changes: [] },
    {
      revision: 2,
      apiKeyId,
      keyPrefix,
      requestId: 'second-push',
      exchangeId: id,
      changes: ['inboundFlow', 'materials'],
    },
  ]);
  const page = await scene.service.admin<{ data: unknown[] }>(
    'GET',
    `/tickets/${disposalTicketId}/revisions?page=2&pageSize=1`,
  );
  expect(page.body.data).toEqual([body.data[1]]);
});
