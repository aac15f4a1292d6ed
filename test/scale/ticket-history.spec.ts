import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { createDataSourceOptions } from '../../src/database/data-source.js';
import { chunksOf, MAX_CHUNK_BYTES, TicketQueries } from '../../src/scale/ticket-queries.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type StoredRevision, ScaleHouse } from '../support/scale-house.js';

interface Page {
  readonly data: StoredRevision[];
  readonly pagination: object;
}

let service: TestApp;
let house: ScaleHouse;
beforeAll(async () => {
  service = await startTestApp();
  house = await ScaleHouse.open(service);
});
afterAll(() => service.close());
afterEach(() => void jest.restoreAllMocks());

const flow = (second: number, ticketNumber: string) => ({
  inboundFlow: { ticketNumber, updatedAt: new Date(Date.UTC(2026, 0, 31, 8, 0, second)).toISOString() },
});

/** Text of that many bytes, which has half as many characters. */
const text = (bytes: number) => 'ß'.repeat(bytes / 2);

/** Pushes one ticket several times, each with an unknown field of more than that many bytes. Returns the ticket's id. */
async function pushes(count: number, bytes: number): Promise<string> {
  let id = '';
  for (let i = 1; i <= count; i++)
    id = (await house.push(house.ticket({ ...flow(i, 'large'), p: `${i}-${text(bytes)}` }))).body.disposalTicketId;
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
    const sent = `${JSON.stringify(house.ticket(flow(0, 'odd'))).slice(0, -1)} , "p":${ODD} }`;
    const id = (await house.push(`\ufeff${sent}`)).body.disposalTicketId;
    const { text, headers } = await service.admin('GET', `/tickets/${id}/revisions`);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(text).toContain(`"result":"created","body":${sent},"apiKeyId":`);
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
    const { body } = await service.admin<Page>('GET', `/tickets/${id}/revisions`);
    expect(body.data.map(({ revision, body: { p } }) => [revision, String(p).slice(0, 2)])).toEqual(
      [1, 2, 3, 4, 5, 6].map((n) => [n, `${n}-`]),
    );
    expect(body.pagination).toEqual({ page: 1, pageSize: 20, totalItems: 6, totalPages: 1 });
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
    const own = await new DataSource(createDataSourceOptions(env)).initialize();
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

describe('rows that are read together', () => {
  const sizes = (...bytes: number[]) => bytes.map((each, i) => ({ id: i, bytes: each }));

  test.each([
    [[], []],
    [[1, 1, 1], [[0, 1, 2]]],
    [
      [MAX_CHUNK_BYTES, 1, MAX_CHUNK_BYTES - 1, 1],
      [[0], [1, 2], [3]],
    ],
    [
      [3 * MAX_CHUNK_BYTES, 3 * MAX_CHUNK_BYTES],
      [[0], [1]],
    ],
    [[0, MAX_CHUNK_BYTES, 0], [[0, 1, 2]]],
  ])('of %j bytes: %j', (bytes, pieces) => expect(chunksOf(sizes(...bytes))).toEqual(pieces));
});
