import { withoutByteOrderMark } from '../contracts/common/json.js';
import { isSecretName, REDACTED, SECRET_WORD } from '../core/text/secret-names.js';
import { isSecurityHeader } from '../core/http/headers.js';
import { maskSecrets } from '../core/observability/known-secrets.js';
import { decodedName, redactAssignments, redactJson } from '../core/observability/redaction.js';
import type { Headers } from './exchange-record.js';
import { redactMarkup } from './markup.rules.js';

/** The secret part of a link: the signature in our own links, every value of the query in a partner's link. */
export type LinkRule = 'signature' | 'every value';

/** ASCII that JSON does not escape. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** `JSON.stringify` of a text, most of which are plain. */
export const jsonString = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));

/** The headers as JSON, without the security headers that every response has. */
export function redactHeaders(headers: Headers, secrets: readonly string[] = []): string {
  // One search for all is far cheaper than one for each, and most headers have nothing to redact.
  let texts = '';
  const whole = headersJson(headers, (text) => {
    texts += `${text}\n`;
    return text;
  });
  return redactHeader(texts, secrets) === texts ? whole : headersJson(headers, (text) => redactHeader(text, secrets));
}

/** `shown` gets each name and each value that is not left out for its name. */
function headersJson(headers: Headers, shown: (text: string) => string): string {
  let members = '';
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || isSecurityHeader(name)) continue;
    const text = isSecretName(name) ? REDACTED : String(value);
    members += `${members === '' ? '' : ','}${jsonString(shown(name))}:${jsonString(shown(text))}`;
  }
  return `{${members}}`;
}

const redactHeader = (value: string, secrets: readonly string[]): string =>
  maskSecrets(redactAssignments(redactLinks(value, 'every value')), secrets);

/** A path with its query. */
export function redactPath(path: string, rule: LinkRule, secrets: readonly string[] = []): string {
  return maskSecrets(redactAssignments(redactAddress(path, rule)), secrets);
}

/** Addresses are absolute or relative, and have no blank, quote or bracket. */
const ADDRESS = /[^\s"'<>\\^`{|}]+/g;

/** Every address in a text. */
function redactLinks(text: string, rule: LinkRule): string {
  if (!/[?#]|:\/\//.test(text)) return text;
  return text.replace(ADDRESS, (word) => (isAddress(word) ? redactAddress(word, rule) : word));
}

const isAddress = (word: string): boolean => word.includes('//') || (/[?#]/.test(word) && word.includes('='));

/** The text before the query, the query, and the fragment, without user name and password and without secret values. */
function redactAddress(address: string, rule: LinkRule): string {
  const [base = ''] = /^[^?#]*/.exec(address) ?? [];
  const parameters = address.slice(base.length).replace(/([?#&;])([^?#&;]*)/g, (_all, mark: string, text: string) => {
    return mark + redactParameter(text, rule);
  });
  return base.replace(/(\/\/)[^/]*@/, `$1${REDACTED}@`) + parameters;
}

function redactParameter(parameter: string, rule: LinkRule): string {
  const equals = parameter.indexOf('=');
  if (equals < 0) return rule === 'every value' && parameter !== '' ? REDACTED : parameter;
  const name = parameter.slice(0, equals);
  const isSecret = rule === 'every value' || isSecretName(decodedName(name));
  return isSecret ? `${name}=${REDACTED}` : parameter;
}

export interface Redacted {
  readonly text: string;
  readonly isRedacted: boolean;
}

/** In a text without these there is no secret name and no link, and nothing is hidden by an escape. */
const isPlain = (text: string): boolean => !/[\\?#&%]|\/\//.test(text) && !SECRET_WORD.test(text);

/**
 * Redacts a whole body before it is cut (decision 59): values of members with secret names at any depth, links, and known
 * secrets. A JSON body without secrets stays as it is, byte for byte.
 */
export function redactBody(body: string, rule: LinkRule, secrets: readonly string[]): Redacted {
  const text = isPlain(body) ? maskSecrets(body, secrets) : redactSuspicious(body, rule, secrets);
  return { text, isRedacted: text !== body };
}

function redactSuspicious(body: string, rule: LinkRule, secrets: readonly string[]): string {
  const clean = (text: string) => maskSecrets(redactAssignments(redactLinks(text, rule)), secrets);
  if (!/^[\ufeff\s]*[[{"]/.test(body)) return clean(redactMarkup(body));
  try {
    const json = withoutByteOrderMark(body);
    const text = redactJson(json, clean);
    return text === json ? body : text;
  } catch {
    return clean(redactMarkup(body));
  }
}
