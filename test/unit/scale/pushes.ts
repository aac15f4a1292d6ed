import fc from '../../support/fast-check.js';
import { instantOf } from '../../../src/contracts/common/instant.js';
import { type Flow, NO_ORIGIN, type Push } from '../../../src/scale/ticket.js';

/** A version: so many microseconds after the start of 2026. */
export function at(microseconds: number): string {
  return `2026-01-01T00:00:00.${String(microseconds).padStart(6, '0')}Z`;
}

export const flow = (ticketNumber: string, microseconds: number): Flow => ({
  ticketNumber,
  updatedAt: at(microseconds),
});

export interface PushParts {
  readonly inbound?: Flow | undefined;
  readonly outbound?: Flow | undefined;
  readonly contents?: string;
  readonly siteId?: string;
}

let count = 0;

export const materialsOf = (contents: string): string => JSON.stringify([contents]);

/** A push that was not applied yet; `contents` stands for its only material. */
export function push({ inbound, outbound, contents = 'C', siteId = 'site' }: PushParts): Push {
  count++;
  return {
    id: `ticket-${count}`,
    haulerId: 'hauler',
    siteId,
    materialIds: [],
    receivedAt: instantOf(new Date(Date.UTC(2027, 0, 1) + count)),
    flows: { inbound, outbound },
    contents: { materials: materialsOf(contents), customFields: null },
    body: JSON.stringify({ inbound, outbound, contents }),
    origin: NO_ORIGIN,
  };
}

/**
 * Pushes of one ticket: all name its inbound flow, some an outbound one, which may be renamed. No two parts are equally
 * new, since among equals the order of arrival counts.
 */
export const pushesOfOneTicket: fc.Arbitrary<PushParts[]> = fc
  .uniqueArray(fc.nat(999), { minLength: 4, maxLength: 12 })
  .chain((times) =>
    fc
      .array(fc.option(fc.constantFrom('X', 'Y', 'Z'), { nil: undefined }), {
        minLength: times.length >> 1,
        maxLength: times.length >> 1,
      })
      .map((numbers) =>
        numbers.map((number, i) => ({
          inbound: flow('A', times[2 * i] ?? 0),
          outbound: number === undefined ? undefined : flow(number, times[2 * i + 1] ?? 0),
          contents: `contents ${i}`,
        })),
      ),
  );

const someFlow = (numbers: string[]) =>
  fc.option(fc.record({ ticketNumber: fc.constantFrom(...numbers), updatedAt: fc.nat(5).map(at) }), {
    nil: undefined,
    freq: 3,
  });

/** Pushes that conflict often: few numbers, few versions, few contents. */
export const anyPushes: fc.Arbitrary<PushParts[]> = fc.array(
  fc.record({
    inbound: someFlow(['A', 'B', 'C']),
    outbound: someFlow(['A', 'X', 'Y']),
    contents: fc.constantFrom('C', 'D'),
    siteId: fc.constantFrom('site', 'other'),
  }),
  { maxLength: 14 },
);
