import { describe, expect, test } from '@jest/globals';
import { canRetry } from '../../../src/scale/ticket.repository.js';
import { DIRECTIONS, type Push, type Revision, type Ticket } from '../../../src/scale/ticket.js';
import { changesOf } from '../../../src/scale/ticket-changes.rules.js';
import { applyPush, BatchState } from '../../../src/scale/ticket.rules.js';
import fc from '../../support/fast-check.js';
import { anyPushes, flow, push } from './pushes.js';

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
        changes: result === 'created' ? null : changesOf((inbound ?? outbound) as Ticket, ticket),
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
});

test.each([
  ['a deadlock', { code: '40P01' }, true],
  ['a serialization failure', { code: '40001' }, true],
  ['a missing prepared statement', { code: '26000' }, true],
  ['an existing prepared statement', { code: '42P05' }, true],
  ['another constraint', { code: '23505', constraint: 'other' }, false],
  ['any other error', {}, false],
])('a batch after %s with the fields %j is tried again: %s', (_, fields, isRetried) =>
  expect(canRetry(Object.assign(new Error('x'), fields))).toBe(isRetried),
);
