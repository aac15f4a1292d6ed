import { isSecretName, REDACTED, SECRET_ASSIGNMENT } from '../text/secret-names.js';
import { maskSecrets, maskSecretsInData } from './known-secrets.js';

/** The address without user name, query and fragment, which may be secret in a signed link. */
export function redactUrl(text: string): string {
  if (!URL.canParse(text)) return REDACTED;
  const { protocol, host, pathname, search } = new URL(text);
  return `${protocol}//${host}${pathname}${search === '' ? '' : `?${REDACTED}`}`;
}

/** Punctuation that a sentence may put after an address. */
const PUNCTUATION = /(?<![.,;:!?)…])[.,;:!?)…]+$/u;

/** User name and password in an address of another kind, such as that of the database. */
const USER_INFO = /(\b[a-z][a-z\d+.-]{0,30}:\/\/)[^\s/?#"'<>@]{1,500}@/gi;

/**
 * Applies `redactUrl` to every http(s) address in a text that has more than a host and a path. An address needs a letter or
 * digit behind the scheme ("it must begin with https://." has none). Punctuation behind a host or a path stays; behind a
 * query it may be part of the secret.
 */
export function redactUrls(text: string): string {
  if (!text.includes('://')) return text;
  const result = text.replace(/(https?:\/\/)([^\s"'<>\\^`{|}]+)/gi, (found, scheme: string, rest: string) => {
    if (!/[\p{L}\p{N}]/u.test(rest) || !/[?#@]/.test(rest)) return found;
    const address = rest.replace(PUNCTUATION, '');
    if (/[?#]/.test(address)) return redactUrl(found);
    return redactUrl(scheme + address) + rest.slice(address.length);
  });
  return result.replace(USER_INFO, `$1${REDACTED}@`);
}

/** A value that is nested deeper is replaced as a whole. Bodies that are accepted have at most 32 levels. */
const MAX_DEPTH = 64;

/** `name=value`, `"name": "value"` and `\"name\":\"value\"` in a text that is not parsed. */
const ASSIGNMENT =
  /(?<![\w.%-])([a-z_$@][\w.%-]{0,99})(=|\\{0,8}["']\s{0,9}[:=]\s{0,9})(?!\[redacted\])("(?:[^"\\]|\\.)*"?|'[^']*'?|\\{1,8}["'](?:[^"'\\]|\\{2,}[^])*(?:\\?["'])?|[^\s&;,"'<>)\]}\\]+)/gi;

/** Credentials behind their scheme. The digit distinguishes them from words, as in "Basic authentication". */
const CREDENTIALS = /\b(bearer|basic)\s+(?=[\w.~+/-]*[\d=])[\w.~+/=-]{8,}/gi;

/** A sentence, an error message, a stack or a line of the log without secrets (decision 59). It may contain JSON. */
export function redactText(text: string, secrets: readonly string[] = []): string {
  return maskSecrets(redactAssignments(redactUrls(text)), secrets);
}

/** Without the values of secret names. */
export function redactAssignments(text: string): string {
  const found =
    SECRET_ASSIGNMENT.test(text) || text.includes('%')
      ? text.replace(ASSIGNMENT, (all: string, name: string, separator: string, value: string) =>
          isSecretName(decodedName(name)) ? `${name}${separator}${emptied(value)}` : all,
        )
      : text;
  return found.replace(CREDENTIALS, `$1 ${REDACTED}`);
}

/** With the quotes of the value, so that JSON stays JSON. */
function emptied(value: string): string {
  const [open = ''] = /^\\*["']/.exec(value) ?? [];
  return `${open}${REDACTED}${open !== '' && value.endsWith(open) && value.length > open.length ? open : ''}`;
}

export function decodedName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/**
 * A JSON value without secrets (decision 59): values of members with secret names at any depth, and all that `redactText`
 * replaces in texts and in names.
 */
export const redacted = (value: unknown): unknown => redactValue(value, redactText);

/** The tokens of a JSON text, white space among them. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|\s+|[^\s"{}[\]:,]+/gs;

/** How a token changes the number of open objects and arrays. */
const DEPTHS = new Map([
  ['{', 1],
  ['[', 1],
  ['}', -1],
  [']', -1],
]);

/** Reads the tokens of one JSON text, in their order. */
class TokenRedactor {
  /** The objects and arrays around the token, by their first character. */
  private readonly open: string[] = [];
  private isName = false;
  private hasSecretName = false;
  /** Objects and arrays around the token within a value that is left out. */
  private leftOut = 0;

  constructor(
    private readonly clean: (text: string) => string,
    private readonly isSecret: (name: string) => boolean,
  ) {}

  /** What stands for the token. */
  read(token: string): string {
    const depth = DEPTHS.get(token) ?? 0;
    if (this.leftOut > 0) {
      this.leftOut += depth;
      return '';
    }
    const isValue = !this.isName && !/^[\s:,}\]]/.test(token);
    if (isValue && (this.hasSecretName || (depth > 0 && this.open.length > MAX_DEPTH))) {
      this.hasSecretName = false;
      this.leftOut = depth;
      return JSON.stringify(REDACTED);
    }
    const text = token.startsWith('"') ? this.textOf(token) : token;
    if (depth > 0) this.open.push(token);
    if (depth < 0) this.open.pop();
    if (!/^\s/.test(token)) this.isName = (token === '{' || token === ',') && this.open.at(-1) === '{';
    return text;
  }

  private textOf(token: string): string {
    const text = JSON.parse(token) as string;
    if (this.isName) this.hasSecretName = this.isSecret(text);
    const cleaned = this.clean(text);
    return cleaned === text ? token : JSON.stringify(cleaned);
  }
}

/**
 * JSON text with `clean` applied to its names and texts, and without the values of secret names. Every other byte stays as it
 * is: white space, digits, escapes, repeated names. Throws if it is no JSON.
 */
export function redactJson(
  json: string,
  clean: (text: string) => string = redactText,
  isSecret = isSecretName,
): string {
  JSON.parse(json);
  const tokens = new TokenRedactor(clean, isSecret);
  return Array.from(json.matchAll(TOKEN), ([token]) => tokens.read(token)).join('');
}

/** JSON text with secrets of ours masked. The values of secret names stay: they are data of the caller. */
export const maskJson = (json: string): string =>
  maskSecretsInData(json) === json
    ? json
    : redactJson(
        json,
        (text) => maskSecretsInData(text),
        () => false,
      );

/** The same with another replacement in texts. Values that are no JSON are copied. */
function redactValue(value: unknown, clean: (text: string) => string): unknown {
  const walk = (each: unknown, depth: number): unknown => {
    if (typeof each === 'string') return clean(each);
    if (typeof each !== 'object' || each === null) return each;
    if (depth > MAX_DEPTH) return REDACTED;
    if (Array.isArray(each)) return each.map((element) => walk(element, depth + 1));
    const members = Object.entries(each).map(([name, member]) => [
      clean(name),
      isSecretName(name) ? REDACTED : walk(member, depth + 1),
    ]);
    return Object.fromEntries(members) as unknown;
  };
  return walk(value, 0);
}
