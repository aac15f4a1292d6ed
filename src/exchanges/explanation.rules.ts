import type { ExchangeListRow } from './exchanges.repository.js';
import { isJsonObject } from '../contracts/common/json.js';

const RESULTS: Readonly<Record<string, string>> = {
  created: 'A new record was created.',
  updated: 'The ticket had been stored before; this push updated it.',
  stale: 'A newer push of this ticket is stored. This push is kept in the history and changed no contents.',
  unchanged: 'The ticket already had exactly this content. Nothing was written.',
  replayed: 'The Idempotency-Key was used before: this is the first response again, and nothing was done twice.',
};

const FAILURES: Readonly<Record<string, string>> = {
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

const STATUSES: Readonly<Record<number, string>> = {
  401: 'The API key was missing, wrong, expired, revoked or issued for another interface. The body was not read.',
  404: 'No route has this path, or the key does not know the named record.',
  405: 'The path exists and takes another method.',
  408: 'The body did not arrive in time. Send the request again.',
  413: 'The body was larger than allowed, and was not read.',
  415: 'The body must be sent as application/json in UTF-8.',
  422: 'A business rule refused the request. Nothing was stored.',
  429: 'The key sent too many requests. The body was not read.',
};

/** What a partner's refusal of our call says. */
const PARTNER_STATUSES: Readonly<Record<number, string>> = {
  401: 'The partner did not accept our API key.',
  404: 'The partner does not know the path or the named record.',
  429: 'The partner asked for fewer calls.',
};

/** A refusal that was returned again; its result is that of the first one. */
export const REPLAYED_REFUSAL =
  'The Idempotency-Key was used before: this is the first refusal again. Send a corrected request with a new key.';

/** Sentences about what happened, why, and what to do. `response` is the text of the response; `facts` are further sentences. */
export function explain(row: ExchangeListRow, response: string | undefined, facts: readonly string[] = []): string {
  const sentences = [
    beginning(row),
    failure(row),
    row.result === null ? undefined : RESULTS[row.result],
    ...facts,
    (row.direction === 'inbound' ? STATUSES : PARTNER_STATUSES)[row.status] ?? statusSentence(row),
    errorMessage(response),
    row.ignored_fields === null ? undefined : `Unknown fields were ignored: ${row.ignored_fields}.`,
    row.scenario === null ? undefined : `The sandbox injected the scenario ${row.scenario}.`,
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

function statusSentence({ status, direction }: ExchangeListRow): string | undefined {
  if (status < 400) return undefined;
  if (direction === 'outbound')
    return status >= 500 ? 'The partner failed. Scheduled work is tried again.' : 'The partner refused the request.';
  if (status >= 500) return 'The failure is temporary or unexpected. Send the same request again.';
  return 'The request was refused. Nothing was stored.';
}

function errorMessage(response: string | undefined): string | undefined {
  if (response === undefined) return undefined;
  try {
    const body: unknown = JSON.parse(response);
    const error = isJsonObject(body) ? body['error'] : undefined;
    const message = isJsonObject(error) ? error['message'] : undefined;
    return typeof message === 'string' ? `The response says: ${message.slice(0, 1_000)}` : undefined;
  } catch {
    return undefined;
  }
}
