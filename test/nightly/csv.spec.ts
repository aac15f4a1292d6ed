import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { startTestApp, type TestApp } from '../support/app.js';
import { insertTickets, withoutTable } from '../support/rows.js';
import { ScaleHouse } from '../support/scale-house.js';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
const requests: ClientRequest[] = [];
afterAll(async () => {
  for (const request of requests) request.destroy();
  await service.close();
});

const headers = (accept = 'text/csv') => ({ Authorization: `Bearer ${service.env.ADMIN_TOKEN}`, Accept: accept });
const csv = (path: string, accept?: string) =>
  service.call<string>('GET', `/admin/v1${path}`, { headers: headers(accept) });
type Row = Readonly<Record<string, string>>;
const rowsOf = (answer: string): Row[] => parse(answer, { columns: true, bom: true });

/** The response as it arrives. */
async function open(path: string): Promise<IncomingMessage> {
  const request = get(`${service.url}/admin/v1${path}`, { headers: headers(), agent: false });
  requests.push(request);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response.pause();
}

describe('Accept: text/csv', () => {
  test('a ticket has a row for each material, with numbers as they were sent and texts that run as no formula', async () => {
    const other = await ScaleHouse.open(service);
    const names = [
      '=HYPERLINK("x")',
      '+1 2',
      '-2+3',
      '@SUM(A1)',
      '\tcell',
      '\rcell',
      '＝1',
      'a;b',
      'a\nb',
      'a"b,c',
      ' a ',
      'é',
      '-12.5',
    ];
    const materials = names.map((name, i) =>
      other.material({ name, quantity: -12.5e-9 * (i + 1), unitPriceCents: 1e21 }),
    );
    const { body } = await other.push(
      other.ticket({
        materials,
        customFields: { truck: '=1', 'a.b': '2' },
        inboundFlow: { ticketNumber: '-7', updatedAt: '2026-01-31T08:30:00.250Z' },
      }),
    );
    const rows = rowsOf((await csv(`/tickets?haulerId=${other.haulerId}`)).text);
    expect(rows.map((row) => row['materials.name'])).toEqual([
      ...names.slice(0, 7).map((name) => `'${name}`),
      ...names.slice(7),
    ]);
    expect(rows.map((row) => Number(row['materials.quantity']))).toEqual(names.map((_, i) => -12.5e-9 * (i + 1)));
    expect(rows[0]).toMatchObject({
      id: body.disposalTicketId,
      'inboundFlow.ticketNumber': '-7',
      'inboundFlow.updatedAt': '2026-01-31T08:30:00.250Z',
      'outboundFlow.ticketNumber': '',
      'materials.unitPriceCents': '1e+21',
      customFields: '{"a.b":"2","truck":"=1"}',
    });
  });
});

describe('a long list', () => {
  const COUNT = 12_000;
  let long: ScaleHouse;
  beforeAll(async () => {
    long = await ScaleHouse.open(service);
    // Some megabytes, so that they do not fit into the buffers of a connection.
    await insertTickets(service, long, [long.material({ name: 'x'.repeat(2_000) })], COUNT);
  });

  test('breaks off when an error happens in the middle, so that no short file looks complete', async () => {
    const response = await open(`/tickets?haulerId=${long.haulerId}`);
    expect(response.statusCode).toBe(200);
    await withoutTable(service, 'tickets', async () => {
      await expect(text(response)).rejects.toThrow('aborted');
      expect(response.complete).toBe(false);
    });
  });
});
