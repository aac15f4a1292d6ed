import { createHash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { isJsonObject } from '../contracts/common/json.js';
import type { Reference } from '../contracts/common/references.js';
import { isStorableText, storableText } from '../contracts/common/text.js';
import { tallyOf } from './exchange-hours.repository.js';
import { keysOf } from './exchange-keys.rules.js';
import type { ExchangeRecord, Headers, KeptBody } from './exchange-record.js';
import { jsonString, type LinkRule, redactBody, redactHeaders, redactKnown, redactQuery } from './redaction.rules.js';
import { referencesOf } from './references.rules.js';

/** Bits of `request_form` and `response_form`. */
export const BASE64 = 1;
export const REDACTED_FORM = 2;
export const TRUNCATED = 4;

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
  'keys',
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
  /** The row of `exchange_hours` that counts it: `tallyOf`. */
  readonly tally: string;
  /** In the text format of COPY, without the newline. */
  readonly line: string;
}

export function toRow(record: ExchangeRecord): ExchangeRow {
  const { id, direction, secrets } = record;
  const rule: LinkRule = direction === 'outbound' ? 'every value' : 'signature';
  const output = parsedResponse(record);
  const references = referenceCells(record, output);
  const request = record.inRevision ? NO_BODY : bodyCells(record.requestBody, rule, secrets);
  const response = bodyCells(record.responseBody, rule, secrets);
  const decision = decisionOf(record, output);
  const headers = (all: Headers) => redactKnown(redactHeaders(all), secrets);
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
    redactKnown(redactQuery(record.path, record.isLink === true ? 'every value' : 'signature'), secrets),
    record.keyPrefix,
    record.requestId === null ? null : redactKnown(record.requestId, secrets),
    record.failure,
    decision.errorCode,
    decision.result,
    record.scenario,
    record.ignoredFields === undefined ? null : redactKnown(record.ignoredFields, secrets),
    references.json,
    references.keys,
    headers(record.requestHeaders),
    request.text,
    request.sha256,
    record.responseHeaders === undefined ? null : headers(record.responseHeaders),
    response.text,
    response.sha256,
  ]);
  return { id, tally: tallyOf(record, decision), line };
}

interface ReferenceCells {
  readonly json: string | null;
  readonly keys: string | null;
}

/** A caller may repeat its key in any value. */
function referenceCells({ id, haulerId, input, references, secrets }: ExchangeRecord, output: unknown): ReferenceCells {
  let found = referencesOf(input, output, references);
  if (found.length === 0) return { json: null, keys: null };
  let json = jsonOf(found);
  if (redactKnown(json, secrets) !== json) {
    found = found.map(({ kind, value }) => ({ kind, value: redactKnown(value, secrets) }));
    json = jsonOf(found);
  }
  return { json, keys: `{${keysOf(id, haulerId, found).join(',')}}` };
}

/** As `JSON.stringify`, which takes longer. */
const jsonOf = (references: readonly Reference[]): string =>
  `[${references.map(({ kind, value }) => `{"kind":"${kind}","value":${jsonString(value)}}`).join(',')}]`;

interface BodyCells {
  readonly text: string | null;
  readonly form: number;
  readonly sha256: string | null;
}

const NO_BODY: BodyCells = { text: null, form: 0, sha256: null };

/** Bytes that are not UTF-8 are redacted byte by byte: the names of JSON members are ASCII. */
function bodyCells(body: KeptBody | undefined, rule: LinkRule, secrets: readonly string[]): BodyCells {
  if (body === undefined) return NO_BODY;
  const { content, truncated } = body;
  const isText = typeof content === 'string' ? isStorableText(content) : isUtf8(content) && !content.includes(0);
  const encoding = isText ? 'utf8' : 'latin1';
  const bytes = () => (typeof content === 'string' ? Buffer.from(content) : content);
  const original = isText && typeof content === 'string' ? content : bytes().toString(encoding);
  const { text, isRedacted } = redactBody(original, rule, secrets);
  const form = (isText ? 0 : BASE64) + (isRedacted ? REDACTED_FORM : 0) + (truncated ? TRUNCATED : 0);
  // Otherwise the reader computes it from the text.
  const sha256 = body.sha256 ?? (isRedacted ? createHash('sha256').update(bytes()).digest('hex') : null);
  return { text: isText ? text : Buffer.from(text, encoding).toString('base64'), form, sha256 };
}

function parsedResponse({ responseBody }: ExchangeRecord): unknown {
  if (responseBody === undefined || responseBody.truncated) return undefined;
  try {
    return JSON.parse(responseBody.content.toString()) as unknown;
  } catch {
    return undefined;
  }
}

/** The code of an error response, and a short form of what the service decided. */
function decisionOf(
  { result, status }: ExchangeRecord,
  output: unknown,
): { readonly errorCode?: string; readonly result?: string | undefined } {
  const error = isJsonObject(output) ? output['error'] : undefined;
  if (!isJsonObject(error)) return { result };
  const errorCode = typeof error['code'] === 'string' ? error['code'].slice(0, 100) : undefined;
  const details = isJsonObject(error['details']) ? error['details'] : {};
  const violations = Array.isArray(details['violations']) ? (details['violations'] as unknown[]) : [];
  const rules = violations.map((each) => (isJsonObject(each) ? each['rule'] : undefined));
  const names = [...new Set([details['reason'], ...rules])].filter((name) => typeof name === 'string');
  const reason = names.slice(0, 5).join(', ') || errorCode;
  return {
    ...(errorCode === undefined ? {} : { errorCode }),
    result: result ?? `${status}${reason === undefined ? '' : ` ${reason}`}`.slice(0, 300),
  };
}

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
