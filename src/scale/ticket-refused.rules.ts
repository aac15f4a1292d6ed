import { isJsonObject, type JsonObject, ownField } from '../contracts/common/json.js';
import { shortText } from './ticket-amounts.rules.js';

/** Further reasons of one refusal are counted. */
const MAX_REASONS = 3;
const MAX_MESSAGE = 300;

/** An exchange of a push of which nothing is stored. */
export interface UnstoredPush {
  /** 0 without a response. */
  readonly status: number;
  readonly result: string | null;
  readonly failure: string | null;
  /** The bodies as far as they are kept; they may be cut. */
  readonly response: string | null;
  readonly request: string | undefined;
}

/** One sentence about a push of which nothing is stored; undefined where the exchange alone does not say what happened. */
export function unstoredSentence(push: UnstoredPush): string | undefined {
  const { status, result, failure } = push;
  if (result === 'unchanged') return `Same as what is stored: nothing changed${lostAnswer(push)}`;
  if (result === 'replayed') return 'Idempotency-Key used before: the first answer was returned again, nothing changed';
  if (result !== null && /^4\d\d/.test(result)) return `Refused (${result}): ${reasonOf(push)}${lostAnswer(push)}`;
  if (failure !== null)
    return 'Answer lost: the connection closed before this push was decided, and nothing of it is stored';
  if (status >= 500) return `Not stored (${result ?? status}): ${reasonOf(push)}`;
  return status >= 400 ? `Refused (${result ?? status}): ${reasonOf(push)}` : undefined;
}

/** The end of the sentence where the caller did not receive what was decided. */
export function lostAnswer({ failure, status, result }: Pick<UnstoredPush, 'failure' | 'status' | 'result'>): string {
  if (failure !== null) return '; the answer was lost, because the caller left before it was complete';
  return status >= 500 && !result?.startsWith('5') ? `; the caller received ${status}` : '';
}

function reasonOf({ response, request }: UnstoredPush): string {
  const error = ownField(parsed(response), 'error');
  const violations = ownField(ownField(error, 'details'), 'violations');
  const body = parsed(request ?? null);
  const reasons = Array.isArray(violations)
    ? violations.filter(isJsonObject).map((violation) => reasonFor(violation, body))
    : [];
  if (reasons.length === 0) return ending(messageOf(error, response));
  const more = reasons.length - MAX_REASONS;
  const shown = [...reasons.slice(0, MAX_REASONS), ...(more > 0 ? [`and ${more} more`] : [])];
  return shown.join('; ');
}

function reasonFor({ path, rule, message }: JsonObject, body: unknown): string {
  const place = typeof path === 'string' ? path : '';
  if (rule === 'materialExists') return `material ${materialAt(place, body)} is unknown`;
  if (rule === 'materialOfSite') return `material ${materialAt(place, body)} does not belong to the site`;
  if (rule === 'siteExists') return `site ${textIn(body, 'siteId') ?? ''} is unknown`.replace('  ', ' ');
  return ending(typeof message === 'string' ? message : `${place} is invalid`);
}

/** The name that the push gives a material, else its id, else its place. */
function materialAt(path: string, body: unknown): string {
  const index = Number(/^materials\[(\d+)\]/.exec(path)?.[1]);
  const materials = ownField(body, 'materials');
  const material: unknown = Array.isArray(materials) ? (materials as unknown[])[index] : undefined;
  return textIn(material, 'name') ?? textIn(material, 'id') ?? path;
}

function textIn(value: unknown, name: string): string | undefined {
  const text = ownField(value, name);
  return typeof text === 'string' && text !== '' ? shortText(text) : undefined;
}

/** The message of an error whose text may be cut. */
function messageOf(error: unknown, response: string | null): string {
  const message = ownField(error, 'message');
  if (typeof message === 'string') return message;
  const [, quoted] = /"message":("(?:[^"\\]|\\.)*")/.exec(response ?? '') ?? [];
  const found = parsed(quoted ?? null);
  return typeof found === 'string' ? found : 'the answer is not kept';
}

function parsed(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const ending = (message: string): string => {
  const text = message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 1)}…`;
  return text.replace(/\.$/, '');
};
