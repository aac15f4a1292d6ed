import { SYNC_KINDS, type SyncKind } from '../../contracts/admin/sync.values.js';
import { formatInstant } from '../../contracts/common/instant.js';

/** A list that an answer did not have, although records of it are stored. An absent list changes nothing (decision 35). */
export interface AbsentList {
  /** When the first run in a row without it ended its reading, in RFC 3339. */
  readonly since: string;
  readonly runs: number;
  /** Active records, which stay as they are. */
  readonly records: number;
}

export type AbsentLists = Partial<Readonly<Record<SyncKind, AbsentList>>>;

/** A release that renames its lists is noticed from this run in a row on. One or two answers may be half made. */
export const NOTICED_RUNS = 3;

/** The lists that an answer does not have, after those of the run before. */
export function absentLists(before: AbsentLists, records: Partial<Record<SyncKind, number>>, now: Date): AbsentLists {
  return Object.fromEntries(
    SYNC_KINDS.flatMap((kind) => {
      const count = records[kind] ?? 0;
      const { since = now.toISOString(), runs = 0 } = before[kind] ?? {};
      return count === 0 ? [] : [[kind, { since, runs: runs + 1, records: count }]];
    }),
  );
}

/** The kinds that somebody should look at. */
export const noticedLists = (absent: AbsentLists | null): readonly (readonly [SyncKind, AbsentList])[] =>
  SYNC_KINDS.flatMap((kind) => {
    const list = absent?.[kind];
    return list !== undefined && list.runs >= NOTICED_RUNS ? [[kind, list] as const] : [];
  });

/** `The answer has had no sites since 2026-11-20T14:03:27Z, in 3 runs: 24 stored sites stay as they are.` */
export function absentSentence(kind: SyncKind, { since, runs, records }: AbsentList): string {
  const start = formatInstant(new Date(since));
  return `The answer has had no ${kind} since ${start}, in ${runs} runs: ${records} stored ${kind} stay as they are.`;
}
