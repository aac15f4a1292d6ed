import { createHash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { isStorableText, storableText } from '../contracts/common/text.js';
import { type KeptBody, withoutPartialCharacter } from '../core/http/body-capture.js';
import { type LinkRule, redactBody, redactHeaders, redactPath } from './redaction.rules.js';
import { isJsonObject, type JsonObject } from '../contracts/common/json.js';
import { maskSecretsInData } from '../core/observability/known-secrets.js';
import type { Admission } from './exchange-budget.js';
import type { ExchangeRecord, Headers, Standing } from './exchange-record.js';
import { referencesOf, storedReferences } from './references.rules.js';
import { type ConnectionCall, connectionCall, tallyOf } from './exchange-tally.sql.js';
import { keptOf } from './kept.rules.js';

/** Bits of `request_form` and `response_form`. */
export const BASE64 = 1;
export const REDACTED_FORM = 2;
export const TRUNCATED = 4;

interface BodyCells {
  readonly text: string | null;
  readonly form: number;
  readonly sha256: string | null;
  /** The redacted body before it is cut; undefined if it did not fit in memory or is no text. */
  readonly whole?: string | undefined;
}

const NO_BODY: BodyCells = { text: null, form: 0, sha256: null };

interface BodyRule {
  readonly rule: LinkRule;
  readonly secrets: readonly string[];
  readonly maxBytes: number;
}

/** A body is redacted first and then cut, so that no part of a secret stays before the cut (decision 59). */
export function bodyCells(body: KeptBody | undefined, options: BodyRule): BodyCells {
  if (body === undefined) return NO_BODY;
  const { content } = body;
  const isText = typeof content === 'string' ? isStorableText(content) : isUtf8(content) && !content.includes(0);
  if (!isText) return binaryCells(body, Buffer.from(content as Buffer), options);
  const original = content.toString();
  const { text, isRedacted } = redactBody(original, options.rule, options.secrets);
  const bytes = Buffer.byteLength(text) > options.maxBytes ? Buffer.from(text) : undefined;
  const isCut = body.truncated || bytes !== undefined;
  return {
    text: bytes === undefined ? text : withoutPartialCharacter(bytes.subarray(0, options.maxBytes)).toString(),
    form: (isRedacted ? REDACTED_FORM : 0) + (isCut ? TRUNCATED : 0),
    // Otherwise the reader computes it from the text.
    sha256: body.sha256 ?? (isRedacted || isCut ? digestOf(original) : null),
    whole: body.truncated ? undefined : text,
  };
}

/** Bytes that are not UTF-8 are redacted byte by byte: names and secrets are ASCII. */
function binaryCells(body: KeptBody, bytes: Buffer, { rule, secrets, maxBytes }: BodyRule): BodyCells {
  const original = bytes.toString('latin1');
  const { text, isRedacted } = redactBody(original, rule, secrets);
  // Secrets of UTF-16 text are seen without its zero bytes.
  const isHidden =
    isCompressed(bytes) || (bytes.includes(0) && redactBody(original.replaceAll('\0', ''), rule, secrets).isRedacted);
  const kept = isHidden ? '' : text.slice(0, maxBytes);
  const isCut = body.truncated || kept.length < text.length;
  const form = BASE64 + (isRedacted || isHidden ? REDACTED_FORM : 0) + (isCut ? TRUNCATED : 0);
  const sha256 = body.sha256 ?? (form === BASE64 ? null : digestOf(bytes));
  return { text: Buffer.from(kept, 'latin1').toString('base64'), form, sha256 };
}

/** The beginnings of gzip, zstd, zlib and ZIP: their content is not searched, and so not stored. */
const isCompressed = (bytes: Buffer): boolean =>
  /^(?:1f8b|28b52ffd|78(?:01|5e|9c|da)|504b0304)/.test(bytes.toString('hex', 0, 4));

const digestOf = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

type Cell = string | number | boolean | null | undefined;

/** The columns in the order in which `copyText` writes them. */
export const COLUMNS = [
  'id',
  'hauler_id',
  'connection_id',
  'api_key_id',
  'replay_of',
  'request_bytes',
  'response_bytes',
  'duration_ms',
  'status',
  'request_form',
  'response_form',
  'in_revision',
  'direction',
  'interface',
  'route',
  'method',
  'path',
  'key_prefix',
  'request_id',
  'failure',
  'error_code',
  'result',
  'scenario',
  'ignored_fields',
  'refs',
  'request_headers',
  'request_body',
  'request_sha256',
  'response_headers',
  'response_body',
  'response_sha256',
] as const;

/** A row without secrets. */
export interface ExchangeRow {
  readonly id: string;
  readonly standing: Standing;
  /** `tallyOf`. */
  readonly tally: string;
  /** Of a call to the interface of a partner. */
  readonly call: ConnectionCall | undefined;
  /** In the text format of COPY, without the newline. */
  readonly line: string;
}

/** `maxBytes` is `EXCHANGE_BODY_LIMIT`: bodies are cut after they are redacted. */
export function toRow(record: ExchangeRecord, extent: Exclude<Admission, 'dropped'>, maxBytes: number): ExchangeRow {
  const { id, direction, secrets } = record;
  const rule: LinkRule = direction === 'outbound' ? 'every value' : 'signature';
  const kept = keptOf(record, extent);
  const request = kept.request ? bodyCells(record.requestBody, { rule, secrets, maxBytes }) : NO_BODY;
  const answer = bodyCells(record.responseBody, { rule, secrets, maxBytes });
  const response = kept.answer ? answer : NO_BODY;
  const output = parsed(answer);
  const decision = decisionOf(record, output);
  const isShort = kept.headers === 'short';
  const headers = (all: Headers) => {
    const json = redactHeaders(all, secrets);
    return isShort ? shortHeaders(json) : json;
  };
  const references = storedReferences(record.haulerId, referencesOf(record.input, output, record.references));
  const mask = maskOf([record.requestId, record.ignoredFields, ...references], secrets);
  const path = redactPath(record.path, record.isLink === true ? 'every value' : 'signature', secrets);
  const line = copyLine([
    id,
    record.haulerId,
    record.connectionId,
    record.apiKeyId,
    record.replayOf,
    record.requestBytes,
    record.responseBytes,
    record.durationMs,
    record.status,
    request.form,
    response.form,
    record.inRevision,
    direction,
    record.interface,
    record.route,
    record.method,
    isShort ? path.slice(0, SHORT_PATH) : path,
    record.keyPrefix,
    record.requestId === null ? null : mask(record.requestId),
    record.failure,
    decision.errorCode,
    decision.result,
    record.scenario,
    record.ignoredFields === undefined ? null : mask(record.ignoredFields),
    arrayCell(references.map(mask)),
    headers(record.requestHeaders),
    request.text,
    request.sha256,
    record.responseHeaders === undefined ? null : headers(record.responseHeaders),
    response.text,
    response.sha256,
  ]);
  return { id, standing: record.standing, tally: tallyOf(record, decision), call: connectionCall(record), line };
}

/** Characters of what a caller without a key chooses (decision 58). */
const SHORT_PATH = 256;
const SHORT_VALUE = 128;
const SHORT_HEADERS = 1_024;

/** The first headers, with the beginning of their values. */
function shortHeaders(json: string): string {
  if (json.length <= SHORT_HEADERS) return json;
  let left = SHORT_HEADERS;
  const short = Object.entries(JSON.parse(json) as Record<string, string>)
    .map(([name, value]): [string, string] => [name, value.slice(0, SHORT_VALUE)])
    .filter(([name, value]) => (left -= name.length + value.length) >= 0);
  return JSON.stringify(Object.fromEntries(short));
}

type Mask = (text: string) => string;

/** One search in all texts is far cheaper than one in each, and most exchanges have nothing to redact. */
function maskOf(texts: readonly (string | null | undefined)[], secrets: readonly string[]): Mask {
  const all = texts.join('\n');
  return maskSecretsInData(all, secrets) === all ? (text) => text : (text) => maskSecretsInData(text, secrets);
}

const arrayCell = (elements: readonly string[]): string | null =>
  elements.length === 0 ? null : `{${elements.map((element) => `"${element.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;

/** A response that is whole. */
function parsed({ whole }: BodyCells): unknown {
  if (whole === undefined) return undefined;
  try {
    return JSON.parse(whole) as unknown;
  } catch {
    return undefined;
  }
}

/** The code of an error response, and a short form of what the service decided, which may not be what it responded. */
function decisionOf(
  { result, status, decidedStatus = status }: ExchangeRecord,
  output: unknown,
): { readonly errorCode?: string | undefined; readonly result?: string | undefined } {
  const error = errorIn(output);
  const errorCode = codeIn(error);
  if (result !== undefined || error === undefined) return { errorCode, result };
  const details = isJsonObject(error['details']) ? error['details'] : {};
  const violations = Array.isArray(details['violations']) ? (details['violations'] as unknown[]) : [];
  const rules = violations.map((each) => (isJsonObject(each) ? each['rule'] : undefined));
  const names = [...new Set([details['reason'], ...rules])].filter((name) => typeof name === 'string');
  const reason = names.slice(0, 5).join(', ') || errorCode;
  return { errorCode, result: `${decidedStatus}${reason === undefined ? '' : ` ${reason}`}`.slice(0, 300) };
}

function errorIn(output: unknown): JsonObject | undefined {
  const error = isJsonObject(output) ? output['error'] : undefined;
  return isJsonObject(error) ? error : undefined;
}

const codeIn = (error: JsonObject | undefined): string | undefined =>
  typeof error?.['code'] === 'string' ? error['code'].slice(0, 100) : undefined;

/** Most texts have nothing to escape and nothing that PostgreSQL cannot store. */
const SPECIAL = /[\\\t\n\r\0\ud800-\udfff]/;

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function copyLine(cells: readonly Cell[]): string {
  const texts: string[] = [];
  for (const cell of cells) {
    if (cell == null) texts.push('\\N');
    else if (typeof cell === 'string') texts.push(SPECIAL.test(cell) ? escaped(cell) : cell);
    else texts.push(String(cell));
  }
  // Unlike a concatenation, the result is one object.
  return texts.join('\t');
}

const escaped = (text: string): string =>
  (isStorableText(text) ? text : storableText(text)).replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? '');
