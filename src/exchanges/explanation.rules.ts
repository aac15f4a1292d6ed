import type { ExchangeListRow, FullExchangeRow } from './exchanges.repository.js';
import { isJsonObject } from '../contracts/common/json.js';
import { REPLAYED_HEADER } from '../contracts/common/idempotency.js';
import { formatInstant } from '../contracts/common/instant.js';
import { shownReferences } from './references.rules.js';
import { REASONS } from '../contracts/common/error-help.js';
import { RULES } from '../contracts/common/rules.js';
import type { Direction } from './exchange-record.js';

const RESULTS: Readonly<Record<string, string>> = {
  created: 'A new record was created. It is stored, and nothing is left to do.',
  updated:
    'The ticket had been stored before; this push updated it. Its contents are those of this push, and nothing is left to do.',
  stale: 'A newer push of this ticket is stored. This push is kept in the history and changed no contents.',
  unchanged: 'The ticket already had exactly this content. Nothing was written, and nothing is left to do.',
  replayed:
    'The Idempotency-Key was used before: this is the first response again, and nothing was done twice. A new request needs a new key.',
};

export const FAILURES: Readonly<Record<string, string>> = {
  'cut-off':
    'The connection closed before the response was complete. The work may have been committed: send the request again.',
  'timed-out': 'The partner did not respond in time.',
  'address-refused': 'The address is not allowed for outbound calls, and no request was sent.',
  unreachable: 'No connection to the partner could be made.',
  broken: 'The connection broke during the response.',
  'too-large': 'The response was larger than allowed, and was not read to its end.',
  'not-json': 'The response is not JSON.',
  breach: 'The response does not conform to the contract.',
  'circuit-open':
    'The partner failed several times in a row or asked for fewer calls: no request was sent for a while.',
  cancelled: 'The service ended the call, because the work was stopped.',
};

export const STATUSES: Readonly<Record<number, string>> = {
  401: 'The API key was missing, wrong, expired, revoked or issued for another interface. The body was not read.',
  404: 'No route has this path, or the key does not know the named record.',
  405: 'The path exists and takes another method.',
  408: 'The body did not arrive in time. Send the request again.',
  413: 'The body was larger than allowed, and was not read.',
  415: 'The body must be sent as application/json.',
  409: 'What is stored already stands against the request. This call stored nothing.',
  422: 'A business rule refused the request. Nothing was stored.',
  429: 'The key sent too many requests. The body was not read.',
};

/** What a partner's refusal of our call says. */
export const PARTNER_STATUSES: Readonly<Record<number, string>> = {
  401: 'The partner did not accept our API key.',
  404: 'The partner does not know the path or the named record.',
  429: 'The partner asked for fewer calls.',
};

/** A refusal that was returned again; its result is that of the first one. */
const REPLAYED_REFUSAL =
  'The Idempotency-Key was used before: this is the first refusal again. Send a corrected request with a new key.';

/** Sentences about what happened, why, and what to do. `response` is the text of the response; `facts` are further sentences. */
export function explain(row: ExchangeListRow, response: string | undefined, facts: readonly string[] = []): string {
  const sentences = [
    beginning(row),
    failure(row),
    row.result === null ? undefined : RESULTS[row.result],
    ...facts,
    (row.direction === 'inbound' ? STATUSES : PARTNER_STATUSES)[statusOf(row)] ?? statusSentence(row),
    errorMessage(response),
    repetition(row),
    row.ignored_fields === null ? undefined : `Unknown fields were ignored: ${row.ignored_fields}.`,
    row.scenario === null || response?.includes(`scenario ${row.scenario}`) === true
      ? undefined
      : `The sandbox injected the scenario ${row.scenario}.`,
    row.replay_of === null ? undefined : `It repeats exchange ${row.replay_of}.`,
  ];
  return sentences.filter((sentence) => sentence !== undefined).join(' ');
}

/** A decided call is not repeated for its result. */
function failure({ failure, result }: ExchangeListRow): string | undefined {
  if (failure === null) return undefined;
  if (failure === 'cut-off' && result !== null)
    return 'The caller left before the answer was complete; the call was decided.';
  return FAILURES[failure] ?? `It failed: ${failure}.`;
}

function beginning({ direction, method, path, status }: ExchangeListRow): string {
  const [place] = path.split('?');
  const outcome = status === 0 ? 'received no response' : `received ${status}`;
  return `${direction === 'inbound' ? 'The call' : 'Our call'} ${method} ${place} ${outcome}.`;
}

/** Of the answer, or of the one that its caller did not get. */
const statusOf = ({ status, direction, result }: ExchangeListRow): number =>
  status === 0 && direction === 'inbound' ? Number(/^\d{3}(?= )/.exec(result ?? '')?.[0] ?? 0) : status;

/** What the caller of a push does who does not know its result. */
function repetition({ direction, status, result }: ExchangeListRow): string | undefined {
  if (direction === 'outbound' || result === null) return undefined;
  if (status === 0)
    return `The answer would have been: ${result}. Send the same request again if you need it: nothing is stored twice.`;
  if (status < 500 || !Object.hasOwn(RESULTS, result)) return undefined;
  return 'This was decided after the answer had been sent. Send the same request again if you need its result: nothing is stored twice.';
}

function statusSentence(row: ExchangeListRow): string | undefined {
  const { direction, result } = row;
  const status = statusOf(row);
  if (status < 400) return undefined;
  if (direction === 'outbound')
    return status >= 500 ? 'The partner failed. Scheduled work is tried again.' : 'The partner refused the request.';
  if (status < 500) return 'The request was refused. Nothing was stored. Correct the request, and send it again.';
  if (result !== null && Object.hasOwn(RESULTS, result)) return undefined;
  return 'The failure is temporary or unexpected, and nothing is known to be stored. Send the same request again: nothing is stored twice.';
}

function errorMessage(response: string | undefined): string | undefined {
  if (response === undefined) return undefined;
  try {
    const body: unknown = JSON.parse(response);
    const error = isJsonObject(body) ? body['error'] : undefined;
    const message = isJsonObject(error) ? error['message'] : undefined;
    return typeof message === 'string' ? quoted(message) : undefined;
  } catch {
    // Of a long response only the beginning is read.
    const [, message] = /"message":"((?:[^"\\]|\\.)+)"/.exec(response) ?? [];
    return message === undefined ? undefined : quoted(message);
  }
}

function quoted(message: string): string {
  const text = message.slice(0, 1_000);
  return `The response says: ${text}${text.endsWith('.') ? '' : '.'}`;
}

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

interface Reason {
  readonly direction: Direction;
  readonly reason: string;
  readonly status: number;
}

const causes: Readonly<Record<string, { readonly cause: string }>> = { ...RULES, ...REASONS };

/** Why an exchange failed, in a sentence made from the codes of its reason. */
export function reasonSentence({ direction, reason, status }: Reason): string {
  const [code = '', ...others] = reason.split(', ');
  const isOwn = direction === 'inbound';
  const known = FAILURES[code] ?? (isOwn ? (causes[code]?.cause ?? STATUSES[status]) : PARTNER_STATUSES[status]);
  const more = others.length === 0 ? '' : ` With ${others.length === 1 ? 'another fault' : 'other faults'}.`;
  return `${known ?? generalSentence(isOwn, status)}${more}`;
}

function generalSentence(isOwn: boolean, status: number): string {
  if (status === 0) return 'There was no response.';
  if (status >= 500) return isOwn ? 'The service failed, or was overloaded.' : 'The partner failed.';
  return isOwn ? 'The request was refused.' : 'The partner refused the request.';
}
