import { createHash } from 'node:crypto';
import { invalid } from '../errors/app-error.js';

/** Where a list goes on. Each part is a value of the sort key, or a row number. */
export type CursorParts = readonly (string | number)[];

/** A cursor is valid for the list, the filters and the caller that `scope` names. It has a digest of them and of its parts. */
export function cursorOf(scope: unknown, parts: CursorParts): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([scope, parts]))
    .digest('base64url');
  return Buffer.from(JSON.stringify([digest.slice(0, 16), ...parts])).toString('base64url');
}

/** Throws `invalid` for a text that `cursorOf` did not return for this scope. */
export function partsOf(cursor: string, scope: unknown): CursorParts {
  const parts = parsed(cursor);
  if (parts !== undefined && cursorOf(scope, parts) === cursor) return parts;
  const message = 'cursor must be the `next` of a page with the same filters';
  throw invalid([{ path: 'cursor', rule: 'isCursor', message }]);
}

function parsed(cursor: string): CursorParts | undefined {
  try {
    const [, ...parts] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [string, ...CursorParts];
    return parts;
  } catch {
    return undefined;
  }
}

/** The filters of a query in one order, without those that say which page is wanted. */
export function filtersOf(query: object): [string, unknown][] {
  return Object.entries(query)
    .filter(([name, value]) => value !== undefined && !['page', 'pageSize', 'cursor'].includes(name))
    .sort();
}
