import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import type { Tonnage } from '../../../src/contracts/admin/tickets.routes.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { CatalogFixture } from '../../support/catalog.js';
import { insertTickets } from '../../support/rows.js';
import { ScaleHouse } from '../../support/scale-house.js';
import { setCreation } from '../../support/time.js';

let service: TestApp;
let house: ScaleHouse;
let otherSite: string;
beforeAll(async () => {
  service = await startTestApp();
  house = await ScaleHouse.open(service);
  const catalog = new CatalogFixture(service.dataSource);
  otherSite = await catalog.site(house.haulerId);
  const otherMaterial = await catalog.material(house.haulerId, { siteId: otherSite });
  const flow = (ticketNumber: string) => ({ ticketNumber, updatedAt: '2026-01-31T08:30:00Z' });
  const line = (quantity: number, unitOfMeasure: string, over = {}) =>
    house.material({ quantity, unitOfMeasure, ...over });
  const tickets = [
    // Of both flows: one ticket.
    {
      materials: [line(0.1, 'Ton'), line(0.2, 'Ton')],
      inboundFlow: flow('I-1'),
      outboundFlow: flow('O-1'),
      customFields: { crew: 'A' },
    },
    { materials: [line(4_000, 'Pound'), line(5, 'Cubic Yard')], inboundFlow: flow('I-2'), customFields: { crew: 'B' } },
    { materials: [line(907.18474, 'Kilogram'), line(-1, 'Ton')], inboundFlow: flow('I-3') },
    {
      siteId: otherSite,
      materials: [{ id: otherMaterial, name: '=SUM(A1)', quantity: 3, unitOfMeasure: 'Item' }],
      inboundFlow: flow('I-4'),
      customFields: { crew: 'A' },
    },
  ];
  for (const ticket of tickets) expect((await house.push(house.ticket(ticket))).status).toBe(200);
  // A change of a ticket is no second one.
  await house.push(
    house.ticket({
      materials: [line(0.1, 'Ton'), line(0.3, 'Ton')],
      inboundFlow: { ...flow('I-1'), updatedAt: '2026-02-01T08:30:00Z' },
      customFields: { crew: 'A' },
    }),
  );
  await setCreation(service, house.haulerId, ['I-1', 'I-2'], '2026-03-08T05:30:00Z', '2026-03-08T06:30:00Z');
  // Other haulers and other times do not count.
  const stranger = await ScaleHouse.open(service);
  expect((await stranger.push(stranger.ticket())).status).toBe(200);
});
afterAll(() => service.close());

const RANGE = 'from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z';
const report = (query: string) =>
  service.admin<Tonnage & { error: { message: string } }>(
    'GET',
    `/reports/tonnage?haulerId=${house.haulerId}&${RANGE}&${query}`,
  );
const rows = async (query: string) => (await report(query)).body.data;

describe('GET /admin/v1/reports/tonnage', () => {
  test('by site: weights are short tons, other units stand apart, reversals are subtracted', async () => {
    const { body } = await report('groupBy=site');
    expect(body.unit).toBe('short ton');
    expect(body.data).toEqual([
      { key: house.siteId, name: expect.any(String), tons: 2.4, tickets: 3, other: { 'Cubic Yard': 5 } },
      { key: otherSite, name: expect.any(String), tons: 0, tickets: 1, other: { Item: 3 } },
    ]);
  });

  test('by material, a ticket counts once for each of its materials', async () => {
    const found = await rows('groupBy=material');
    expect(found.map(({ name, tickets, tons }) => [name, tickets, tons])).toEqual([
      ['Debris', 3, 2.4],
      ['=SUM(A1)', 1, 0],
    ]);
  });

  test('by custom field, tickets without it have an empty key', async () => {
    const found = await rows(`groupBy=${encodeURIComponent('customField:crew')}`);
    expect(found.map(({ key, tickets, tons }) => [key, tickets, tons])).toEqual([
      ['B', 1, 2],
      ['A', 2, 0.4],
      ['', 1, 0],
    ]);
  });

  test('by local day of a zone', async () => {
    expect((await rows('groupBy=day')).map(({ key, tickets }) => [key, tickets])).toEqual([['2026-03-08', 4]]);
    expect((await rows('groupBy=day&timeZone=America/Chicago')).map(({ key, tickets }) => [key, tickets])).toEqual([
      ['2026-03-07', 2],
      ['2026-03-08', 2],
    ]);
  });

  test('as CSV, with a column for each unit', async () => {
    const { text } = await service.call<string>(
      'GET',
      `/admin/v1/reports/tonnage?haulerId=${house.haulerId}&${RANGE}&groupBy=material`,
      {
        headers: { Authorization: `Bearer ${service.env.ADMIN_TOKEN}`, Accept: 'text/csv' },
      },
    );
    const [first, second] = parse(text, { columns: true });
    expect(first).toMatchObject({ name: 'Debris', tons: '2.4', 'other.Cubic Yard': '5', 'other.Item': '' });
    expect(second).toMatchObject({ name: "'=SUM(A1)", 'other.Item': '3' });
  });

  test.each(['groupBy=colour', 'groupBy=customField:', 'groupBy=day&timeZone=Mars', ''])(
    'refuses %s',
    async (query) => {
      expect((await report(query)).status).toBe(400);
    },
  );

  test('adds up more tickets than one statement reads', async () => {
    const many = await ScaleHouse.open(service);
    await insertTickets(service, many, [many.material({ quantity: 1.5 })], 20_500);
    const { body } = await service.admin<Tonnage>(
      'GET',
      `/reports/tonnage?haulerId=${many.haulerId}&${RANGE}&groupBy=site`,
    );
    expect(body.data).toMatchObject([{ tons: 30_750, tickets: 20_500 }]);
  });
});
