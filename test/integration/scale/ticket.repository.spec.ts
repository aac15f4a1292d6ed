import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Database } from '../../../src/database/database.js';
import type { Lane } from '../../../src/database/lane.js';
import { isLockTimeout } from '../../../src/database/postgres-errors.js';
import { uuidv7 } from '../../../src/database/uuid.js';
import { type Direction, DIRECTIONS, type Push, type Revision, type Ticket } from '../../../src/scale/ticket.js';
import { canRetry, findTickets, insertNewTickets, writeChanges } from '../../../src/scale/ticket.repository.js';
import { applyPush, BatchState, haveCommonFlow } from '../../../src/scale/ticket.rules.js';
import { CatalogFixture } from '../../support/catalog.js';
import { testEnv } from '../../support/env.js';
import { anyPushes, at, flow, push, type PushParts } from './pushes.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

let database: TestDatabase;
let pool: Lane;
let catalog: CatalogFixture;
let hauler: string;
let site: string;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = new Database(testEnv({ DATABASE_URL: database.url })).hot;
  catalog = new CatalogFixture(await database.connect());
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
    const kept = await pool.use((connection) =>
      connection.query<{ body: string }[]>(
        "SELECT body FROM ticket_revisions WHERE hauler_id = $1 AND revision = 1 AND result = 'created'",
        [hauler],
      ),
    );
    expect(kept.map(({ body }) => body).sort()).toEqual(pushes.map(({ body }) => body).sort());
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
    await pool.use((connection) =>
      connection.query('UPDATE kiosks SET site_external_id = $2 WHERE external_id = $1', [kiosk, uuidv7()]),
    );
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

/** Stores tickets as a database does, and searches them one by one. */
class Tickets {
  readonly tickets: Ticket[] = [];
  readonly revisions: Revision[] = [];

  matching(pushes: readonly Push[]): Ticket[] {
    return this.tickets.filter((ticket) => pushes.some((one) => DIRECTIONS.some((way) => matches(ticket, one, way))));
  }

  /** One push without a batch. */
  receive(one: Push): string {
    const [inbound, outbound] = DIRECTIONS.map((way) => this.tickets.find((ticket) => matches(ticket, one, way)));
    const applied = applyPush({ inbound, outbound }, one);
    if ('conflict' in applied) return 'conflict';
    const { result, ticket } = applied;
    if (result !== 'unchanged') {
      const { id, haulerId, revision } = ticket;
      this.put(ticket);
      this.revisions.push({
        haulerId,
        ticketId: id,
        revision,
        result,
        receivedAt: one.receivedAt,
        body: one.body,
        origin: one.origin,
      });
    }
    return `${result} ${ticket.id}`;
  }

  /** All pushes in one batch. */
  receiveAll(pushes: readonly Push[]): string[] {
    const state = new BatchState(this.matching(pushes));
    const results = pushes.map((one) => {
      const applied = state.apply(one);
      return 'conflict' in applied ? 'conflict' : `${applied.result} ${applied.ticket.id}`;
    });
    const { created, updated, renamed, revisions } = state.changes();
    for (const ticket of created) expect(this.tickets.some(({ id }) => id === ticket.id)).toBe(false);
    for (const ticket of updated) expect(this.tickets.some(({ id }) => id === ticket.id)).toBe(true);
    const gaveUp = updated.filter(({ id, flows }) => {
      const before = this.tickets.find((ticket) => ticket.id === id)?.flows;
      return DIRECTIONS.some((way) => before?.[way] && before[way].ticketNumber !== flows[way]?.ticketNumber);
    });
    expect(renamed).toEqual(gaveUp);
    [...created, ...updated].forEach((ticket) => this.put(ticket));
    this.revisions.push(...revisions);
    return results;
  }

  sorted(): unknown {
    const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);
    const byNumber = (one: Revision, other: Revision) =>
      one.ticketId === other.ticketId ? one.revision - other.revision : one.ticketId < other.ticketId ? -1 : 1;
    return { tickets: this.tickets.toSorted(byId), revisions: this.revisions.toSorted(byNumber) };
  }

  private put(ticket: Ticket): void {
    const index = this.tickets.findIndex(({ id }) => id === ticket.id);
    if (index < 0) this.tickets.push(ticket);
    else this.tickets[index] = ticket;
  }
}

function matches(ticket: Ticket, one: Push, direction: 'inbound' | 'outbound'): boolean {
  const asked = one.flows[direction];
  return (
    asked !== undefined &&
    ticket.siteId === one.siteId &&
    ticket.haulerId === one.haulerId &&
    ticket.flows[direction]?.ticketNumber === asked.ticketNumber
  );
}

describe('BatchState', () => {
  test('returns for a batch what its pushes would return one after the other', () => {
    fc.assert(
      fc.property(fc.array(anyPushes, { maxLength: 4 }), (batches) => {
        const [alone, inBatches] = [new Tickets(), new Tickets()];
        for (const batch of batches) {
          const pushes = batch.map(push);
          expect(inBatches.receiveAll(pushes)).toEqual(pushes.map((one) => alone.receive(one)));
        }
        expect(inBatches.sorted()).toEqual(alone.sorted());
      }),
      { numRuns: 2000 },
    );
  });

  test('never gives one flow to two tickets', () => {
    fc.assert(
      fc.property(anyPushes, (parts) => {
        const stored = new Tickets();
        stored.receiveAll(parts.map(push));
        for (const direction of DIRECTIONS) {
          const held = stored.tickets.flatMap(({ siteId, flows }) => {
            const held = flows[direction];
            return held === undefined ? [] : [`${siteId} ${held.ticketNumber}`];
          });
          expect(new Set(held).size).toBe(held.length);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test('reuses in the same batch a number that a rename released (decision 20)', () => {
    const stored = new Tickets();
    const results = stored.receiveAll([
      push({ inbound: flow('A', 1), outbound: flow('X', 1) }),
      push({ inbound: flow('A', 2), outbound: flow('Y', 2) }),
      push({ outbound: flow('X', 3) }),
    ]);
    expect(results.map((result) => result.split(' ')[0])).toEqual(['created', 'updated', 'created']);
    expect(stored.tickets.map(({ flows }) => flows.outbound?.ticketNumber).sort()).toEqual(['X', 'Y']);
  });

  test('writes the same tickets of two batches in the same order, whatever the order of the pushes', () => {
    const stored = ['A', 'B', 'C'].map((number) => ({ ...push({ inbound: flow(number, 1) }), id: `old ${number}` }));
    const first = new Tickets();
    first.receiveAll(stored);
    const pushes = ['C', 'A', 'E', 'B', 'D'].map((number) => push({ inbound: flow(number, 2) }));
    const written = (order: Push[]) => {
      const state = new BatchState(first.tickets);
      for (const one of order) state.apply(one);
      const { created, updated, revisions } = state.changes();
      return [
        [...created, ...updated].map(({ flows }) => flows.inbound?.ticketNumber),
        revisions.flatMap(({ ticketId, revision }) => (revision === 1 ? [] : ticketId)),
      ];
    };
    expect(written(pushes)).toEqual([
      ['D', 'E', 'A', 'B', 'C'],
      ['old A', 'old B', 'old C'],
    ]);
    expect(written(pushes.toReversed())).toEqual(written(pushes));
  });

  test('does so for new tickets that differ in one part of their key', () => {
    const pushes = ['one hauler', 'another'].flatMap((haulerId) =>
      ['one site', 'another'].flatMap((siteId) =>
        [
          { inbound: flow('A', 1) },
          { inbound: flow('B', 1) },
          { outbound: flow('A', 1) },
          { outbound: flow('B', 1) },
          { inbound: flow('C', 1), outbound: flow('C', 1) },
        ].map((parts) => ({ ...push({ ...parts, siteId }), haulerId })),
      ),
    );
    const written = (order: readonly Push[]) => {
      const state = new BatchState([]);
      for (const one of order) state.apply(one);
      return state.changes().created.map(({ id }) => id);
    };
    expect(written(pushes)).toHaveLength(pushes.length);
    expect(written(pushes.toReversed())).toEqual(written(pushes));
  });

  test('distinguishes flows by site, hauler and direction', () => {
    const one = push({ inbound: flow('A', 1) });
    const others = [
      push({ inbound: flow('A', 1), siteId: 'other' }),
      { ...push({ inbound: flow('A', 1) }), haulerId: 'another' },
      push({ outbound: flow('A', 1) }),
    ];
    expect(new Tickets().receiveAll([one, ...others]).map((result) => result.split(' ')[0])).toEqual(
      Array.from({ length: 4 }, () => 'created'),
    );
  });
});

test('pushes have a common flow if not each of them creates a ticket', () => {
  fc.assert(
    fc.property(anyPushes, (parts) => {
      const pushes = parts.map(push);
      const state = new BatchState([]);
      for (const one of pushes) state.apply(one);
      expect(haveCommonFlow(pushes)).toBe(state.changes().created.length < pushes.length);
    }),
  );
  expect(haveCommonFlow([push({ inbound: flow('A', 1) }), push({ inbound: flow('A', 2) })])).toBe(true);
  expect(haveCommonFlow([push({ inbound: flow('A', 1) }), push({ outbound: flow('A', 1) })])).toBe(false);
});
