import { isSecurityHeader } from '../http/headers.js';
import { secretForms } from '../outbound/redaction.js';
import type { Headers } from './exchange-record.js';

export const REDACTED = '[redacted]';

/** Headers whose values are never stored. */
const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'platform-api-key',
  'api-key',
  'x-api-key',
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
]);

/** JSON members and parameters whose values are never stored, without `-` and `_` and in lower case. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  'apikey',
  'nextapikey',
  'platformapikey',
  'key',
  'token',
  'secret',
  'password',
]);
const SECRET_PARAMETERS: ReadonlySet<string> = new Set([...SECRET_NAMES, 'signature']);

/** The secret part of a link: the signature in our own links, every value of the query in a partner's link. */
export type LinkRule = 'signature' | 'every value';

const comparable = (name: string): string => name.toLowerCase().replace(/[-_]/g, '');

/** ASCII that JSON does not escape. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** `JSON.stringify` of a text, most of which are plain. */
export const jsonString = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));

/** The headers as JSON, without the security headers that every response has. Names of headers need no escapes. */
export function redactHeaders(headers: Headers): string {
  let json = '';
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || isSecurityHeader(name)) continue;
    json += `${json === '' ? '' : ','}"${name}":${headerValue(name, String(value))}`;
  }
  return `{${json}}`;
}

function headerValue(name: string, value: string): string {
  if (SECRET_HEADERS.has(name.toLowerCase())) return `"${REDACTED}"`;
  return jsonString(redactLinks(value, 'every value'));
}

/** A path with its query. */
export function redactQuery(path: string, rule: LinkRule): string {
  const start = path.indexOf('?');
  if (start < 0) return path;
  const parameters = path.slice(start + 1).split('&');
  return `${path.slice(0, start + 1)}${parameters.map((parameter) => redactParameter(parameter, rule)).join('&')}`;
}

function redactParameter(parameter: string, rule: LinkRule): string {
  const equals = parameter.indexOf('=');
  if (equals < 0) return parameter;
  const name = parameter.slice(0, equals);
  const isSecret = rule === 'every value' || SECRET_PARAMETERS.has(comparable(decoded(name)));
  return isSecret ? `${name}=${REDACTED}` : parameter;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const MAX_CACHED = 1_000;
const cachedForms = new Map<string, readonly string[]>();

/** Computing the forms of a secret takes longer than looking for them, and most exchanges have the same few. */
function formsOf(secret: string): readonly string[] {
  let forms = cachedForms.get(secret);
  if (forms === undefined) {
    if (cachedForms.size >= MAX_CACHED) cachedForms.clear();
    forms = secretForms([secret]);
    cachedForms.set(secret, forms);
  }
  return forms;
}

/** A key that this service issued: a caller may send its key in any place. */
const OWN_KEY = /hb_[0-9A-Za-z]{49}/g;

/** Replaces keys of our own, and known secrets in plain and encoded. */
export function redactKnown(text: string, secrets: readonly string[]): string {
  let result = text.includes('hb_') ? text.replace(OWN_KEY, REDACTED) : text;
  for (const secret of secrets) {
    for (const form of formsOf(secret)) if (result.includes(form)) result = result.replaceAll(form, REDACTED);
  }
  return result;
}

/** Every http address in a text. A user name and password in it are removed as well. */
function redactLinks(text: string, rule: LinkRule): string {
  if (!text.includes(':') || !/https?:/i.test(text)) return text;
  return text.replace(/https?:\/\/[^\s"'<>\\^`{|}]+/gi, (url) =>
    redactQuery(url.replace(/^(https?:\/\/)[^/?#]*@/i, `$1${REDACTED}@`), rule),
  );
}

/** Tokens of JSON: a string, which may lack its end, or a run of other characters. */
const TOKEN = /"(?:[^"\\]|\\.)*"?|[^"]+/gs;

/** A text without any of these has nothing to redact. A backslash may hide any of them. */
const SUSPICIOUS = /key|token|secret|password|https?:|\\/i;

export interface Redacted {
  readonly text: string;
  readonly isRedacted: boolean;
}

/**
 * Redacts a body by field, at any depth: values of members with secret names, queries of links, and the given secrets.
 * It reads tokens and does not parse, so that a truncated or malformed body is redacted too, and numbers keep their digits.
 */
export function redactBody(body: string, rule: LinkRule, secrets: readonly string[]): Redacted {
  const text = redactKnown(SUSPICIOUS.test(body) ? redactTokens(body, rule) : body, secrets);
  return { text, isRedacted: text !== body };
}

function redactTokens(body: string, rule: LinkRule): string {
  const tokens = body.match(TOKEN) ?? [];
  let result = '';
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] ?? '';
    if (!token.startsWith('"')) {
      result += redactLinks(token, rule);
      continue;
    }
    const next = tokens[i + 1] ?? '';
    const [separator] = /^\s*:\s*/.exec(next) ?? [];
    const text = stringIn(token);
    if (separator === undefined || !SECRET_NAMES.has(comparable(text))) {
      result += redactedString(token, text, rule);
      continue;
    }
    result += `${token}${separator}"${REDACTED}"`;
    const value = valueEnd(tokens, i + 1, separator.length);
    i = value.token;
    if (value.rest !== '') tokens[i--] = value.rest;
  }
  return result;
}

/** Links may be hidden by escapes such as `\/`. The token is copied unless something in it changes. */
function redactedString(token: string, text: string, rule: LinkRule): string {
  const redacted = redactLinks(text, rule);
  return redacted === text ? token : JSON.stringify(redacted);
}

function stringIn(token: string): string {
  try {
    return JSON.parse(token) as string;
  } catch {
    return token.replace(/^"|"$/g, '');
  }
}

/** Where the value ends that begins in a token at an offset: the index of the token, and its text after the value. */
function valueEnd(tokens: readonly string[], first: number, offset: number): { token: number; rest: string } {
  let depth = 0;
  for (let i = first, from = offset; i < tokens.length; i++, from = 0) {
    const token = tokens[i] ?? '';
    if (token.startsWith('"') && from === 0) {
      if (depth === 0) return { token: i, rest: '' };
      continue;
    }
    for (let at = from; at < token.length; at++) {
      const character = token[at] ?? '';
      if ('{['.includes(character)) depth++;
      else if (depth === 0 && ',}]'.includes(character)) return { token: i, rest: token.slice(at) };
      else if ('}]'.includes(character) && --depth === 0) return { token: i, rest: token.slice(at + 1) };
    }
  }
  return { token: tokens.length, rest: '' };
}
