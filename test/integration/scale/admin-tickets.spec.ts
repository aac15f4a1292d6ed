import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { randomUUID } from 'node:crypto';
import { createDataSourceOptions } from '../../../src/database/data-source.js';
import { Database } from '../../../src/database/database.js';
import { TicketQueries } from '../../../src/scale/ticket-queries.js';
import { MAX_CHUNK_BYTES } from '../../../src/scale/ticket-steps.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { CatalogFixture } from '../../support/catalog.js';
import { ScaleHouse, type StoredRevision, type StoredTicket } from '../../support/scale-house.js';

interface Page {
  readonly data: StoredTicket[];
  readonly pagination: { page: number; pageSize: number; totalItems: number; totalPages: number };
}

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

const list = async (query: string) => {
  const { status, body } = await service.admin<Page>('GET', `/tickets?${query}`);
  expect(status).toBe(200);
  return body;
};
const flow = (ticketNumber: string) => ({ ticketNumber, updatedAt: '2026-01-31T08:30:00Z' });

describe('GET /admin/v1/tickets/{id}', () => {
  test('returns the fields of section 2.2, and the hauler', async () => {
    const house = await ScaleHouse.open(service);
    const sent = house.ticket({
      materials: [house.material({ unitPriceCents: -0.5 })],
      inboundFlow: { ticketNumber: 'IN-1', updatedAt: '2026-01-31T08:30:00.250+01:00' },
      outboundFlow: { ticketNumber: 'OUT-1', updatedAt: '2026-01-31T09:00:00Z' },
      customFields: { truck: '42' },
    });
    const id = (await house.push(sent)).body.disposalTicketId;
    expect(await house.stored(id)).toEqual({
      ...sent,
      id,
      haulerId: house.haulerId,
      inboundFlow: { ticketNumber: 'IN-1', updatedAt: '2026-01-31T07:30:00.250Z' },
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
  });

  test('returns when it was created and last changed, and omits absent fields', async () => {
    const house = await ScaleHouse.open(service);
    const { materials } = house.ticket();
    const id = (await house.push(house.ticket())).body.disposalTicketId;
    const times = { createdAt: '2026-01-31T08:30:00.125Z', updatedAt: '2026-02-01T09:00:00Z' };
    await service.dataSource.query('UPDATE tickets SET created_at = $2, updated_at = $3 WHERE id = $1', [
      id,
      times.createdAt,
      times.updatedAt,
    ]);
    expect(await house.stored(id)).toEqual({ id, haulerId: house.haulerId, siteId: house.siteId, materials, ...times });
  });

  test('returns -0 as -0', async () => {
    const house = await ScaleHouse.open(service);
    const body = JSON.stringify(house.ticket()).replace('12.5', '-0');
    const { text } = await service.admin('GET', `/tickets/${(await house.push(body)).body.disposalTicketId}`);
    expect(text).toContain('"quantity":-0,');
  });
});

describe('GET /admin/v1/tickets', () => {
  test('returns pages, the last received first, by every filter and by several', async () => {
    const house = await ScaleHouse.open(service);
    const other = await ScaleHouse.open(service);
    const catalog = new CatalogFixture(service.dataSource);
    const siteId = await catalog.site(house.haulerId);
    const materials = [house.material({ id: await catalog.material(house.haulerId, { siteId }) })];
    const bodies: [ScaleHouse, Record<string, unknown>][] = [
      [house, house.ticket({ inboundFlow: flow('N-1') })],
      [house, house.ticket({ outboundFlow: flow('N-1') })],
      [house, { siteId, materials, inboundFlow: flow('N-1'), outboundFlow: flow('N-2') }],
      [other, other.ticket({ inboundFlow: flow('N-1') })],
      [house, house.ticket()],
    ];
    const ids: string[] = [];
    for (const [at, body] of bodies) ids.push((await at.push(body)).body.disposalTicketId);
    const of = (...indexes: number[]) => indexes.map((i) => ids[i]);
    const found = async (query: string) => (await list(query)).data.map(({ id }) => id);
    expect(await found('pageSize=5')).toEqual(of(4, 3, 2, 1, 0));
    expect(await found(`haulerId=${house.haulerId}`)).toEqual(of(4, 2, 1, 0));
    expect(await found(`siteId=${house.siteId.toUpperCase()}`)).toEqual(of(4, 1, 0));
    expect(await found('ticketNumber=N-1')).toEqual(of(3, 2, 1, 0));
    expect(await found('ticketNumber=N-2')).toEqual(of(2));
    expect(await found(`ticketNumber=N-1&haulerId=${house.haulerId}&siteId=${siteId}`)).toEqual(of(2));
    expect(await found(`ticketNumber=n-1`)).toEqual([]);
    expect(await found(`search=n-2&haulerId=${house.haulerId}&siteId=${siteId}`)).toEqual(of(2));
    expect(await found(`search=-1&haulerId=${house.haulerId}&siteId=${siteId}`)).toEqual(of(2));
    for (const term of ['%25', '_-2', '*']) expect(await found(`search=${term}`)).toEqual([]);
    expect(await found(`haulerId=${randomUUID()}`)).toEqual([]);
    const paged = await list(`haulerId=${house.haulerId}&page=2&pageSize=3`);
    expect(paged.data.map(({ id }) => id)).toEqual(of(0));
    expect(paged.pagination).toMatchObject({ page: 2, pageSize: 3, totalItems: 4, totalPages: 2 });
    expect((await list(`haulerId=${house.haulerId}&page=1000000000&pageSize=100`)).data).toEqual([]);
  });

  test('finds a part of the name of a material, and no other text of it', async () => {
    const house = await ScaleHouse.open(service);
    const names = ['Clean "crushed" concrete', 'Béton (2-4 mm) 50 %', 'Tyres'];
    const ids: string[] = [];
    for (const name of names) {
      const materials = [house.material(), house.material({ name, unitOfMeasure: 'Pound' })];
      ids.push((await house.push(house.ticket({ materials }))).body.disposalTicketId);
    }
    const found = async (material: string) => {
      const query = new URLSearchParams({ haulerId: house.haulerId, material });
      return (await list(query.toString())).data.map(({ id }) => ids.indexOf(id));
    };
    expect(await found('CRUSHED" con')).toEqual([0]);
    expect(await found('béton (2-4')).toEqual([1]);
    expect(await found('0 %')).toEqual([1]);
    expect(await found('re')).toEqual([2, 0]);
    for (const other of ['pound', 'materials', '.*', '\\', 'name', house.siteId])
      expect(await found(other)).toEqual([]);
  });

  test('filters by the time received; a + that arrived as a blank is read as +', async () => {
    const house = await ScaleHouse.open(service);
    const ids: string[] = [];
    const times: string[] = [];
    for (let i = 0; i < 3; i++) {
      const { body } = await house.push(house.ticket());
      ids.push(body.disposalTicketId);
      times.push((await house.stored(body.disposalTicketId)).createdAt);
    }
    const found = async (query: string) => (await list(`haulerId=${house.haulerId}&${query}`)).data.map(({ id }) => id);
    expect(await found(`from=${times[1]}`)).toEqual([ids[2], ids[1]]);
    expect(await found(`to=${times[1]}`)).toEqual([ids[0]]);
    expect(await found(`from=${times[0]}&to=${times[2]}`)).toEqual([ids[1], ids[0]]);
    const justAfter = (times[1] ?? '').replace(
      /(\.\d{3})?Z$/,
      (fraction) => `${fraction === 'Z' ? '.000' : fraction.slice(0, 4)}001Z`,
    );
    expect(await found(`from=${justAfter}`)).toEqual([ids[2]]);
    expect(await found(`to=${justAfter}`)).toEqual([ids[1], ids[0]]);
    expect(await found('from=2000-01-01T00:00:00+02:00&to=0001-01-01T00:00:00Z')).toEqual([]);
    expect(await found('to=9999-12-31T23:59:59Z')).toHaveLength(3);
  });
});

interface RevisionPage {
  readonly data: StoredRevision[];
  readonly pagination: object;
}
let house: ScaleHouse;
beforeAll(async () => {
  house = await ScaleHouse.open(service);
});
afterEach(() => void jest.restoreAllMocks());

const flowAt = (second: number, ticketNumber: string) => ({
  inboundFlow: { ticketNumber, updatedAt: new Date(Date.UTC(2026, 0, 31, 8, 0, second)).toISOString() },
});

/** Text of that many bytes, which has half as many characters. */
const text = (bytes: number) => 'ß'.repeat(bytes / 2);

/** Pushes one ticket several times, each with an unknown field of more than that many bytes. Returns the ticket's id. */
async function pushes(count: number, bytes: number): Promise<string> {
  let id = '';
  for (let i = 1; i <= count; i++)
    id = (await house.push(house.ticket({ ...flowAt(i, 'large'), p: `${i}-${text(bytes)}` }))).body.disposalTicketId;
  return id;
}

/** Returns the bytes of text that each query has returned since the call. */
function bytesRead(): () => Promise<number[]> {
  const find = jest.spyOn(service.dataSource.manager, 'find');
  return async () => {
    const results = await Promise.all(find.mock.results.map(({ value }) => value as Promise<object[]>));
    return results.map((rows) => Buffer.byteLength(JSON.stringify(rows)));
  };
}

describe('stored JSON is returned unchanged', () => {
  /** No JSON parser and serialiser would write it like this. */
  const ODD = '{ "a" : [1e309, -0, 1.0, 12345678901234567890, 1E5],\n\t"a" : "\\u0041\\/", "__proto__":{ } }';

  test('for a push, without its byte order mark', async () => {
    const sent = `${JSON.stringify(house.ticket(flowAt(0, 'odd'))).slice(0, -1)} , "p":${ODD} }`;
    const id = (await house.push(`\ufeff${sent}`)).body.disposalTicketId;
    const { text, headers } = await service.admin('GET', `/tickets/${id}/revisions`);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(text).toContain(`"body":${sent},"changes":`);
    expect(text).not.toContain('\ufeff');
    expect(() => JSON.parse(text) as unknown).not.toThrow();
  });

  test('for the contents of a ticket, alone and in a list', async () => {
    const body = JSON.stringify(house.ticket({ customFields: { a: '1' } })).replace('12.5', '-0');
    const id = (await house.push(body)).body.disposalTicketId;
    const { materials, customFields } = { materials: '[ 1e309 ]', customFields: '{ "n" : 12345678901234567890 }' };
    await service.dataSource.query('UPDATE tickets SET materials = $1, custom_fields = $2 WHERE id = $3', [
      materials,
      customFields,
      id,
    ]);
    for (const path of [`/tickets/${id}`, `/tickets?haulerId=${house.haulerId}&pageSize=1`]) {
      const { text, headers } = await service.admin('GET', path);
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(text).toContain(`"materials":${materials},"customFields":${customFields},"createdAt":"`);
    }
  });
});

describe('a large page', () => {
  const BYTES = 400_000;
  let id: string;
  beforeAll(async () => {
    id = await pushes(6, BYTES);
  });

  test('is complete and in order, and never in memory as a whole', async () => {
    const read = bytesRead();
    const { body } = await service.admin<RevisionPage>('GET', `/tickets/${id}/revisions`);
    expect(body.data.map(({ revision, body: { p } }) => [revision, String(p).slice(0, 2)])).toEqual(
      [1, 2, 3, 4, 5, 6].map((n) => [n, `${n}-`]),
    );
    expect(body.pagination).toMatchObject({ page: 1, pageSize: 20, totalItems: 6, totalPages: 1 });
    const pieces = await read();
    expect(pieces).toHaveLength(3);
    for (const bytes of pieces) expect(bytes).toBeLessThan(MAX_CHUNK_BYTES);
  });

  test('of tickets is read in parts by the size of its rows', async () => {
    const other = await ScaleHouse.open(service);
    const large = JSON.stringify([text(600_000)]);
    const ids: string[] = [];
    for (const [materials, customFields] of [
      [large, null],
      ['[]', large],
      [large, null],
    ]) {
      const { disposalTicketId } = (await other.push(other.ticket())).body;
      ids.unshift(disposalTicketId);
      await service.dataSource.query('UPDATE tickets SET materials = $1, custom_fields = $2 WHERE id = $3', [
        materials,
        customFields,
        disposalTicketId,
      ]);
    }
    const read = bytesRead();
    const { body } = await service.admin<{ data: { id: string }[] }>('GET', `/tickets?haulerId=${other.haulerId}`);
    expect(body.data.map((ticket) => ticket.id)).toEqual(ids);
    expect(await read()).toHaveLength(3);
  });

  test('is in order, whatever the order of its rows in the table', async () => {
    // The first row is the last of the table now.
    await service.dataSource.query(
      'UPDATE ticket_revisions SET result = result WHERE ticket_id = $1 AND revision = 1',
      [id],
    );
    const env = { DATABASE_URL: service.env.DATABASE_URL, DATABASE_POOL: 1 };
    const own = await new DataSource(createDataSourceOptions(new Database(env))).initialize();
    try {
      for (const scan of ['indexscan', 'indexonlyscan', 'bitmapscan']) await own.query(`SET enable_${scan} = off`);
      const { data } = await new TicketQueries(own).revisions(id, {});
      const read: StoredRevision[] = [];
      for await (const element of data) read.push(JSON.parse(element) as StoredRevision);
      expect(read.map(({ revision }) => revision)).toEqual([1, 2, 3, 4, 5, 6]);
    } finally {
      await own.destroy();
    }
  });

  test('is read no faster than its caller reads it', async () => {
    const { data } = await service.app.get(TicketQueries).revisions(id, {});
    const read = bytesRead();
    const elements = data[Symbol.asyncIterator]();
    await elements.next();
    await elements.next();
    expect(await read()).toHaveLength(1);
    await elements.next();
    expect(await read()).toHaveLength(2);
    await elements.return?.();
    expect(await read()).toHaveLength(2);
  });

  test('has no body for HEAD', async () => {
    const reply = await service.admin('HEAD', `/tickets/${id}/revisions`);
    expect([reply.status, reply.text, reply.headers.get('content-type')]).toEqual([
      200,
      '',
      'application/json; charset=utf-8',
    ]);
  });

  test('is 500 if the database fails at its first row, and breaks off at a later one', async () => {
    const { manager } = service.dataSource;
    const find = manager.find.bind(manager);
    const away = Object.assign(new Error('away'), { code: '57P01' });
    jest.spyOn(manager, 'find').mockRejectedValueOnce(away);
    expect((await service.admin('GET', `/tickets/${id}/revisions`)).status).toBe(503);
    jest.spyOn(manager, 'find').mockImplementationOnce(find).mockRejectedValueOnce(away);
    await expect(service.admin('GET', `/tickets/${id}/revisions`)).rejects.toThrow();
  });
});
