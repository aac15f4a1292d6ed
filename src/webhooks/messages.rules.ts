import type { DeliveryRow } from './deliveries.repository.js';
import { type EventData, filled, topicOf } from '../contracts/webhooks/topics.values.js';
import { formatInstant } from '../contracts/common/instant.js';
import { withoutFinalSlashes } from '../contracts/common/text.js';

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
