import { isSecretName, REDACTED } from '../core/text/secret-names.js';
import { decodedName } from '../core/observability/redaction.js';

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
export function redactMarkup(text: string): string {
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
