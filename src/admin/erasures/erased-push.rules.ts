import type { FieldChange } from '../../contracts/admin/history.dto.js';
import { isJsonObject } from '../../contracts/common/json.js';

/** The strings and signs of a JSON text; numbers, words and white space are between them. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]/g;

const ERASED = '[erased]';

/**
 * The text of a push without the custom fields whose value is one of `values` (in lower case); undefined if it has none. All other
 * bytes stay as they were sent: PostgreSQL cannot read each JSON text that was accepted, such as a number of 1e200000.
 */
export function withoutValues(text: string, values: ReadonlySet<string>): string | undefined {
  const parts: string[] = [];
  let from = 0;
  for (const { start, token } of customFieldsOf(text)) {
    if (!values.has((JSON.parse(token) as string).toLowerCase())) continue;
    parts.push(text.slice(from, start), JSON.stringify(ERASED));
    from = start + token.length;
  }
  return from === 0 ? undefined : parts.join('') + text.slice(from);
}

/** The same of what a push changed, in custom fields before and after it. */
export function changesWithoutValues(json: string, values: ReadonlySet<string>): string | undefined {
  let isErased = false;
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string' && values.has(value.toLowerCase())) {
      isErased = true;
      return ERASED;
    }
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, clean(member)]));
  };
  const { changes, ...more } = JSON.parse(json) as { readonly changes: readonly FieldChange[] };
  const cleaned = changes.map((change) => {
    if (!change.field.startsWith('customFields')) return change;
    return { ...change, before: clean(change.before), after: clean(change.after) };
  });
  return isErased ? JSON.stringify({ changes: cleaned, ...more }) : undefined;
}

interface Value {
  readonly start: number;
  readonly token: string;
}

/** The strings that are values of the member `customFields`, each time it occurs. `text` is valid JSON. */
function* customFieldsOf(text: string): Generator<Value> {
  let depth = 0;
  let isValue = false;
  let isWithin = false;
  let name = '';
  for (const { 0: token, index: start } of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') {
      depth += 1;
      if (depth === 2) isWithin = isValue && name === 'customFields';
      isValue = false;
    } else if (token === '}' || token === ']') depth -= 1;
    else if (token === ':' || token === ',') isValue = token === ':';
    else if (depth === 1 && !isValue) name = JSON.parse(token) as string;
    else if (depth === 2 && isValue && isWithin) yield { start, token };
  }
}
