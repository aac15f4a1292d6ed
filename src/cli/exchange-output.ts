import { setTimeout as delay } from 'node:timers/promises';
import type { AdminClient } from './admin-client.js';
import type {
  Exchange,
  ExchangeDetail,
  ExchangeMessage,
  ReplayAnswer,
  ReplayedExchange,
  ReplayedExchanges,
} from '../contracts/admin/exchanges.routes.js';
import type { FieldChange, HistoryEntry } from '../contracts/admin/history.dto.js';
import type { List } from '../contracts/admin/list.dto.js';
import { visibleText } from '../core/text/visible-text.js';
import { positionText } from './output.js';

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

const WIDTH = 100;

/** One exchange in a line of at most 100 columns. */
export function exchangeLine({ at, direction, interface: name, route, status, failure, result, id }: Exchange): string {
  const outcome = failure ?? result?.replace(/^\d{3} /, '') ?? '-';
  const cells = [
    shortTime(at),
    direction === 'inbound' ? 'in ' : 'out',
    (route ?? `${name} ?`).slice(0, 14).padEnd(14),
    String(status ?? '-').padEnd(3),
    visibleText(outcome).slice(0, 20).padEnd(20),
    id,
  ];
  return `${cells.join('  ')}\n`;
}

/** The page, newest first, and how to read the next one. */
export function renderExchanges({ data, next }: { data: readonly Exchange[]; next: string | null }): string {
  return data.map(exchangeLine).join('') + (next === null ? '' : `more: --cursor ${visibleText(next)}\n`);
}

/** One exchange in full, with lines of at most 100 columns where the content allows it. */
export function renderExchange(exchange: ExchangeDetail): string {
  const { request, response, explanation, references, ...fields } = exchange;
  const lines = Object.entries(fields).map(
    ([name, value]) => `${name.padEnd(15)} ${visibleText(String(value ?? '-'))}`,
  );
  const named = references.map(({ kind, value }) => `${kind}:${visibleText(value)}`);
  return [
    ...wrapped(visibleText(explanation)),
    '',
    ...lines,
    ...(named.length === 0 ? [] : [`${'references'.padEnd(15)} ${named.join(' ')}`]),
    ...messageLines('request', request),
    ...(response === null ? [] : messageLines('response', response)),
    '',
  ].join('\n');
}

/** The history of a record, newest first, in lines of at most 100 columns. */
export function renderHistory({ data, pagination }: List<HistoryEntry>): string {
  const entries = data.flatMap(({ at, event, text, result, changes = [], moreChanges = 0, ...facts }) => {
    const { requestId, keyPrefix, exchangeId } = facts;
    const ids = Object.entries({ key: keyPrefix, request: requestId, exchange: exchangeId });
    const named = ids.flatMap(([name, id]) => (id === undefined ? [] : [`${name} ${visibleText(id)}`]));
    return [
      `${shortTime(at)}  ${event}${result === undefined ? '' : `  ${visibleText(result)}`}`,
      ...wrapped(visibleText(text), WIDTH - 2).map((line) => `  ${line}`),
      ...changes.map((change) => `  ${visibleText(changeText(change))}`),
      ...(moreChanges === 0 ? [] : [`  and ${moreChanges} more changed fields`]),
      ...named.map((id) => `  ${id}`),
    ];
  });
  return [...entries, positionText(pagination)].join('\n');
}

/** `materials[0].quantity: 14.9 → 12.48 Ton (Asphalt)` */
function changeText({ field, before, after, material, unitOfMeasure }: FieldChange): string {
  const unit = unitOfMeasure !== undefined && field.endsWith('.quantity') ? ` ${unitOfMeasure}` : '';
  const values = [before, after].map((value) => (value === undefined ? 'absent' : valueText(value)));
  return `${field}: ${values.join(' → ')}${unit}${material === undefined ? '' : ` (${material})`}`;
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const shortTime = (at: string): string => at.replace('T', ' ').replace('Z', '').slice(5, 19).padEnd(14);

/** Both answers of a replay, the earlier one first. */
export function renderReplay({ exchangeId, status, earlier, now }: ReplayedExchange): string {
  return [
    `replayed as ${exchangeId}: ${status ?? 'no response'}`,
    ...answerLines('earlier answer', earlier),
    ...(now === undefined
      ? ['', `the new answer is not stored yet: read it later with exchange show ${exchangeId}`]
      : answerLines('answer now', now)),
    '',
  ].join('\n');
}

function answerLines(title: string, { status, failure, response }: ReplayAnswer): string[] {
  const outcome = [status ?? 'no response', ...(failure === undefined ? [] : [failure])].join(', ');
  return response === null ? ['', `${title}: ${outcome}`] : messageLines(`${title}: ${outcome}`, response);
}

export function renderReplays({ matched, replayed, skipped, failed }: ReplayedExchanges): string {
  const reasons = [
    ...skipped.flatMap(({ exchangeId, reason }) => reasonLines('skipped', exchangeId, reason)),
    ...failed.flatMap(({ exchangeId, message }) => reasonLines('failed', exchangeId, message)),
  ];
  const counts = [`${matched} matched`, `${replayed} replayed`, `${skipped.length} skipped`];
  if (failed.length > 0) counts.push(`${failed.length} failed`);
  return `${[...reasons, counts.join(', ')].join('\n')}\n`;
}

const reasonLines = (outcome: string, exchangeId: string, reason: string): string[] => [
  `${outcome} ${exchangeId}`,
  ...wrapped(visibleText(reason), WIDTH - 2).map((line) => `  ${line}`),
];

function messageLines(title: string, { headers, body }: ExchangeMessage): string[] {
  const shown = Object.entries(headers).map(([name, value]) => `  ${visibleText(`${name}: ${value}`)}`);
  if (body === undefined) return ['', title, ...shown];
  const { text, base64 = '', sizeBytes, sha256, truncated, redacted } = body;
  const notes = [`${sizeBytes} bytes`, ...(truncated ? ['truncated'] : []), ...(redacted === true ? ['redacted'] : [])];
  const content = text === undefined ? base64 : pretty(text);
  return [
    '',
    `${title}: ${notes.join(', ')}`,
    `  sha256: ${sha256}`,
    ...shown,
    '',
    ...content.split(/\r?\n/).map((line) => visibleText(line.replaceAll('\t', '    '))),
  ];
}

function pretty(text: string): string {
  try {
    // Only spaces change: a parsed number could lose digits.
    return text.length > WIDTH && text === JSON.stringify(JSON.parse(text))
      ? JSON.stringify(JSON.parse(text), undefined, 2)
      : text;
  } catch {
    return text;
  }
}

function wrapped(text: string, width = WIDTH): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
