import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../../support/app.js';
import { CatalogFixture } from '../../support/catalog.js';
import { at } from './pushes.js';
import { paths, ScaleHouse } from '../../support/scale-house.js';

let service: TestApp;
let house: ScaleHouse;
let catalog: CatalogFixture;
beforeAll(async () => {
  service = await startTestApp();
  catalog = new CatalogFixture(service.dataSource);
});
beforeEach(async () => {
  house = await ScaleHouse.open(service);
});
afterAll(() => service.close());

const flow = (ticketNumber: string, microseconds: number) => ({ ticketNumber, updatedAt: at(microseconds) });

interface Parts {
  readonly in?: [string, number];
  readonly out?: [string, number];
  readonly quantity?: number;
}

const body = (parts: Parts) =>
  house.ticket({
    materials: [house.material({ quantity: parts.quantity ?? 1 })],
    ...(parts.in === undefined ? {} : { inboundFlow: flow(...parts.in) }),
    ...(parts.out === undefined ? {} : { outboundFlow: flow(...parts.out) }),
  });

async function push(parts: Parts): Promise<{ id: string; result: string | null }> {
  const reply = await house.push(body(parts));
  expect([reply.status, reply.body]).toEqual([200, { success: true, disposalTicketId: expect.any(String) }]);
  return { id: reply.body.disposalTicketId, result: reply.headers.get('Ticket-Result') };
}

describe('the identity of a ticket (decision 20)', () => {
  test('a push with a known flow is an update, and returns the same id', async () => {
    const { id } = await push({ in: ['A', 1], out: ['X', 1] });
    expect(await push({ in: ['A', 2], quantity: 2 })).toEqual({ id, result: 'updated' });
    expect(await push({ out: ['X', 3], quantity: 3 })).toEqual({ id, result: 'updated' });
    expect(await push({ in: ['A', 4], out: ['X', 4], quantity: 4 })).toEqual({ id, result: 'updated' });
    expect(await house.count()).toBe(1);
  });

  test('a push with another number, direction, site or hauler creates a ticket', async () => {
    const { id } = await push({ in: ['A', 1] });
    const site = await catalog.site(house.haulerId);
    const materialId = await catalog.material(house.haulerId, { siteId: site });
    const elsewhere = { siteId: site, materials: [house.material({ id: materialId })], inboundFlow: flow('A', 1) };
    const others = [await push({ in: ['B', 1] }), await push({ out: ['A', 1] }), await push({ in: ['a', 1] })];
    const other = await house.push(elsewhere);
    const [first, second] = [house, await ScaleHouse.open(service)];
    house = second;
    others.push(await push({ in: ['A', 1] }));
    house = first;
    expect(others.map(({ result }) => result)).toEqual(['created', 'created', 'created', 'created']);
    expect(new Set([id, other.body.disposalTicketId, ...others.map((one) => one.id)]).size).toBe(6);
  });

  test('a push renames the other flow, and releases its former number', async () => {
    const { id } = await push({ in: ['A', 1], out: ['X', 1] });
    expect(await push({ in: ['A', 2], out: ['Y', 2] })).toEqual({ id, result: 'updated' });
    expect(await house.stored(id)).toMatchObject({ outboundFlow: { ticketNumber: 'Y' } });
    expect(await push({ out: ['Y', 2] })).toEqual({ id, result: 'unchanged' });
    const freed = await push({ out: ['X', 9] });
    expect(freed.result).toBe('created');
    expect(freed.id).not.toBe(id);
  });

  test('two flows of two tickets: 422 with both paths, nothing is written', async () => {
    const [one, two] = [await push({ in: ['A', 1] }), await push({ out: ['X', 1] })];
    const reply = await house.push(body({ in: ['A', 2], out: ['X', 2], quantity: 2 }));
    expect([reply.status, reply.body.error?.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(reply.body.error?.details?.reason).toBe('FLOW_CONFLICT');
    expect(paths(reply)).toEqual(['inboundFlow.ticketNumber', 'outboundFlow.ticketNumber']);
    for (const { id } of [one, two]) expect(reply.body.error?.message).toContain(id);
    expect(reply.headers.get('Ticket-Result')).toBeNull();
    for (const { id } of [one, two]) expect(await house.revisions(id)).toHaveLength(1);
    expect(await house.count()).toBe(2);
  });
});

describe('late and repeated pushes (decision 21)', () => {
  test('a newer push replaces the contents as a whole', async () => {
    const first = house.ticket({ inboundFlow: flow('A', 1), customFields: { a: '1', b: '2' } });
    const { body: answer } = await house.push(first);
    const second = house.ticket({
      inboundFlow: flow('A', 2),
      materials: [house.material({ unitPriceCents: 3 }), house.material()],
      customFields: { b: '3' },
    });
    expect((await house.push(second)).headers.get('Ticket-Result')).toBe('updated');
    expect(await house.stored(answer.disposalTicketId)).toMatchObject({
      materials: second['materials'],
      customFields: { b: '3' },
    });
    await house.push(house.ticket({ inboundFlow: flow('A', 3) }));
    expect(await house.stored(answer.disposalTicketId)).not.toHaveProperty('customFields');
  });

  test('an older push is stale: kept in the history, not applied; microseconds count', async () => {
    const { id } = await push({ in: ['A', 2], quantity: 2 });
    expect(await push({ in: ['A', 1], quantity: 1 })).toEqual({ id, result: 'stale' });
    expect((await house.stored(id)).materials).toMatchObject([{ quantity: 2 }]);
    expect((await house.revisions(id)).map(({ result }) => result)).toEqual(['created', 'stale']);
  });

  test('a stale push is answered with the version that won, in a batch too', async () => {
    const pushes = [3, 2, 1].map((second) => ({
      ...body({ in: ['A', 0] }),
      inboundFlow: { ticketNumber: 'A', updatedAt: `2026-01-01T00:00:0${second}.250Z` },
    }));
    const [first, ...others] = [
      await house.push(pushes[0]!),
      ...(await Promise.all(pushes.slice(1).map((each) => house.push(each)))),
    ];
    expect(first?.headers.get('Ticket-Version')).toBeNull();
    expect(others.map(({ headers }) => [headers.get('Ticket-Result'), headers.get('Ticket-Version')])).toEqual(
      Array(2).fill(['stale', '2026-01-01T00:00:03.250Z']),
    );
  });

  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

  test.each([
    ['a flow of tomorrow', { inboundFlow: 25 }, ['inboundFlow.updatedAt']],
    ['one of two flows', { inboundFlow: -1, outboundFlow: 24 * 365 }, ['outboundFlow.updatedAt']],
    ['both flows', { inboundFlow: 24.1, outboundFlow: 24.1 }, ['inboundFlow.updatedAt', 'outboundFlow.updatedAt']],
  ])('a version more than a day ahead is 422: %s', async (_, hours, expected) => {
    const flows = Object.entries(hours).map(([name, ahead]) => [
      name,
      { ticketNumber: 'A', updatedAt: inHours(ahead) },
    ]);
    const reply = await house.push({ ...body({}), ...Object.fromEntries(flows) });
    expect([reply.status, reply.body.error?.code, paths(reply)]).toEqual([422, 'VALIDATION_ERROR', expected]);
    expect(reply.body.error?.details?.violations).toMatchObject(expected.map(() => ({ rule: 'updatedAtInFuture' })));
    expect(await house.count()).toBe(0);
  });

  test('a wrong clock is named beside an unknown material, and a version of less than a day ahead is taken', async () => {
    const ahead = { ...body({}), inboundFlow: { ticketNumber: 'A', updatedAt: inHours(23.9) } };
    expect((await house.push(ahead)).headers.get('Ticket-Result')).toBe('created');
    const materials = [house.material({ id: randomUUID() })];
    const reply = await house.push({
      ...ahead,
      materials,
      outboundFlow: { ticketNumber: 'X', updatedAt: inHours(25) },
    });
    expect([reply.status, paths(reply)]).toEqual([422, ['materials[0].id', 'outboundFlow.updatedAt']]);
  });

  test('a push with an equal time is applied', async () => {
    const { id } = await push({ in: ['A', 1], quantity: 1 });
    expect(await push({ in: ['A', 1], quantity: 2 })).toEqual({ id, result: 'updated' });
    expect((await house.stored(id)).materials).toMatchObject([{ quantity: 2 }]);
  });

  test('each flow keeps its own newest form; an absent flow stays', async () => {
    const { id } = await push({ in: ['A', 5], quantity: 5 });
    expect(await push({ in: ['A', 3], out: ['X', 4], quantity: 4 })).toEqual({ id, result: 'stale' });
    const late = await house.stored(id);
    expect(late.materials).toMatchObject([{ quantity: 5 }]);
    expect(late.outboundFlow?.ticketNumber).toBe('X');
    expect(await push({ out: ['X', 6], quantity: 6 })).toEqual({ id, result: 'updated' });
    expect((await house.stored(id)).inboundFlow?.ticketNumber).toBe('A');
  });

  test('the same content again is unchanged: nothing is written, also in another notation', async () => {
    const first = house.ticket({ inboundFlow: flow('A', 1), customFields: { a: '1', b: '2' } });
    const { body: answer } = await house.push(first);
    const before = await house.stored(answer.disposalTicketId);
    const same = {
      customFields: { b: '2', a: '1' },
      outboundFlow: null,
      inboundFlow: { updatedAt: '2026-01-01T01:00:00.0000010+01:00', ticketNumber: 'A', unknown: 1 },
      materials: [
        {
          unitOfMeasure: 'Ton',
          quantity: 12.5,
          unitPriceCents: null,
          name: 'Debris',
          id: house.materialId.toUpperCase(),
        },
      ],
      siteId: house.siteId.toUpperCase(),
    };
    for (const again of [first, same]) {
      const reply = await house.push(again);
      expect([reply.status, reply.headers.get('Ticket-Result'), reply.body]).toEqual([200, 'unchanged', answer]);
    }
    expect(await house.revisions(answer.disposalTicketId)).toHaveLength(1);
    expect(await house.stored(answer.disposalTicketId)).toEqual(before);
  });
});

test('a push without a flow always creates a ticket (decision 22)', async () => {
  const ids = new Set<string>();
  for (let i = 0; i < 3; i++) {
    const { id, result } = await push({});
    expect(result).toBe('created');
    ids.add(id);
  }
  expect(ids.size).toBe(3);
});

describe('the history (decision 23)', () => {
  test('keeps every push that was not unchanged, as it was sent', async () => {
    const raw = (microseconds: number) =>
      `  ${JSON.stringify(body({ in: ['A', microseconds] })).slice(0, -1)} ,"future":{"big":1e309,"precise":0.10000000000000000001},"é":"\\u00e9"}`;
    const id = (await house.push(raw(2))).body.disposalTicketId;
    await house.push(raw(2));
    await house.push(raw(1));
    await house.push(raw(3));
    const { data } = (await service.admin<{ data: unknown }>('GET', `/tickets/${id}/revisions`)).body;
    expect(data).toMatchObject([
      { revision: 1, result: 'created', body: { future: { big: Infinity }, é: 'é' } },
      { revision: 2, result: 'stale' },
      { revision: 3, result: 'updated' },
    ]);
    const rows = await service.dataSource.query<{ body: string }[]>(
      'SELECT body FROM ticket_revisions WHERE ticket_id = $1 ORDER BY revision',
      [id],
    );
    expect(rows.map((row) => row.body)).toEqual([raw(2), raw(1), raw(3)]);
    const { text } = await service.admin('GET', `/tickets/${id}/revisions`);
    expect(text).toContain('{"big":1e309,"precise":0.10000000000000000001}');
  });

  test('has the time at which a push was received', async () => {
    const before = Date.now();
    const { id } = await push({ in: ['A', 1] });
    const [revision] = await house.revisions(id);
    const { createdAt, updatedAt } = await house.stored(id);
    expect(revision?.receivedAt).toBe(createdAt);
    expect(updatedAt).toBe(createdAt);
    expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before - 1);
    expect(Date.parse(createdAt)).toBeLessThanOrEqual(Date.now() + 1);
  });
});

describe('the business rules (decision 24)', () => {
  const violations = async (over: Record<string, unknown>) => {
    const before = await house.count();
    const reply = await house.push(house.ticket(over));
    expect([reply.status, reply.body.success, reply.body.error?.code]).toEqual([422, false, 'VALIDATION_ERROR']);
    expect(await house.count()).toBe(before);
    return reply.body.error?.details?.violations?.map(({ path, rule }) => `${path} ${rule}`);
  };

  test('an unknown site: its materials must still exist', async () => {
    expect(await violations({ siteId: randomUUID() })).toEqual(['siteId siteExists']);
    const materials = [house.material({ id: randomUUID() }), house.material(), house.material({ id: randomUUID() })];
    expect(await violations({ siteId: randomUUID(), materials })).toEqual([
      'siteId siteExists',
      'materials[0].id materialExists',
      'materials[2].id materialExists',
    ]);
  });

  test('an unknown material, a material of another site, also through its kiosk: all are reported', async () => {
    const other = await catalog.site(house.haulerId);
    const kiosk = await catalog.kiosk(house.haulerId, other);
    const elsewhere = await catalog.material(house.haulerId, { siteId: other });
    const atKiosk = await catalog.material(house.haulerId, { kioskId: kiosk });
    const unknown = randomUUID();
    const materials = [house.materialId, unknown, elsewhere, atKiosk, unknown].map((id) => house.material({ id }));
    expect(await violations({ materials })).toEqual([
      'materials[1].id materialExists',
      'materials[2].id materialOfSite',
      'materials[3].id materialOfSite',
      'materials[4].id materialExists',
    ]);
  });

  test('the messages name the system of the ids, and their source', async () => {
    const other = await catalog.site(house.haulerId);
    const elsewhere = await catalog.material(house.haulerId, { siteId: other });
    const messages = async (over: Record<string, unknown>) =>
      (await house.push(house.ticket(over))).body.error?.details?.violations?.map(({ message }) => message);
    expect(await messages({ siteId: randomUUID(), materials: [house.material({ id: randomUUID() })] })).toEqual([
      'siteId must be the id, in your own system, of a site that the platform has received by the Site API',
      'materials[0].id must be the id, in your own system, of a material that the platform has received by the Site API',
    ]);
    expect(await messages({ materials: [house.material({ id: elsewhere })] })).toEqual([
      'materials[0].id must be the id of a material of the site that siteId names',
    ]);
  });

  test("another hauler's site and material do not exist (decision 1)", async () => {
    const otherHouse = await ScaleHouse.open(service);
    expect(
      await violations({ siteId: otherHouse.siteId, materials: [house.material({ id: otherHouse.materialId })] }),
    ).toEqual(['siteId siteExists', 'materials[0].id materialExists']);
  });

  test('the same material twice is two lines; a material of a kiosk of the site, and an inactive one are accepted', async () => {
    const closed = await catalog.site(house.haulerId, { active: false });
    const kiosk = await catalog.kiosk(house.haulerId, closed);
    const id = await catalog.material(house.haulerId, { kioskId: kiosk }, { active: false });
    const lines = [house.material({ id }), house.material({ id, quantity: -1 })];
    const reply = await house.push({ siteId: closed, materials: lines });
    expect(reply.status).toBe(200);
    expect((await house.stored(reply.body.disposalTicketId)).materials).toEqual(lines);
  });

  test('a material that was just synchronised is known', async () => {
    const id = randomUUID();
    expect(await violations({ materials: [house.material({ id })] })).toEqual(['materials[0].id materialExists']);
    await catalog.material(house.haulerId, { siteId: house.siteId }, { id });
    expect((await house.push(house.ticket({ materials: [house.material({ id })] }))).status).toBe(200);
  });

  test('a material that was just moved belongs to its new site only', async () => {
    const other = await catalog.site(house.haulerId);
    expect((await house.push(house.ticket())).status).toBe(200);
    await service.dataSource.query('UPDATE materials SET site_external_id = $1 WHERE external_id = $2', [
      other,
      house.materialId,
    ]);
    expect(await violations({})).toEqual(['materials[0].id materialOfSite']);
    expect((await house.push(house.ticket({ siteId: other }))).status).toBe(200);
  });

  test('a malformed body is 400 before any rule (decision 3)', async () => {
    const reply = await house.push(house.ticket({ siteId: randomUUID(), materials: [] }));
    expect(reply.status).toBe(400);
  });
});
