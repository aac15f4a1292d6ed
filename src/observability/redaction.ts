import { isSecretName, REDACTED, SECRET_ASSIGNMENT } from '../contracts/common/secret-names.js';
import { redactUrls } from '../outbound/redaction.js';
import { maskSecrets } from './known-secrets.js';

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

/** TypeScript's library does not have them yet. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  readonly rawJSON: (text: string) => unknown;
  readonly isRawJSON: (value: unknown) => boolean;
};

/** Like `JSON.parse`, but numbers keep their digits when the value becomes text again. */
function parseExactly(json: string): unknown {
  const reviver = (_name: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === 'number' && context?.source !== undefined ? rawJSON(context.source) : value;
  return JSON.parse(json, reviver);
}

/**
 * JSON text with `clean` applied to its names and texts, and without the values of secret names. Byte for byte the same if
 * that changes nothing. Throws if it is no JSON.
 */
export function redactJson(json: string, clean: (text: string) => string = redactText): string {
  const value: unknown = JSON.parse(json);
  try {
    const isSame =
      !hasHiddenMembers(json, value) && JSON.stringify(redactValue(value, clean)) === JSON.stringify(value);
    return isSame ? json : JSON.stringify(redactValue(parseExactly(json), clean));
  } catch (error) {
    // Nested too deeply to be written again.
    if (error instanceof RangeError) return JSON.stringify(REDACTED);
    throw error;
  }
}

/** Of members with the same name, `JSON.parse` returns the last: the others are in the text alone. */
function hasHiddenMembers(json: string, value: unknown): boolean {
  const colons = json.replace(/"(?:[^"\\]|\\.)*"/gs, '').split(':').length - 1;
  return colons !== membersIn(value);
}

function membersIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value).reduce((sum: number, each: unknown) => sum + membersIn(each), 0);
  return Array.isArray(value) ? inner : inner + Object.keys(value).length;
}

/** JSON text with secrets of ours masked. The values of secret names stay: they are data of the caller. */
export function maskJson(json: string): string {
  if (maskSecrets(json) === json) return json;
  return JSON.stringify(redactValue(parseExactly(json), maskSecrets, () => false));
}

/** The same with another replacement in texts, and with other names. Values that are no JSON are copied. */
export function redactValue(value: unknown, clean: (text: string) => string, isSecret = isSecretName): unknown {
  const walk = (each: unknown, depth: number): unknown => {
    if (typeof each === 'string') return clean(each);
    if (typeof each !== 'object' || each === null || isRawJSON(each)) return each;
    if (depth > MAX_DEPTH) return REDACTED;
    if (Array.isArray(each)) return each.map((element) => walk(element, depth + 1));
    const members = Object.entries(each).map(([name, member]) => [
      clean(name),
      isSecret(name) ? REDACTED : walk(member, depth + 1),
    ]);
    return Object.fromEntries(members) as unknown;
  };
  return walk(value, 0);
}
