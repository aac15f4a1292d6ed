import { REDACTED } from '../core/text/secret-names.js';
import type { FullExchangeRow } from './exchanges.repository.js';

/** The headers of a push that its replay carries as well. The body is kept without its content coding. */
const REPEATED_HEADERS = ['content-type', 'accept', 'user-agent'];

/** Why an exchange cannot be replayed; undefined if it can. `body` is the request as it was received, if it is kept. */
export function replayRefusal(row: FullExchangeRow, body: Buffer | undefined): string | undefined {
  const { direction, method, route } = row;
  if (direction === 'outbound') {
    if (method !== 'GET') return 'a POST to a partner is never sent twice: order it again if it is needed';
    if (route === 'download') return 'a download is not kept with its link: the service fetches recordings by itself';
    if (row.connection_id === null || route === null) return 'the exchange names no connection';
    return row.path.includes(REDACTED) ? 'its address contained a secret, which is not kept' : undefined;
  }
  if (method !== 'POST' || route === null) return 'only pushes can be replayed, and GET calls to partners';
  if (row.api_key_id === null) return 'the call had no valid API key, so its body was not read';
  return body === undefined ? 'its body is not kept whole: it was not read, was cut or contained secrets' : undefined;
}

/**
 * The headers of the repeated push. The first response to an `Idempotency-Key` is returned again, so that an accepted push
 * has no second effect; a refused push must be decided again.
 */
export function replayHeaders({ status }: FullExchangeRow, received: Readonly<Record<string, string>>) {
  const headers: Record<string, string> = { host: 'replay' };
  const names = status >= 400 ? REPEATED_HEADERS : [...REPEATED_HEADERS, 'idempotency-key'];
  for (const name of names) {
    const value = received[name];
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}
