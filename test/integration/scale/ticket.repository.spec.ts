import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { Database } from '../../../src/database/database.js';
import type { Lane } from '../../../src/database/lane.js';
import { isLockTimeout } from '../../../src/database/postgres-errors.js';
import { uuidv7 } from '../../../src/database/uuid.js';
import type { Direction, Push, Ticket } from '../../../src/scale/ticket.js';
import { canRetry, findTickets, insertNewTickets, writeChanges } from '../../../src/scale/ticket.repository.js';
import { BatchState } from '../../../src/scale/ticket.rules.js';
import { CatalogFixture } from '../../support/catalog.js';
import { testEnv } from '../../support/env.js';
import { at, flow, push, type PushParts } from '../../unit/scale/pushes.js';
import { firstBodies, moveKiosk } from '../../support/rows.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

let database: TestDatabase;
let pool: Lane;
let dataSource: DataSource;
let catalog: CatalogFixture;
let hauler: string;
let site: string;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = new Database(testEnv({ DATABASE_URL: database.url })).hot;
  dataSource = await database.connect();
  catalog = new CatalogFixture(dataSource);
});
beforeEach(() => {
  hauler = uuidv7();
  site = uuidv7();
});
afterAll(async () => {
  await pool.close();
  await database.drop();
});

const pushOf = (parts: PushParts): Push => ({ ...push(parts), id: uuidv7(), haulerId: hauler, siteId: site });
const find = (pushes: readonly Push[]) => pool.use((connection) => findTickets(connection, pushes));

/** One batch, as the service writes it. */
const writeBatch = (...pushes: Push[]) => writeBatchOn(pool, ...pushes);

function writeBatchOn(on: Lane, ...pushes: Push[]): Promise<Ticket[]> {
  return on.use(async (connection) => {
    const state = new BatchState(await findTickets(connection, pushes));
    for (const one of pushes) state.apply(one);
    await writeChanges(connection, state.changes());
    return [...state.changes().created, ...state.changes().updated];
  });
}

describe('findTickets', () => {
  test('returns what was written', async () => {
    const whole = {
      ...pushOf({
        inbound: { ticketNumber: '{"\\,}\n\u{1F69B}NULL', updatedAt: '0001-01-01T00:00:00.000001Z' },
        outbound: { ticketNumber: 'NULL', updatedAt: '9999-12-31T23:59:59.999999Z' },
      }),
      contents: { materials: '[{"name":"\\"\\\\{},"}]', customFields: '{}' },
      receivedAt: '2026-11-20T14:03:27.512000Z',
    };
    const [written] = await writeBatch(whole);
    const found = await find([whole]);
    expect(found).toEqual([written, written]);
    expect(found[0]).toMatchObject({
      id: whole.id,
      flows: whole.flows,
      contents: whole.contents,
      version: '9999-12-31T23:59:59.999999Z',
      createdAt: whole.receivedAt,
    });
  });

  test('returns a changed ticket with every change', async () => {
    await writeBatch(pushOf({ inbound: flow('A', 1), outbound: flow('X', 1) }));
    const later = pushOf({ inbound: flow('B', 3), outbound: flow('X', 2) });
    const [changed] = await writeBatch({ ...later, contents: { materials: '[2]', customFields: '{"a":"b"}' } });
    const { flows, receivedAt: updatedAt } = later;
    expect(changed).toMatchObject({ version: at(3), flows, contents: { customFields: '{"a":"b"}' }, updatedAt });
    expect(await find([later])).toEqual([changed, changed]);
  });

  test('finds by flow only tickets with that flow, of that hauler, site and direction', async () => {
    const [inbound, outbound] = [pushOf({ inbound: flow('A', 1) }), pushOf({ outbound: flow('A', 1) })];
    const others = [
      { ...pushOf({ inbound: flow('A', 1) }), haulerId: uuidv7() },
      { ...pushOf({ inbound: flow('A', 1) }), siteId: uuidv7() },
      pushOf({ inbound: flow('a', 1) }),
      pushOf({}),
    ];
    await writeBatch(inbound, outbound, ...others);
    expect((await find([inbound])).map(({ id }) => id)).toEqual([inbound.id]);
    expect((await find([outbound])).map(({ id }) => id)).toEqual([outbound.id]);
    expect(await find([pushOf({})])).toEqual([]);
  });
});

describe('writeChanges', () => {
  test.each<[Direction, Direction]>([
    ['inbound', 'outbound'],
    ['outbound', 'inbound'],
  ])('moves an %s number from one ticket to another and back in one batch', async (renamed, matched) => {
    const parts = (number: string, match: string, version: number) =>
      pushOf({ [renamed]: flow(number, version), [matched]: flow(match, version) });
    const [one, two, bystander] = [parts('A', 'X', 1), parts('B', 'Y', 1), parts('C', 'W', 1)];
    await writeBatch(one, two, bystander);
    await writeBatch(parts('Z', 'X', 2), parts('A', 'Y', 2), parts('B', 'X', 3));
    const stored = await find([pushOf({ [matched]: flow('X', 1) }), pushOf({ [matched]: flow('Y', 1) })]);
    expect(stored.map(({ id, flows, revision }) => [id, flows[renamed]?.ticketNumber, revision]).sort()).toEqual(
      [
        [one.id, 'B', 3],
        [two.id, 'A', 2],
      ].sort(),
    );
    expect((await find([bystander])).map(({ flows }) => flows)).toEqual([bystander.flows, bystander.flows]);
  });

  test('gives a released number to a new ticket of the same batch', async () => {
    await writeBatch(pushOf({ inbound: flow('A', 1), outbound: flow('X', 1) }));
    const [fresh] = await writeBatch(
      pushOf({ inbound: flow('A', 2), outbound: flow('Y', 2) }),
      pushOf({ outbound: flow('X', 3) }),
    );
    expect((await find([pushOf({ outbound: flow('X', 1) })])).map(({ id }) => id)).toEqual([fresh?.id]);
  });

  test.each<[string, PushParts, PushParts]>([
    ['both create the ticket', { inbound: flow('A', 1) }, { inbound: flow('A', 2) }],
    ['both change it through one flow', { inbound: flow('K', 2) }, { inbound: flow('K', 3) }],
    ['each changes it through another flow', { inbound: flow('K', 2) }, { outbound: flow('X', 3) }],
    [
      'both rename to one number',
      { inbound: flow('K', 2), outbound: flow('N', 2) },
      { inbound: flow('L', 2), outbound: flow('N', 2) },
    ],
    [
      'one creates what the other renames to',
      { inbound: flow('K', 2), outbound: flow('N', 2) },
      { outbound: flow('N', 3) },
    ],
  ])(
    'writes nothing if a ticket has changed since it was read, and can be retried: %s',
    async (_what, first, second) => {
      await writeBatch(pushOf({ inbound: flow('K', 1), outbound: flow('X', 1) }), pushOf({ inbound: flow('L', 1) }));
      const bystander = pushOf({ inbound: flow('bystander', 1) });
      const [early, late] = [pushOf(first), pushOf(second)];
      const stale = pool.use(async (connection) => {
        const state = new BatchState(await findTickets(connection, [late, bystander]));
        state.apply(late);
        state.apply(bystander);
        await writeBatch(early);
        await writeChanges(connection, state.changes());
      });
      const error: unknown = await stale.catch((reason: unknown) => reason);
      expect(canRetry(error)).toBe(true);
      expect(await find([bystander])).toEqual([]);
      await writeBatch(late, bystander);
      expect(await find([bystander])).toHaveLength(1);
    },
  );

  test.each([
    ['a deadlock', '40P01'],
    ['a serialization failure', '40001'],
    ['a missing prepared statement', '26000'],
    ['an existing prepared statement', '42P05'],
  ])('can be retried after %s', (_what, code) => expect(canRetry(Object.assign(new Error('x'), { code }))).toBe(true));

  test('is not retried after another error', () => {
    for (const error of [new Error('other'), Object.assign(new Error('x'), { code: '23505', constraint: 'other' })])
      expect(canRetry(error)).toBe(false);
  });
});

describe('insertNewTickets', () => {
  let kiosk: string;
  let material: string;
  beforeEach(async () => {
    hauler = await catalog.hauler();
    site = await catalog.site(hauler);
    kiosk = await catalog.kiosk(hauler, site);
    material = await catalog.material(hauler, { kioskId: kiosk });
  });

  const insert = (pushes: readonly Push[], materialIds: readonly string[] = [material]) => {
    const withMaterials = pushes.map((one) => ({ ...one, materialIds }));
    return pool.use((connection) => insertNewTickets(connection, withMaterials));
  };
  const idsOf = (pushes: readonly Push[]) => new Set(pushes.map(({ id }) => id));

  test('inserts new tickets with their first revisions and returns their ids', async () => {
    const pushes = [pushOf({ inbound: flow('A', 1) }), pushOf({ outbound: flow('A', 1) }), pushOf({})];
    expect(await insert(pushes)).toEqual(idsOf(pushes));
    const receivedAt = pushes[0]?.receivedAt;
    expect(await find(pushes.slice(0, 1))).toMatchObject([
      { revision: 1, createdAt: receivedAt, updatedAt: receivedAt },
    ]);
    expect((await firstBodies({ dataSource }, hauler)).sort()).toEqual(pushes.map(({ body }) => body).sort());
  });

  test.each<[string, PushParts]>([
    ['inbound', { inbound: flow('A', 9) }],
    ['outbound', { inbound: flow('N', 9), outbound: flow('X', 9) }],
  ])('skips a ticket whose %s flow is stored, and inserts the others', async (_what, known) => {
    await insert([pushOf({ inbound: flow('A', 1), outbound: flow('X', 1) })]);
    const [late, fresh] = [pushOf(known), pushOf({ inbound: flow('B', 1) })];
    expect(await insert([late, fresh])).toEqual(idsOf([fresh]));
    const stored = { revision: 1, flows: { inbound: flow('A', 1), outbound: flow('X', 1) } };
    expect(await find([pushOf({ inbound: flow('A', 1) })])).toMatchObject([stored]);
  });

  test('inserts nothing if the site or a material is unknown, or the material was moved', async () => {
    const one = pushOf({ inbound: flow('A', 1) });
    expect(await insert([one], [material, uuidv7()])).toEqual(new Set());
    expect(await insert([{ ...one, siteId: uuidv7() }])).toEqual(new Set());
    expect(await insert([{ ...one, haulerId: uuidv7() }])).toEqual(new Set());
    await moveKiosk({ dataSource }, kiosk, uuidv7());
    expect(await insert([one])).toEqual(new Set());
    expect(await find([one])).toEqual([]);
  });
});

test('batches of the same tickets in opposite orders do not deadlock', async () => {
  const pools = Array.from({ length: 3 }, () => new Database(testEnv({ DATABASE_URL: database.url })).hot);
  const codes = new Set<unknown>();
  const until = async (one: Lane, pushes: Push[]) => {
    for (;;) {
      try {
        return await writeBatchOn(one, ...pushes);
      } catch (error) {
        // The service defers a batch that waits too long for another one.
        if (isLockTimeout(error)) continue;
        if (!canRetry(error)) throw error;
        codes.add((error as { code?: unknown }).code);
      }
    }
  };
  for (let round = 0; round < 8; round++) {
    for (const version of [1, 2]) {
      const batches = pools.map((one, i) => {
        const numbers = Array.from({ length: 300 }, (_, n) => `${round} ${n}`);
        if (i % 2 === 1) numbers.reverse();
        const parts = (number: string) => ({ inbound: flow(number, version), outbound: flow(number, version) });
        return until(
          one,
          numbers.map((number) => pushOf({ ...parts(number), contents: `${i}` })),
        );
      });
      await Promise.all(batches);
    }
  }
  expect([...codes]).toEqual(['23505']);
  for (const one of pools) await one.close();
});
