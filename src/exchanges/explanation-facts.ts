import { REPLAYED_HEADER } from '../contracts/common/idempotency.js';
import { formatInstant } from '../contracts/common/instant.js';
import { shownReferences } from './exchange-references.rules.js';
import type { FullExchangeRow } from './exchanges.repository.js';
import { REPLAYED_REFUSAL } from './explanation.rules.js';

/** The push whose contents are in force where a later one was stale. */
export interface WonPush {
  readonly receivedAt: Date;
  readonly keyPrefix: string | undefined;
  /** The newest `updatedAt` of its flows. */
  readonly version: string | undefined;
}

/** A push that named a ticket. */
export interface TicketPush {
  readonly haulerId: string;
  readonly ticketId: string;
  readonly exchangeId: string;
}

/** What the module of tickets knows about pushes. */
export interface StoredPushes {
  /** The body of a push that became a revision, as it was sent. */
  bodyOf(haulerId: string, ticketId: string, exchangeId: string): Promise<string | undefined>;
  /** The pushes whose contents were in force when stale ones came, by the exchange of the stale one (decision 21). */
  wonOver(pushes: readonly TicketPush[]): Promise<ReadonlyMap<string, WonPush>>;
}

const OVERRULED = 'Nothing is left to do; if this push is the right one, send it again with a newer updatedAt.';

type Answered = Pick<FullExchangeRow, 'id' | 'refs' | 'hauler_id' | 'status' | 'result' | 'response_headers'>;

/** By exchange, whether a refusal was a replay, and what won over a stale push, also one whose answer was lost. */
export async function factsOf(
  rows: readonly Answered[],
  pushes: StoredPushes | undefined,
): Promise<ReadonlyMap<string, string[]>> {
  const stale = rows.flatMap((row): TicketPush[] => {
    const ticketId = row.result === 'stale' ? ticketIdIn(row) : undefined;
    return ticketId === undefined || row.hauler_id === null
      ? []
      : [{ haulerId: row.hauler_id, ticketId, exchangeId: row.id }];
  });
  const won = stale.length === 0 ? undefined : await pushes?.wonOver(stale);
  return new Map(
    rows.map((row) => {
      if (row.status >= 400 && isReplay(row.response_headers)) return [row.id, [REPLAYED_REFUSAL]];
      return [row.id, wonSentences(won?.get(row.id))];
    }),
  );
}

function wonSentences(won: WonPush | undefined): string[] {
  if (won === undefined) return [];
  const contents = won.version === undefined ? 'Newer contents' : `The contents of ${won.version}`;
  const key = won.keyPrefix === undefined ? '' : ` with the key ${won.keyPrefix}…`;
  return [`${contents} won: they were pushed${key} at ${formatInstant(won.receivedAt)}.`, OVERRULED];
}

export const ticketIdIn = ({ refs }: Pick<FullExchangeRow, 'refs'>): string | undefined =>
  shownReferences(refs).find(({ kind }) => kind === 'ticketId')?.value;

const isReplay = (headers: string | null): boolean =>
  Object.keys(JSON.parse(headers ?? '{}') as object).some(
    (name) => name.toLowerCase() === REPLAYED_HEADER.toLowerCase(),
  );
