import { describe, expect, test } from '@jest/globals';
import fc from '../../support/fast-check.js';
import { applyPush } from '../../../src/scale/ticket.rules.js';
import type { Ticket } from '../../../src/scale/ticket.js';
import { at, flow, push, type PushParts, pushesOfOneTicket, materialsOf } from './pushes.js';

function ticketAfter(...parts: PushParts[]): Ticket {
  let ticket: Ticket | undefined;
  for (const part of parts) ticket = apply(ticket, part).ticket;
  if (ticket === undefined) throw new Error('no push');
  return ticket;
}

/** The push matches the ticket through every flow that it names. */
function apply(ticket: Ticket | undefined, parts: PushParts) {
  const matches = {
    inbound: parts.inbound && ticket,
    outbound:
      parts.outbound && ticket?.flows.outbound?.ticketNumber === parts.outbound.ticketNumber ? ticket : undefined,
  };
  const applied = applyPush(matches, push(parts));
  if ('conflict' in applied) throw new Error('unexpected conflict');
  return applied;
}

describe('identity (decision 20)', () => {
  test('no match creates, under the id of the push', () => {
    const pushed = push({ inbound: flow('A', 1), contents: 'C' });
    expect(applyPush({}, pushed)).toEqual({
      result: 'created',
      ticket: {
        id: pushed.id,
        haulerId: 'hauler',
        siteId: 'site',
        revision: 1,
        version: at(1),
        flows: { inbound: flow('A', 1), outbound: undefined },
        contents: pushed.contents,
        createdAt: pushed.receivedAt,
        updatedAt: pushed.receivedAt,
      },
    });
  });

  test('a match through either flow is the same ticket', () => {
    const stored = ticketAfter({ inbound: flow('A', 1), outbound: flow('X', 1) });
    for (const matches of [{ inbound: stored }, { outbound: stored }, { inbound: stored, outbound: stored }]) {
      const applied = applyPush(matches, push({ inbound: flow('A', 2), outbound: flow('X', 2) }));
      expect(applied).toMatchObject({ result: 'updated', ticket: { id: stored.id, revision: 2 } });
    }
  });

  test('two flows that match two tickets are a conflict, however old the push is', () => {
    const [one, two] = [ticketAfter({ inbound: flow('A', 5) }), ticketAfter({ outbound: flow('X', 5) })];
    const pushed = push({ inbound: flow('A', 1), outbound: flow('X', 1) });
    expect(applyPush({ inbound: one, outbound: two }, pushed)).toEqual({ conflict: [one.id, two.id] });
  });

  test('a newer push that matches through one flow renames the other', () => {
    const stored = ticketAfter({ inbound: flow('A', 1), outbound: flow('X', 1) });
    const applied = applyPush({ inbound: stored }, push({ inbound: flow('A', 2), outbound: flow('Y', 2) }));
    expect(applied).toMatchObject({ result: 'updated', ticket: { flows: { outbound: flow('Y', 2) } } });
  });

  test('a flow that is equally new renames: the later arrival counts', () => {
    const stored = ticketAfter({ inbound: flow('A', 1), outbound: flow('X', 1) });
    const applied = applyPush({ inbound: stored }, push({ inbound: flow('A', 1), outbound: flow('Y', 1) }));
    expect(applied).toMatchObject({ result: 'updated', ticket: { flows: { outbound: flow('Y', 1) } } });
  });

  test('an older flow renames nothing, even in a push with newer contents', () => {
    const stored = ticketAfter({ inbound: flow('A', 1), outbound: flow('X', 5) });
    const applied = applyPush({ inbound: stored }, push({ inbound: flow('A', 9), outbound: flow('Y', 2) }));
    expect(applied).toMatchObject({
      ticket: { version: at(9), flows: { inbound: flow('A', 9), outbound: flow('X', 5) } },
    });
  });
});

describe('the two registers (decision 21)', () => {
  const stored = { inbound: flow('A', 5), contents: 'old' };

  test.each<[string, PushParts, string, Partial<Ticket>]>([
    ['newer', { inbound: flow('A', 6), contents: 'new' }, 'updated', { version: at(6) }],
    ['newer, the same contents', { inbound: flow('A', 6), contents: 'old' }, 'updated', { version: at(6) }],
    ['equally new, other contents', { inbound: flow('A', 5), contents: 'new' }, 'updated', { version: at(5) }],
    [
      'older',
      { inbound: flow('A', 4), contents: 'new' },
      'stale',
      { version: at(5), flows: { inbound: flow('A', 5) } },
    ],
    ['older, the same contents', { inbound: flow('A', 4), contents: 'old' }, 'stale', { version: at(5) }],
    ['a microsecond newer', { inbound: flow('A', 6), contents: 'new' }, 'updated', { version: at(6) }],
    [
      'a flow more, older than the contents',
      { inbound: flow('A', 5), outbound: flow('X', 4), contents: 'old' },
      'updated',
      { version: at(5), flows: { inbound: flow('A', 5), outbound: flow('X', 4) } },
    ],
    [
      'late, with a flow that was not known',
      { inbound: flow('A', 3), outbound: flow('X', 4), contents: 'late' },
      'stale',
      { version: at(5), flows: { inbound: flow('A', 5), outbound: flow('X', 4) } },
    ],
  ])('%s', (_what, parts, result, expected) => {
    const applied = apply(ticketAfter(stored), parts);
    expect(applied.result).toBe(result);
    expect(applied.ticket).toMatchObject({ ...expected, revision: 2 });
    expect(applied.ticket.contents.materials).toBe(materialsOf(result === 'updated' ? (parts.contents ?? '') : 'old'));
  });

  test('a part of what is stored, with the same contents, is unchanged too', () => {
    const ticket = ticketAfter({ inbound: flow('A', 3), outbound: flow('X', 7), contents: 'same' });
    expect(apply(ticket, { inbound: flow('A', 3), contents: 'same' }).result).toBe('unchanged');
    expect(apply(ticket, { inbound: flow('A', 3), contents: 'other' }).result).toBe('stale');
  });

  test('updatedAt moves when anything is applied, and not by a push that is kept in the history only', () => {
    const ticket = ticketAfter(stored);
    expect(apply(ticket, { inbound: flow('A', 4), contents: 'x' }).ticket.updatedAt).toBe(ticket.updatedAt);
    const late = apply(ticket, { inbound: flow('A', 4), outbound: flow('X', 1), contents: 'x' }).ticket;
    expect(late.updatedAt > ticket.updatedAt).toBe(true);
    expect(late.createdAt).toBe(ticket.createdAt);
  });

  test.each<[string, PushParts, boolean]>([
    ['moves by equally new contents', { outbound: flow('X', 7), contents: 'new' }, true],
    ['moves by late contents with a newer flow', { inbound: flow('A', 4), contents: 'late' }, true],
    ['stays with late contents and the same flow', { inbound: flow('A', 3), contents: 'late' }, false],
    ['stays with late contents and an older flow', { inbound: flow('A', 2), contents: 'late' }, false],
  ])('updatedAt %s', (_what, parts, moves) => {
    const ticket = ticketAfter({ inbound: flow('A', 3), outbound: flow('X', 7), contents: 'stored' });
    const pushed = push(parts);
    const applied = applyPush({ inbound: parts.inbound && ticket, outbound: parts.outbound && ticket }, pushed);
    const { createdAt, updatedAt } = ticket;
    expect(applied).toMatchObject({ ticket: { createdAt, updatedAt: moves ? pushed.receivedAt : updatedAt } });
  });

  test('whatever the order of arrival, the same state: each register is won by its newest', () => {
    const inOrders = pushesOfOneTicket.chain((parts) =>
      fc.tuple(fc.constant(parts), fc.shuffledSubarray(parts, { minLength: parts.length })),
    );
    fc.assert(
      fc.property(inOrders, ([parts, order]) => {
        const ticket = ticketAfter(...order);
        const newest = <T>(values: T[], time: (value: T) => string) =>
          values.reduce<T | undefined>((a, b) => (a === undefined || time(b) > time(a) ? b : a), undefined);
        const version = ({ inbound, outbound }: PushParts) =>
          [inbound?.updatedAt ?? '', outbound?.updatedAt ?? ''].sort()[1] ?? '';
        const flows = (direction: 'inbound' | 'outbound') => parts.flatMap((part) => part[direction] ?? []);
        const winner = newest(parts, version);
        expect(ticket.contents.materials).toBe(materialsOf(winner?.contents ?? ''));
        expect(ticket.version).toBe(winner && version(winner));
        expect(ticket.flows).toEqual({
          inbound: newest(flows('inbound'), ({ updatedAt }) => updatedAt),
          outbound: newest(flows('outbound'), ({ updatedAt }) => updatedAt),
        });
      }),
      { numRuns: 500 },
    );
  });
});
