import type { FootageFlow, FootageRange, FootageReason } from '../../contracts/admin/footage.dto.js';
import { MAX_PARTNER_ID } from '../../contracts/common/answer-limits.js';
import { formatInstant } from '../../contracts/common/instant.js';
import type { FootageSpan } from '../../vision/footage/missing-clips.rules.js';

/** Shown and requested before and after each weighing. */
export const AROUND_MS = 10 * 60_000;

export interface TicketSpan extends FootageSpan {
  readonly flows: FootageFlow[];
}

/** The time around each weighing until now, oldest first. Times that overlap or touch are one. */
export function spansOf(flows: readonly FootageFlow[], now: number): TicketSpan[] {
  const whole: TicketSpan[] = [];
  for (const flow of flows.toSorted((a, b) => Date.parse(a.time) - Date.parse(b.time))) {
    const time = Date.parse(flow.time);
    const [start, end] = [time - AROUND_MS, time + AROUND_MS];
    const last = whole.at(-1);
    if (last === undefined || last.end < start) whole.push({ start, end, isRunning: false, flows: [flow] });
    else whole[whole.length - 1] = { ...last, end, flows: [...last.flows, flow] };
  }
  return whole
    .filter(({ start }) => start < now)
    .map((span) => ({ ...span, end: Math.min(span.end, now), isRunning: span.end > now }));
}

export const toRangeDto = ({ start, end, flows }: TicketSpan): FootageRange => ({
  startTime: formatInstant(new Date(start)),
  endTime: formatInstant(new Date(end)),
  flows,
});

/** The truck that a custom field names, compared exactly but for blanks around it; undefined where it names none. */
export function truckOf(customFields: Readonly<Record<string, string>>, field: string): string | undefined {
  const truck = Object.hasOwn(customFields, field) ? customFields[field]?.trim() : undefined;
  return truck === undefined || truck === '' || truck.length > MAX_PARTNER_ID ? undefined : truck;
}

/** By what a reason is about: the custom field, and the truck that it names. */
export const FOOTAGE_SENTENCES: Readonly<Record<FootageReason, (field: string, truckId: string) => string>> = {
  notSetUp: () =>
    'The footage of tickets is not set up for this hauler: set which custom field names the truck on the page of the hauler.',
  noTruck: (field) => `The ticket does not name its truck: its custom field ${field} is missing or empty.`,
  noTimes: () => 'The ticket has no inbound and no outbound flow, so that the time of its weighing is not known.',
  future: () => 'The weighings of the ticket are still to come by the clock of this service: nothing is recorded yet.',
  connectionDeleted: () =>
    'The vision connection of the setting was deleted: what is stored can be played, and no clip can be requested.',
  unknownTruck: (field, truckId) =>
    `The partner has sent nothing of the truck ${truckId} so far. Compare the custom field ${field} with the names of the trucks; upper and lower case differ.`,
  noCamera: (_field, truckId) =>
    `No camera of the truck ${truckId} is known: name the cameras in the setting of the hauler to request clips.`,
};

/** For these a clip cannot be requested. A truck that is unknown may still have footage at its partner. */
export const isBlocking = (reason: FootageReason): boolean => reason !== 'unknownTruck';
