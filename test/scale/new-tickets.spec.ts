import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { instantOf } from '../../src/contracts/common/instant.js';
import { HotPathPool } from '../../src/database/hot-path-pool.js';
import { uuidv7 } from '../../src/database/uuid.js';
import { NewTickets } from '../../src/scale/new-tickets.js';
import type { Outcome } from '../../src/scale/submission.js';
import { TicketBook } from '../../src/scale/ticket-book.js';
import { WRITE_NEW, WRITE_NEW_OF_KNOWN } from '../../src/scale/ticket-sql.js';
import { findTickets } from '../../src/scale/ticket-store.js';
import type { Push } from '../../src/scale/ticket.js';
import { TicketWriter } from '../../src/scale/ticket-writer.js';
import { CatalogService } from '../../src/site-sync/catalog/catalog.service.js';
import { KnownMaterials } from '../../src/site-sync/catalog/known-materials.js';
import { CatalogFixture } from '../support/catalog.js';
import { testEnv } from '../support/env.js';
import { flow, push, type PushParts } from '../support/pushes.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let dataSource: DataSource;
let pool: HotPathPool;
let catalog: CatalogFixture;
let newTickets: NewTickets;
let hauler: string;
let site: string;
let kiosk: string;
let material: string;
beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = await database.connect();
  pool = new HotPathPool(testEnv({ DATABASE_URL: database.url }));
  catalog = new CatalogFixture(dataSource);
});
beforeEach(async () => {
  newTickets = new NewTickets(new KnownMaterials());
  hauler = await catalog.hauler();
  site = await catalog.site(hauler);
  kiosk = await catalog.kiosk(hauler, site);
  material = await catalog.material(hauler, { kioskId: kiosk });
});
afterAll(async () => {
  await pool.onApplicationShutdown();
  await database.drop();
});

let count = 0;
const pushOf = (parts: PushParts = { inbound: flow(`N${++count}`, 1) }): Push => ({
  ...push(parts),
  id: uuidv7(),
  haulerId: hauler,
  siteId: site,
});
const find = (pushes: readonly Push[]) => pool.lend((connection) => findTickets(connection, pushes));

/** By which statements the last batch was written. */
const statements: string[] = [];
const LOOKED_UP = [WRITE_NEW];

const write = (pushes: readonly Push[], materialIds: readonly string[] = [material]) =>
  pool.lend((connection) => {
    const book = new TicketBook([]);
    for (const one of pushes) book.receive(one);
    const references = pushes.map(({ haulerId, siteId }) => ({ haulerId, siteId, materialIds }));
    statements.length = 0;
    const query = connection.query.bind(connection);
    connection.query = (sql, parameters) => {
      statements.push(sql);
      return query(sql, parameters);
    };
    return newTickets.write(connection, book.changes(), references);
  });
const idsOf = (pushes: readonly Push[]) => new Set(pushes.map(({ id }) => id));

test('writes what is new, each with its first revision, and tells which', async () => {
  const pushes = [pushOf({ inbound: flow('A', 1) }), pushOf({ outbound: flow('A', 1) }), pushOf({})];
  expect(await write(pushes)).toEqual(idsOf(pushes));
  const [found] = await find(pushes);
  const receivedAt = pushes[0]?.receivedAt;
  expect(found).toMatchObject({ id: pushes[0]?.id, revision: 1, createdAt: receivedAt, updatedAt: receivedAt });
  const kept = await dataSource.query<{ body: string; received_at: Date }[]>(
    `SELECT body, received_at FROM ticket_revisions WHERE hauler_id = $1 AND revision = 1 AND result = 'created'`,
    [hauler],
  );
  expect(kept.map(({ body }) => body).sort()).toEqual(pushes.map(({ body }) => body).sort());
  expect(kept.map(({ received_at }) => instantOf(received_at)).sort()).toEqual(
    pushes.map((pushed) => pushed.receivedAt).sort(),
  );
});

test.each([
  ['the inbound flow', { inbound: flow('A', 9) }],
  ['the outbound flow', { inbound: flow('N', 9), outbound: flow('X', 9) }],
])('leaves alone what %s says is stored, and writes the others', async (_what, known) => {
  await write([pushOf({ inbound: flow('A', 1), outbound: flow('X', 1) })]);
  const [late, fresh] = [pushOf(known), pushOf({ inbound: flow('B', 1) })];
  expect(await write([late, fresh])).toEqual(idsOf([fresh]));
  expect(statements).toEqual([WRITE_NEW_OF_KNOWN]);
  const [stored] = await find([pushOf({ inbound: flow('A', 1) })]);
  expect(stored).toMatchObject({ revision: 1, flows: { inbound: flow('A', 1), outbound: flow('X', 1) } });
});

test('writes nothing where a material or the site is not right', async () => {
  const one = pushOf({ inbound: flow('A', 1) });
  expect(await write([one], [material, uuidv7()])).toEqual(new Set());
  expect(await write([{ ...one, siteId: uuidv7() }])).toEqual(new Set());
  expect(await write([{ ...one, haulerId: uuidv7() }])).toEqual(new Set());
  expect(await find([one])).toEqual([]);
});

describe('what was found right is not looked up again', () => {
  /** Whether the next push is written without looking its material up, and that it is written. */
  const isKnown = async (...pushes: Push[]) => {
    const given = pushes.length > 0 ? pushes : [pushOf()];
    expect(await write(given)).toEqual(idsOf(given));
    return statements[0] === WRITE_NEW_OF_KNOWN;
  };

  test('while nothing has moved', async () => {
    expect(await isKnown()).toBe(false);
    expect(statements).toEqual(LOOKED_UP);
    expect(await isKnown()).toBe(true);
    expect(await isKnown()).toBe(true);
  });

  test('but another material or another hauler is, in the same batch too', async () => {
    const other = await catalog.hauler();
    const otherSite = await catalog.site(other);
    const more = await catalog.material(hauler, { siteId: site });
    expect(await isKnown()).toBe(false);
    const two = [pushOf()];
    expect(await write(two, [material, more])).toEqual(idsOf(two));
    expect(statements).toEqual(LOOKED_UP);
    expect(await write([pushOf(), { ...pushOf(), haulerId: other, siteId: otherSite }])).toEqual(new Set());
    expect(statements).toEqual(LOOKED_UP);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['its kiosk moves', () => moveTo('kiosks', 'site_external_id', kiosk)],
    ['it moves', () => moveTo('materials', 'kiosk_external_id', material)],
    ['it is gone', () => dataSource.query('DELETE FROM materials WHERE external_id = $1', [material])],
    ['its kiosk is gone', () => dataSource.query('DELETE FROM kiosks WHERE external_id = $1', [kiosk])],
    ['its site is gone', () => dataSource.query('DELETE FROM sites WHERE external_id = $1', [site])],
  ])('until %s: nothing is written then', async (_what, change) => {
    await isKnown();
    await change();
    const late = pushOf();
    expect(await write([late])).toEqual(new Set());
    expect(statements).toEqual([WRITE_NEW_OF_KNOWN]);
    expect(await write([late])).toEqual(new Set());
    expect(statements).toEqual(LOOKED_UP);
    expect(await find([late])).toEqual([]);
  });

  test('and again from the new layout on', async () => {
    const second = await catalog.material(hauler, { siteId: site });
    await isKnown();
    await moveTo('materials', 'site_external_id', second);
    expect(await write([pushOf()])).toEqual(new Set());
    expect(await isKnown()).toBe(false);
    expect(await isKnown()).toBe(true);
  });

  test('after a change that is not yet committed it is what it was', async () => {
    await isKnown();
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    await moveTo('materials', 'kiosk_external_id', material, runner);
    expect(await isKnown()).toBe(true);
    await runner.commitTransaction();
    await runner.release();
    expect(await write([pushOf()])).toEqual(new Set());
  });

  test('and what is closed, renamed or new moves nothing', async () => {
    await isKnown();
    await dataSource.query('UPDATE materials SET active = false, material_type = $2 WHERE external_id = $1', [
      material,
      'Sand',
    ]);
    await dataSource.query('UPDATE sites SET name = $2, active = false WHERE external_id = $1', [site, 'Closed']);
    await catalog.material(hauler, { siteId: await catalog.site(hauler) });
    expect(await isKnown()).toBe(true);
  });

  test('nor does what another hauler moves', async () => {
    await isKnown();
    const other = await catalog.hauler();
    const theirs = await catalog.material(other, { siteId: await catalog.site(other) });
    await moveTo('materials', 'site_external_id', theirs);
    expect(await isKnown()).toBe(true);
  });

  /** To where nothing is known of. */
  const moveTo = (table: string, column: string, id: string, on: Pick<DataSource, 'query'> = dataSource) =>
    on.query(`UPDATE ${table} SET ${column} = $2 WHERE external_id = $1`, [id, uuidv7()]);
});

describe('whether a batch is written as new at once', () => {
  let writer: TicketWriter;
  let asNew: jest.SpiedFunction<NewTickets['write']>;
  beforeEach(() => {
    writer = new TicketWriter(pool, new CatalogService(), newTickets);
    asNew = jest.spyOn(newTickets, 'write');
  });

  /** As the service does it, until every push has its answer. */
  async function submit(...pushes: Push[]): Promise<string[]> {
    const submissions = pushes.map((one) => ({ push: one, materialIds: [material], claim: undefined }));
    const outcomes = new Map<object, Outcome>();
    for (let open = submissions; open.length > 0; open = open.filter((one) => !outcomes.has(one))) {
      const answers = await writer.write(open);
      open.forEach((one, i) => answers[i] !== undefined && outcomes.set(one, answers[i]));
    }
    return submissions.map((one) => outcomes.get(one)?.headers['Ticket-Result'] ?? 'none');
  }

  /** Whether it was tried for the next push of that flow. */
  async function triedFor(version: number, number = 'A'): Promise<boolean> {
    asNew.mockClear();
    await submit(pushOf({ inbound: flow(number, version) }));
    return asNew.mock.calls.length > 0;
  }

  test('is settled by what most of the one before it was', async () => {
    expect(await triedFor(1)).toBe(true);
    expect(await triedFor(2)).toBe(true);
    expect(await triedFor(3)).toBe(false);
    expect(await triedFor(1, 'B')).toBe(false);
    expect(await triedFor(1, 'C')).toBe(true);
    // Half of them is not most: the other is not tried so again.
    asNew.mockClear();
    expect(await submit(pushOf({ inbound: flow('D', 1) }), pushOf({ inbound: flow('A', 4) }))).toEqual([
      'created',
      'updated',
    ]);
    expect(asNew).toHaveBeenCalledTimes(1);
    expect(await triedFor(1, 'E')).toBe(false);
  });
});
