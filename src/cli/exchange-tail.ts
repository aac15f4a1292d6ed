import { setTimeout as delay } from 'node:timers/promises';
import type { AdminClient } from './admin-client.js';
import type { Exchange } from '../contracts/admin/exchange.dto.js';

const POLL_MS = 1_000;
/** An exchange is written when it ends, and listed by when it began. */
const OVERLAP_MS = 120_000;
const PAGE_SIZE = '100';
/** Every so many polls all of the overlap is read: an exchange that took long is listed behind those that are known. */
const WHOLE_EVERY = 15;

type Filter = Readonly<Record<string, string>>;

/** Shows the newest exchanges, oldest first. With `follow` it shows each later one when it is written, and never resolves. */
export async function tailExchanges(
  client: AdminClient,
  filter: Filter,
  follow: boolean,
  show: (exchange: Exchange) => void,
): Promise<void> {
  // Asked first: one that is written after it is shown, by the list or by a poll.
  const known = follow ? await recent(client, filter) : [];
  const { data } = await client.call('listExchanges', { query: { pageSize: '20', ...filter } });
  for (const exchange of data.toReversed()) show(exchange);
  if (!follow) return;
  let seen = new Set([...known, ...data].map(({ id }) => id));
  for (let poll = 1; ; poll++) {
    await delay(POLL_MS);
    const isWhole = poll % WHOLE_EVERY === 0;
    const found = await recent(client, filter, isWhole ? undefined : seen);
    for (const exchange of found.toReversed()) if (!seen.has(exchange.id)) show(exchange);
    const ids = found.map(({ id }) => id);
    seen = new Set(isWhole ? ids : [...seen, ...ids]);
  }
}

/** The exchanges of the overlap, newest first; with `known` up to the first page that has no other. */
async function recent(client: AdminClient, filter: Filter, known?: ReadonlySet<string>): Promise<Exchange[]> {
  const from = new Date(Date.now() - OVERLAP_MS).toISOString();
  const found: Exchange[] = [];
  let cursor: string | null = null;
  do {
    const query: Filter = { ...filter, from, pageSize: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) };
    const page: { data: Exchange[]; next: string | null } = await client.call('listExchanges', { query });
    found.push(...page.data);
    cursor = known !== undefined && page.data.every(({ id }) => known.has(id)) ? null : page.next;
  } while (cursor !== null);
  return found;
}
