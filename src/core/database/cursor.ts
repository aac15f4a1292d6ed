import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { invalid } from '../errors/app-error.js';

/** Where a list goes on. Each part is a value of the sort key, or a row number. */
export type CursorParts = readonly (string | number)[];

/** Of this process. A process that serves lists signs with the key of all instances. */
let key = randomBytes(32);

/** Cursors are then valid for every instance with this SECRETS_KEY, also after a restart. */
export function signCursors(secretsKey: Buffer): void {
  key = Buffer.from(hkdfSync('sha256', secretsKey, '', 'haulbridge cursors', 32));
}

/** A cursor is valid for the list, the filters and the caller that `scope` names: it has a MAC of them and of its parts. */
export function cursorOf(scope: unknown, parts: CursorParts): string {
  const mac = createHmac('sha256', key)
    .update(JSON.stringify([scope, parts]))
    .digest('base64url');
  return Buffer.from(JSON.stringify([mac.slice(0, 16), ...parts])).toString('base64url');
}

/** Throws `invalid` for a text that `cursorOf` did not return for this scope. */
export function partsOf(cursor: string, scope: unknown): CursorParts {
  const parts = parsed(cursor);
  if (parts === undefined || !isSame(cursorOf(scope, parts), cursor)) throw invalidCursor();
  return parts;
}

/** Also of a cursor whose parts are no key of the list, such as that of an earlier version. */
export function invalidCursor() {
  const message = 'cursor must be the `next` of a page with the same filters';
  return invalid([{ path: 'cursor', rule: 'isCursor', message }]);
}

function isSame(own: string, given: string): boolean {
  const [one, other] = [Buffer.from(own), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
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
