import { isJsonObject } from '../contracts/common/json.js';
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

/** A number of which the digits are kept. */
const { isRawJSON: isRawNumber } = JSON as unknown as { readonly isRawJSON: (value: unknown) => boolean };

/** The same with another replacement in texts. Values that are no JSON are copied. */
export function redactValue(value: unknown, clean: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return clean(value);
  if (typeof value !== 'object' || value === null) return value;
  if (isRawNumber(value)) return value;
  if (depth > MAX_DEPTH) return REDACTED;
  if (Array.isArray(value)) return value.map((element) => redactValue(element, clean, depth + 1));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, each]) => [
    clean(name),
    isSecretName(name) ? REDACTED : redactValue(each, clean, depth + 1),
  ]);
  return Object.fromEntries(members) as unknown;
}
