import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { readerOf } from '../../../src/contracts/common/fields/field.js';
import { CreateScaleTicketRequest } from '../../../src/contracts/scale/scale.dto.js';
import { Batcher } from '../../../src/database/batcher.js';
import { applyPush } from '../../../src/scale/ticket.rules.js';
import { type Ticket, toPush } from '../../../src/scale/ticket.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { anyPushes, at, flow, type PushParts, pushesOfOneTicket } from './pushes.js';
import { ScaleHouse } from '../../support/scale-house.js';

let service: TestApp;
let second: TestApp;
let house: ScaleHouse;
beforeAll(async () => {
  service = await startTestApp();
  second = await startTestApp({ on: service });
});
beforeEach(async () => {
  house = await ScaleHouse.open(service);
});
afterAll(async () => {
  await second.close();
  await service.close();
});

const body = ({ inbound, outbound, contents }: PushParts) =>
  house.ticket({ inboundFlow: inbound, outboundFlow: outbound, customFields: { contents: contents ?? 'C' } });

/** Sends all pushes at once, alternating between both instances. */
const pushAll = (parts: readonly PushParts[]) =>
  Promise.all(parts.map((part, i) => house.push(body(part), {}, i % 2 === 0 ? service : second)));

const resultsOf = (replies: Awaited<ReturnType<typeof pushAll>>) =>
  replies.map((reply) => reply.headers.get('Ticket-Result') ?? String(reply.status));

interface Row {
  readonly id: string;
  readonly revision: number;
  readonly inbound_number: string | null;
  readonly outbound_number: string | null;
  readonly custom_fields: string;
  readonly version: string | null;
  readonly bodies: { revision: number; result: string; body: string }[];
}

const rows = () =>
  service.dataSource.query<Row[]>(
    `SELECT id, revision, inbound_number, outbound_number, custom_fields,
            to_char(contents_version AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS version,
            (SELECT json_agg(r ORDER BY r.revision) FROM ticket_revisions r WHERE r.ticket_id = t.id) AS bodies
       FROM tickets t WHERE hauler_id = $1`,
    [house.haulerId],
  );

/** The state that the rules give to a ticket with this history. */
function replay(bodies: Row['bodies']): Ticket {
  let ticket: Ticket | undefined;
  bodies.forEach(({ body: text, result, revision }, i) => {
    expect(revision).toBe(i + 1);
    const request = readerOf(CreateScaleTicketRequest)(JSON.parse(text), '', []);
    // A ticket that matched one flow may not have had the other: the rules merge them.
    const applied = applyPush({ inbound: ticket }, toPush(request, house.haulerId, text));
    if ('conflict' in applied) throw new Error('one ticket cannot conflict');
    expect(applied.result).toBe(result);
    ticket = applied.ticket;
  });
  if (ticket === undefined) throw new Error('a ticket without a history');
  return ticket;
}

function expectHistory(row: Row): void {
  const ticket = replay(row.bodies);
  expect({
    revision: row.revision,
    version: row.version,
    customFields: row.custom_fields,
    inbound: row.inbound_number,
    outbound: row.outbound_number,
  }).toEqual({
    revision: ticket.revision,
    version: ticket.version,
    customFields: ticket.contents.customFields,
    inbound: ticket.flows.inbound?.ticketNumber ?? null,
    outbound: ticket.flows.outbound?.ticketNumber ?? null,
  });
}

describe('concurrent pushes on two instances (decision 26)', () => {
  test('100 of one flow: one ticket in the newest state, one push created it', async () => {
    const parts = Array.from({ length: 100 }, (_, i) => ({
      inbound: flow('A', (i * 37) % 100),
      contents: `of ${(i * 37) % 100}`,
    }));
    const replies = await pushAll(parts);
    expect(new Set(replies.map((reply) => reply.body.disposalTicketId)).size).toBe(1);
    const results = resultsOf(replies);
    expect(results.filter((result) => result === 'created')).toHaveLength(1);
    expect(results.every((result) => ['created', 'updated', 'stale'].includes(result))).toBe(true);
    const [row, ...more] = await rows();
    expect(more).toEqual([]);
    expect(row).toMatchObject({ revision: 100, version: at(99), custom_fields: '{"contents":"of 99"}' });
    expectHistory(row as Row);
  });

  test('100 times the same push: one creates the ticket, the others change nothing', async () => {
    const replies = await pushAll(
      Array.from({ length: 100 }, () => ({ inbound: flow('A', 1), outbound: flow('X', 1) })),
    );
    const results = resultsOf(replies).sort();
    expect(results).toEqual(['created', ...Array.from({ length: 99 }, () => 'unchanged')]);
    expect(await rows()).toMatchObject([{ revision: 1 }]);
  });

  test('100 without a flow: 100 tickets', async () => {
    const results = resultsOf(await pushAll(Array.from({ length: 100 }, () => ({}))));
    expect(results.every((result) => result === 'created')).toBe(true);
    expect(await house.count()).toBe(100);
  });

  test('pushes that create one ticket by both its flows create one ticket with both', async () => {
    await pushAll([{ inbound: flow('A', 1), outbound: flow('X', 1), contents: 'first' }]);
    await pushAll(
      Array.from({ length: 60 }, (_, i) =>
        i % 2 === 0
          ? { inbound: flow('A', i + 2), contents: `${i}` }
          : { outbound: flow('X', i + 2), contents: `${i}` },
      ),
    );
    const [row] = await rows();
    expect(row).toMatchObject({ inbound_number: 'A', outbound_number: 'X', custom_fields: '{"contents":"59"}' });
    expectHistory(row as Row);
  });

  test('pushes of one ticket give the same state in any order', async () => {
    await fc.assert(
      fc.asyncProperty(pushesOfOneTicket, async (parts) => {
        house = await ScaleHouse.open(service);
        await pushAll(parts);
        const newest = (values: { updatedAt: string; of: string }[]) =>
          values.reduce((a, b) => (b.updatedAt > a.updatedAt ? b : a), { updatedAt: '', of: '' }).of;
        const [row, ...more] = await rows();
        expect(more).toEqual([]);
        expect(row?.outbound_number ?? '').toBe(
          newest(parts.flatMap(({ outbound }) => (outbound ? [{ ...outbound, of: outbound.ticketNumber }] : []))),
        );
        const contents = newest(
          parts.flatMap(({ inbound, outbound, contents = '' }) =>
            [inbound, outbound].flatMap((one) => (one ? [{ ...one, of: contents }] : [])),
          ),
        );
        expect(row?.custom_fields).toBe(JSON.stringify({ contents }));
      }),
      { numRuns: 40 },
    );
  });

  test('any pushes: no flow twice, every response in the history, every state as its history gives', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyPushes, { minLength: 1, maxLength: 3 }), async (rounds) => {
        house = await ScaleHouse.open(service);
        const results: string[] = [];
        for (const parts of rounds) results.push(...resultsOf(await pushAll(parts)));
        expect(
          results.filter((result) => !['created', 'updated', 'stale', 'unchanged', '422'].includes(result)),
        ).toEqual([]);
        const tickets = await rows();
        for (const ticket of tickets) expectHistory(ticket);
        const kept = results.filter((result) => ['created', 'updated', 'stale'].includes(result)).sort();
        expect(tickets.flatMap(({ bodies }) => bodies.map(({ result }) => result)).sort()).toEqual(kept);
        for (const numbers of [tickets.map((row) => row.inbound_number), tickets.map((row) => row.outbound_number)]) {
          const held = numbers.filter((number) => number !== null);
          expect(new Set(held).size).toBe(held.length);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('numbers that change hands during concurrent pushes (decisions 20, 26)', () => {
  const numbered = (ticketNumber: string | undefined, second: number) =>
    ticketNumber === undefined
      ? undefined
      : { ticketNumber, updatedAt: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z` };

  /** Pushes the given flows; the quantity is the second, so that contents differ too. */
  async function push(inbound: string | undefined, outbound: string | undefined, second: number): Promise<string> {
    const { status, headers } = await house.push(
      house.ticket({
        inboundFlow: numbered(inbound, second),
        outboundFlow: numbered(outbound, second),
        materials: [house.material({ quantity: second })],
      }),
    );
    return `${status} ${headers.get('ticket-result')}`;
  }

  /** In this order and in one batch: the test blocks the two batches that may run, and the pushes wait for the next one. */
  async function inOneBatch(...pushes: readonly Parameters<typeof push>[]): Promise<string[]> {
    const submit = jest.spyOn(Batcher.prototype, 'submit');
    const results: Promise<string>[] = [];
    const heldUp: Parameters<typeof push>[] = [
      ['F', 'FX', 1],
      ['G', 'GX', 1],
    ];
    await service.dataSource.transaction(async (manager) => {
      await manager.query('LOCK TABLE tickets IN EXCLUSIVE MODE');
      for (const each of [...heldUp, ...pushes]) {
        results.push(push(...each));
        await eventually(() => expect(submit).toHaveBeenCalledTimes(results.length));
      }
    });
    submit.mockRestore();
    return (await Promise.all(results)).slice(heldUp.length);
  }

  test('one push renames a flow, another takes the released number', async () => {
    const tickets = Array.from({ length: 40 }, (_, i) => i);
    for (const i of tickets) await push(`A${i}`, `X${i}`, 1);
    for (let round = 0; round < 3; round++) {
      const results = await Promise.all(
        tickets.flatMap((i) => [
          push(`B${round}-${i}`, `X${i}`, 2 + round),
          push(round === 0 ? `A${i}` : `B${round - 1}-${i}`, undefined, 20),
        ]),
      );
      expect(results.filter((result) => !result.startsWith('200 '))).toEqual([]);
    }
  });

  test('two tickets exchange a number through a third one', async () => {
    await push('P', 'PX', 1);
    await push('Q', 'QX', 1);
    expect(await inOneBatch(['R', 'PX', 2], ['P', 'QX', 2], ['Q', 'PX', 3])).toEqual(
      Array.from({ length: 3 }, () => '200 updated'),
    );
  });
});
