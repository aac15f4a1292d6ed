import { epochMillis, type Instant, instantOf } from '../../contracts/common/instant.js';

export interface Range {
  readonly startTime: Instant;
  readonly endTime: Instant;
}

/** Cuts a range into pieces of at most `minutes` that meet, the last one taking what is left (decision 42). */
export function splitRange({ startTime, endTime }: Range, minutes: number): Range[] {
  const step = minutes * 60_000;
  const pieces: Range[] = [];
  let from = startTime;
  for (let cut = epochMillis(startTime) + step; instantOf(new Date(cut)) < endTime; cut += step) {
    const to = instantOf(new Date(cut));
    pieces.push({ startTime: from, endTime: to });
    from = to;
  }
  return [...pieces, { startTime: from, endTime }];
}
