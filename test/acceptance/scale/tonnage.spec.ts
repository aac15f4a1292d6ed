import { beforeEach, describe, expect, test } from '@jest/globals';
import { flow, Hauler, ONE_SITE, TICKET } from '../support/hauler.js';
import { admin, target } from '../support/target.js';

interface Row {
  readonly key: string;
  readonly tons: number;
  readonly tickets: number;
  readonly other: Readonly<Record<string, number>>;
}

const RANGE = { from: '2026-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z' };
const MAX = Number.MAX_VALUE;

let hauler: Hauler;
beforeEach(async () => {
  hauler = await Hauler.create({ sites: ONE_SITE });
});

type Line = readonly [quantity: number, unitOfMeasure?: string];

/** Each is a ticket. */
async function pushAll(...tickets: readonly (readonly Line[])[]): Promise<void> {
  for (const [i, lines] of tickets.entries()) {
    const materials = lines.map(([quantity, unitOfMeasure = 'Ton']) => ({
      ...TICKET.materials[0],
      quantity,
      unitOfMeasure,
    }));
    const { status } = await hauler.push({ materials, inboundFlow: flow(`T-${i}`), customFields: { crew: 'A' } });
    expect(status).toBe(200);
  }
}

const pathOf = (groupBy: string) =>
  `/reports/tonnage?${new URLSearchParams({ haulerId: hauler.id, groupBy, ...RANGE }).toString()}`;

async function report(groupBy = 'site'): Promise<readonly Row[]> {
  const { status, body } = await admin<{ data: Row[] }>('GET', pathOf(groupBy));
  expect(status).toBe(200);
  return body.data;
}

describe('a tonnage report of numbers near the end of a double (decision 25)', () => {
  test.each(['site', 'material', 'day', 'customField:crew'])(
    'by %s answers the largest double for a sum that no double has, also as CSV',
    async (groupBy) => {
      await pushAll([[1.7e308], [1.7e308]], [[-1]]);
      expect(await report(groupBy)).toMatchObject([{ tons: MAX, tickets: 2 }]);
      const headers = { Authorization: `Bearer ${target.adminToken}`, Accept: 'text/csv' };
      const csv = await fetch(`${target.url}/admin/v1${pathOf(groupBy)}`, { headers });
      expect([csv.status, (await csv.text()).includes('1.7976931348623157e+308')]).toEqual([200, true]);
    },
  );

  test.each<[string, readonly (readonly Line[])[], Partial<Row>]>([
    ['reversals', [[[-1.7e308], [-1.7e308]]], { tons: -MAX }],
    [
      'a load and its reversal in another ticket',
      [
        [[1.7e308], [1.7e308]],
        [[-1.7e308], [-1.7e308], [2.5]],
      ],
      { tons: 2.5 },
    ],
    ['the largest number alone', [[[MAX]]], { tons: MAX }],
    ['the smallest number alone', [[[5e-324]]], { tons: 5e-324 }],
    [
      'pounds, whose tons a double has',
      [
        [
          [1.7e308, 'Pound'],
          [1.7e308, 'Pound'],
        ],
      ],
      { tons: 1.7e305 },
    ],
    [
      'weights of several units',
      [[[1.7e308], [1.7e308, 'Pound'], [1.7e308, 'Kilogram']]],
      { tons: 1.70272392922857e308 },
    ],
    [
      'gallons and items',
      [
        [
          [MAX, 'Gallon'],
          [MAX, 'Gallon'],
        ],
        [[-MAX, 'Item']],
      ],
      { tons: 0, other: { Gallon: MAX, Item: -MAX } },
    ],
    ['small and large numbers', [[[0.1], [0.2], [1e300], [-1e300]]], { tons: 0.3 }],
  ])('adds %s', async (_what, tickets, expected) => {
    await pushAll(...tickets);
    const [row] = await report();
    expect(row).toMatchObject(expected);
  });
});
