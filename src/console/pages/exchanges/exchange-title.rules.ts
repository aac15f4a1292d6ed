import type { Exchange } from '../../../contracts/admin/exchanges.routes.js';

/** What a call is for, by its operation. */
const CALLS: Readonly<Record<string, string>> = {
  createTicket: 'Push of a ticket',
  createAccount: 'Push of an account',
  getSites: 'List of the sites',
  requestVideo: 'Request of a clip',
  listVideos: 'List of clips',
  listContinuous: 'List of recordings',
  download: 'Download of a video',
};

/** What a call was, and what became of it: `Push of a ticket, refused`. */
export function titleOf(
  exchange: Pick<Exchange, 'method' | 'route' | 'path' | 'status' | 'reason' | 'result'>,
): string {
  const { method, route, path, status, reason, result } = exchange;
  const call = CALLS[route ?? ''] ?? `${method} ${route ?? path.split('?')[0]}`;
  if (reason === undefined) return result === undefined ? call : `${call}, ${result}`;
  if (status === null) return `${call}, no response`;
  return `${call}, ${status >= 400 && status < 500 ? 'refused' : 'failed'}`;
}
