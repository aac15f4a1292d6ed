import { epochMillis, type Instant } from '../contracts/common/instant.js';

/** A range of time to the microsecond, as the contracts and the rows have it. */
export interface Range {
  readonly startTime: Instant;
  readonly endTime: Instant;
}

/** A range of time in milliseconds since the epoch, the end excluded. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export const spanOf = ({ startTime, endTime }: Range): Span => ({
  start: epochMillis(startTime),
  end: epochMillis(endTime),
});

export const lengthMs = ({ start, end }: Span): number => end - start;

/** How long two spans are in common; negative where they are apart. */
export const overlap = (one: Span, other: Span): number =>
  Math.min(one.end, other.end) - Math.max(one.start, other.start);

/** What is left of `span` outside of `other`. */
export function without(span: Span, other: Span): Span[] {
  if (overlap(span, other) <= 0) return [span];
  return [
    { start: span.start, end: other.start },
    { start: other.end, end: span.end },
  ].filter((rest) => rest.start < rest.end);
}

/** What is left of `span` outside of all `others`, in any order. */
export const gaps = (span: Span, others: readonly Span[]): Span[] =>
  others.reduce<Span[]>((left, other) => left.flatMap((each) => without(each, other)), [span]);
