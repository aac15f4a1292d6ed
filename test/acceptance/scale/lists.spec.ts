import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { idOf, material, site } from '../../support/site-data.js';
import { flow, Hauler, type Plain, TICKET } from '../support/hauler.js';
import { admin, listed } from '../support/target.js';

interface Ticket extends Plain {
  readonly id: string;
  readonly createdAt: string;
}

let hauler: Hauler;
/** In the order in which they were pushed. */
const ids: string[] = [];
const NAMES = ['Clean "crushed" concrete', 'Béton (2-4 mm) 50 %', 'Tyres'];
beforeAll(async () => {
  hauler = await Hauler.create({
    sites: {
      sites: [site('yard'), site('pit')],
      materials: [material('debris', { siteId: idOf('yard') }), material('sand', { siteId: idOf('pit') })],
    },
  });
  const [line] = TICKET.materials;
  const named = NAMES.map((name, i) => ({
    materials: [{ ...line, unitOfMeasure: 'Pound', name }],
    ...(i === 0 ? { inboundFlow: flow('N-1') } : {}),
    ...(i === 1 ? { outboundFlow: flow('N-1') } : {}),
  }));
  const atThePit = {
    siteId: idOf('pit'),
    materials: [{ ...line, id: idOf('sand') }],
    inboundFlow: flow('N-3'),
    outboundFlow: flow('N-2'),
  };
  for (const ticket of [...named, atThePit]) ids.push((await hauler.push(ticket)).body.disposalTicketId);
});

const tickets = (query: Record<string, string>) =>
  listed<Ticket>(`/tickets?${new URLSearchParams({ haulerId: hauler.id, ...query }).toString()}`);
const found = async (query: Record<string, string>) => (await tickets(query)).map(({ id }) => ids.indexOf(id));

describe('the list of tickets', () => {
  test('has the last one first, by each filter and by several', async () => {
    expect(await found({})).toEqual([3, 2, 1, 0]);
    expect(await found({ siteId: idOf('yard').toUpperCase() })).toEqual([2, 1, 0]);
    expect(await found({ ticketNumber: 'N-1' })).toEqual([1, 0]);
    expect(await found({ ticketNumber: 'n-1' })).toEqual([]);
    expect(await found({ search: 'n-2', siteId: idOf('pit') })).toEqual([3]);
    expect(await found({ search: '-1' })).toEqual([1, 0]);
    for (const search of ['%25', '_-2', '*']) expect(await found({ search })).toEqual([]);
    expect(await found({ haulerId: randomUUID() })).toEqual([]);
  });

  test('finds a part of the name of a material, and no other text of it', async () => {
    expect(await found({ material: 'CRUSHED" con' })).toEqual([0]);
    expect(await found({ material: 'béton (2-4' })).toEqual([1]);
    expect(await found({ material: '0 %' })).toEqual([1]);
    for (const other of ['pound', 'materials', '.*', '\\', idOf('debris')]) {
      expect(await found({ material: other })).toEqual([]);
    }
  });

  test('has those of a time, the end excluded, and reads a + that arrived as a blank', async () => {
    const times = (await tickets({})).map(({ createdAt }) => createdAt).reverse();
    expect(await found({ from: times[1] ?? '' })).toEqual([3, 2, 1]);
    expect(await found({ to: times[1] ?? '' })).toEqual([0]);
    expect(await found({ from: times[0] ?? '', to: times[2] ?? '' })).toEqual([1, 0]);
    expect(await found({ to: '9999-12-31T23:59:59Z' })).toHaveLength(4);
    const path = `/tickets?haulerId=${hauler.id}&from=2000-01-01T00:00:00+02:00&to=2000-01-02T00:00:00Z`;
    expect(await admin('GET', path)).toMatchObject({ status: 200, body: { data: [] } });
  });
});

test('a ticket is answered with the fields of its push, its hauler and its times, and without absent fields', async () => {
  const [last] = await tickets({});
  const updatedAt = '2026-01-31T08:00:00Z';
  expect(last).toEqual({
    ...{ id: ids[3], haulerId: hauler.id, siteId: idOf('pit') },
    inboundFlow: { ticketNumber: 'N-3', updatedAt },
    outboundFlow: { ticketNumber: 'N-2', updatedAt },
    materials: [{ ...TICKET.materials[0], id: idOf('sand') }],
    ...{ createdAt: expect.stringMatching(/Z$/), updatedAt: expect.stringMatching(/Z$/) },
  });
});

/** No JSON parser and serialiser would write it like this. */
const ODD = '{ "a" : [1e309, -0, 1.0, 12345678901234567890, 1E5],\n\t"a" : "\\u0041\\/", "__proto__":{ } }';

test('a push is kept and answered as it was sent, without its byte order mark (decision 23)', async () => {
  const sent = `${JSON.stringify({ ...TICKET, inboundFlow: flow('odd') }).slice(0, -1)} , "p":${ODD} }`;
  const headers = { 'PLATFORM-API-KEY': await hauler.key(), 'Content-Type': 'application/json' };
  const url = `${hauler.service.url}/platform-api/v1/tickets`;
  const answer = await fetch(url, { method: 'POST', headers, body: `\ufeff${sent}` });
  const { disposalTicketId } = (await answer.json()) as { disposalTicketId: string };
  const { text, headers: answered } = await admin('GET', `/tickets/${disposalTicketId}/revisions`);
  expect(answered.get('content-type')).toBe('application/json; charset=utf-8');
  expect(text).toContain(`"body":${sent},"changes":`);
  expect(text).not.toContain('\ufeff');
});
