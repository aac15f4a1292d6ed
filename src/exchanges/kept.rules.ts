import type { Admission } from './exchange-budget.js';
import type { ExchangeRecord, Standing } from './exchange-record.js';

/** What is stored of an exchange besides its line. */
export interface Kept {
  readonly request: boolean;
  readonly answer: boolean;
  /** Whole headers and path, or the beginning of them: a caller without a key can make them as long as it likes. */
  readonly headers: 'whole' | 'short';
}

/** What became of an exchange. `stored`: a push that became a revision of a ticket, which has its body. `unanswered`: nothing was sent. */
export type Happened = 'answered' | 'stored' | 'unanswered';

const WHOLE = { request: true, answer: true, headers: 'whole' } as const;
const LINE = { request: false, answer: false, headers: 'whole' } as const;
const SHORT = { request: false, answer: false, headers: 'short' } as const;

/** Who called × what happened → what is stored (decision 58). `limited` is `known` when the day's limit is near. */
const KEPT: Readonly<Record<Standing | 'limited', Readonly<Record<Happened, Kept>>>> = {
  known: { answered: WHOLE, stored: { ...WHOLE, request: false }, unanswered: { ...WHOLE, answer: false } },
  limited: { answered: LINE, stored: LINE, unanswered: LINE },
  unverified: { answered: SHORT, stored: SHORT, unanswered: SHORT },
  keyless: { answered: SHORT, stored: SHORT, unanswered: SHORT },
};

/** `extent` is what the limit of the day allows. */
export function keptOf(
  { standing, status, direction, inRevision }: Pick<ExchangeRecord, 'standing' | 'status' | 'direction' | 'inRevision'>,
  extent: Exclude<Admission, 'dropped'>,
): Kept {
  const who = standing === 'known' && extent === 'line' ? 'limited' : standing;
  if (inRevision) return KEPT[who].stored;
  return KEPT[who][status === 0 && direction === 'inbound' ? 'unanswered' : 'answered'];
}
