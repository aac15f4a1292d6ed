import type { DeliveryRow } from './deliveries.repository.js';
import { type EventData, filled, topicOf } from '../contracts/webhooks/topics.values.js';
import { formatInstant } from '../contracts/common/instant.js';
import { withoutFinalSlashes } from '../contracts/common/text.js';
import type { DisabledReason } from '../contracts/admin/webhooks.routes.js';
import type { DeliveryReason } from '../contracts/webhooks/delivery.values.js';

type Event = Pick<DeliveryRow, 'topic' | 'data' | 'created_at'>;

/** Characters of a value of a partner in a sentence. */
const MAX_VALUE = 100;

/** The body of Standard Webhooks. `data` is the JSON text that was stored. */
export const standardBody = ({ topic, data, created_at: at }: Event): string =>
  `{"type":"${topic}","timestamp":"${formatInstant(at)}","data":${data}}`;

const dataOf = ({ data }: Event): EventData => JSON.parse(data) as EventData;

/** Names come from partners: on one line, without control characters and without marks that change the direction of text. */
const plain = (value: string): string => {
  const text = value.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE - 1).toWellFormed()}…` : text;
};

/** What Slack would read as a mention, a link or a format. */
const forSlack = (value: string): string =>
  plain(value)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/[*_~`|]/g, '\u200b$&');

/** The page of the console; undefined without `PUBLIC_URL`. */
function pageOf(event: Event, publicUrl: string | undefined): string | undefined {
  const { page } = topicOf(event.topic);
  if (publicUrl === undefined) return undefined;
  return `${withoutFinalSlashes(publicUrl)}/console/${filled(page, dataOf(event), encodeURIComponent)}`;
}

export function slackBody(event: Event, publicUrl: string | undefined): string {
  const page = pageOf(event, publicUrl);
  const sentence = filled(topicOf(event.topic).sentence, dataOf(event), forSlack);
  return JSON.stringify({ text: page === undefined ? sentence : `${sentence} <${page}|Open>` });
}

/** Plain text. The subject has the code of the topic alone, so that no name can become a header. */
export function mailOf(event: Event, publicUrl: string | undefined): { subject: string; text: string } {
  const page = pageOf(event, publicUrl);
  const sentence = filled(topicOf(event.topic).sentence, dataOf(event), plain);
  return {
    subject: `haulbridge: ${event.topic}`,
    text: `${formatInstant(event.created_at)}  ${sentence}\n${page === undefined ? '' : `${page}\n`}`,
  };
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Before the second to the tenth try, as Standard Webhooks recommends: 75 h in all. */
export const DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;
export const MAX_TRIES = DELAYS_MS.length + 1;
const JITTER = 0.1;

/** An endpoint whose tries have all failed for this time is disabled. */
const DISABLED_AFTER_MS = 5 * DAY;

/** Longest `Retry-After` that is obeyed. */
const MAX_RETRY_AFTER_MS = 24 * HOUR;

/** Failures of an endpoint in a row from which on it is paused, so that a receiver that is away gets one try at a time. */
const FAILURES_BEFORE_PAUSE = 10;
const FIRST_PAUSE_MS = 30 * SECOND;
const MAX_PAUSE_MS = 10 * MINUTE;

/** How one try ended. */
export interface Attempt {
  /** Undefined: delivered. */
  readonly reason?: DeliveryReason;
  readonly response?: { readonly status: number; readonly body: string };
  /** The receiver asked for no further try before it. */
  readonly retryAfterMs?: number;
}

interface NextTry {
  /** Undefined: delivered or given up. */
  readonly delayMs?: number;
  /** The receiver wants no other delivery before this time either. */
  readonly pauseMs?: number;
  readonly disable?: DisabledReason;
}

/**
 * What follows a failed try, the `attempt`-th of its delivery (from 1). `endpoint`: the failures in a row of all its deliveries,
 * and since when. `random` is in [0, 1).
 */
export function nextTry(
  { reason, retryAfterMs = 0 }: Attempt,
  attempt: number,
  endpoint: { readonly failures: number; readonly failing_ms: number },
  random: number,
): NextTry {
  if (reason === 'gone') return { disable: 'gone' };
  // The key of the partner has ended, so nothing was sent.
  if (reason === 'disabled') return { disable: 'key-ended' };
  if (endpoint.failing_ms >= DISABLED_AFTER_MS) return { disable: 'failing' };
  const asked = Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
  const beyond = endpoint.failures - FAILURES_BEFORE_PAUSE;
  const pause = beyond < 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** Math.min(beyond, 20), MAX_PAUSE_MS);
  const pauseMs = Math.max(asked, pause);
  const delay = DELAYS_MS[attempt - 1];
  return {
    ...(pauseMs > 0 ? { pauseMs } : {}),
    ...(delay === undefined ? {} : { delayMs: Math.max(Math.round(delay * (1 + JITTER * random)), asked) }),
  };
}
