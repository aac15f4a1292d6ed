import { isSecretName, REDACTED, SECRET_WORD } from '../core/text/secret-names.js';
import { decodedName, redactAssignments, redactJson } from '../core/observability/redaction.js';
import { withoutByteOrderMark } from '../contracts/common/json.js';
import { isSecurityHeader } from '../core/http/headers.js';
import { maskSecrets } from '../core/observability/known-secrets.js';
import type { Headers } from './exchange-record.js';

/** `<apiKey>value</apiKey>`, also with a prefix, with attributes and as CDATA. */
const ELEMENT = /<([a-z_][\w:.-]{0,99})(\s[^<>]{0,1000})?>(\s*<!\[CDATA\[[^]*?(?:\]\]>|$)|[^<]+)/gi;

/** `<input name="password" value="…">`: a name in one attribute, its value in others. */
const TAG = /<[a-z_][\w:.-]{0,99}\s[^<>]{1,2000}>/gi;
const ATTRIBUTE = /([a-z_][\w:.-]{0,99})\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)')/gi;

/** `name: value` on a line, and a member of JSON that is not whole. */
const LINE =
  /(?<![\w.%-])((?:[\w.%-]|\\u[\da-f]{4}){1,100})(\\{0,8}["']?\s{0,9}[:=]\s{0,9})(?!\[redacted\])([[{]|\\{0,8}["']|[^\r\n,;&"'<>{}[\]\\]+)/gi;

/**
 * The values of secret names in a text that is no JSON: markup, forms, lines of headers, and JSON that is damaged or cut. If
 * such a value is an object or an array, or lacks its end, the rest of the text is removed.
 */
function redactMarkup(text: string): string {
  const elements = text
    .replace(ELEMENT, (all: string, name: string, attributes = '', content: string) =>
      isSecret(name) && content.trim() !== '' ? `<${name}${String(attributes)}>${REDACTED}` : all,
    )
    .replace(TAG, (tag) => (hasSecretName(tag) ? tag.replace(ATTRIBUTE, withoutValue) : tag));
  return redactLines(elements);
}

/** Without the prefix of a namespace. */
const isSecret = (name: string): boolean => isSecretName(decodedName(name.slice(name.lastIndexOf(':') + 1)));

const hasSecretName = (tag: string): boolean =>
  [...tag.matchAll(ATTRIBUTE)].some(
    ([, name = '', double, single]) => isSecret(name) || isSecretName(double ?? single ?? ''),
  );

const withoutValue = (all: string, name: string): string =>
  isSecret(name) || /^(value|content|default)$/i.test(name) ? `${name}="${REDACTED}"` : all;

function redactLines(text: string): string {
  let result = '';
  let end = 0;
  for (const match of text.matchAll(LINE)) {
    const [all, name = '', separator = '', value = ''] = match;
    if (match.index < end || !isSecretName(decodedName(unescaped(name)))) continue;
    const start = match.index + all.length - value.length;
    result += text.slice(end, start);
    const isNested = value === '{' || value === '[';
    const quote = /["']$/.exec(value)?.[0];
    if (isNested) return `${result}"${REDACTED}"`;
    if (quote === undefined) {
      result += separator.includes('"') ? `"${REDACTED}"` : REDACTED;
      end = start + value.length;
      continue;
    }
    const closing = endOfString(text, start + value.length, value);
    result += value + REDACTED;
    if (closing === undefined) return result + value;
    end = closing;
  }
  return result + text.slice(end);
}

/** The index of the quote that ends a string; undefined if there is none. */
function endOfString(text: string, start: number, open: string): number | undefined {
  for (let at = text.indexOf(open, start); at >= 0; at = text.indexOf(open, at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes++;
    if (open.length > 1 ? slashes === 0 : slashes % 2 === 0) return at;
  }
  return undefined;
}

const unescaped = (name: string): string =>
  name.replace(/\\u([\da-f]{4})/gi, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));

/** The secret part of a link: the signature in our own links, every value of the query in a partner's link. */
export type LinkRule = 'signature' | 'every value';

/** ASCII that JSON does not escape. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** `JSON.stringify` of a text, most of which are plain. */
const jsonString = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));

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

interface Redacted {
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
