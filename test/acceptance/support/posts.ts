import { expect } from '@jest/globals';
import type { Reply } from '../../support/http.js';
import { type ErrorBody, flow, type Hauler, ONE_SITE, type Plain, TICKET } from './hauler.js';
import { call, listed } from './target.js';

let count = 0;
/** A text that no other test of this file uses. */
export const unique = (what = 'N'): string => `${what} ${++count}`;

/** A POST that the platform hosts. */
export interface Post {
  readonly name: 'scale' | 'account';
  readonly path: string;
  /** An admin list of what it creates. */
  readonly list: string;
  /** What a hauler needs before `body` succeeds. */
  readonly sites?: typeof ONE_SITE;
  /** A body that is answered with 200, another one each time. */
  body(): Plain;
  /** A body that the business refuses, after `hauler` has made what it collides with. */
  refused(hauler: Hauler): Promise<Plain>;
  /** The refusal of the business, and of a reused `Idempotency-Key`. */
  readonly refusal: { readonly status: number; readonly code: string };
}

export const POSTS: readonly Post[] = [
  {
    name: 'scale',
    path: '/platform-api/v1/tickets',
    list: '/tickets',
    sites: ONE_SITE,
    body: () => ({ ...TICKET, inboundFlow: flow(unique()) }),
    refused: () => Promise.resolve({ ...TICKET, siteId: '00000000-0000-4000-8000-000000000000' }),
    refusal: { status: 422, code: 'VALIDATION_ERROR' },
  },
  {
    name: 'account',
    path: '/platform-api/v1/accounts',
    list: '/accounts',
    body: () => ({ accountName: unique('Account') }),
    async refused(hauler) {
      const accountName = unique('Taken');
      await hauler.createAccount({ accountName });
      return { accountName, primaryContact: { firstName: 'Zoë' } };
    },
    refusal: { status: 409, code: 'CONFLICT' },
  },
];

export type Answered = Reply<ErrorBody & Plain>;

/** Posts with the key of the hauler. An object is sent as JSON, text and bytes as they are. */
export async function postAs(
  hauler: Hauler,
  { path }: Pick<Post, 'path'>,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  service = hauler.service,
): Promise<Answered> {
  return call('POST', path, { headers: { 'PLATFORM-API-KEY': await hauler.key(), ...headers }, body }, service);
}

/** How many tickets or accounts the hauler has. */
export const countOf = async ({ id, service }: Hauler, { list }: Pick<Post, 'list'>): Promise<number> =>
  (await listed(`${list}?haulerId=${id}`, service)).length;

/** The common error body, with nothing else in it and nothing of ours (section 2.1). */
export function expectError(
  reply: { readonly status: number; readonly headers: Headers; readonly body: ErrorBody },
  status: number,
  code = 'INVALID_PAYLOAD',
): void {
  expect([reply.status, reply.body]).toEqual([status, { success: false, error: expect.anything() }]);
  const { details, ...error } = reply.body.error;
  expect(error).toEqual({ code, message: expect.stringMatching(/\S/) });
  expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
  for (const violation of details?.violations ?? []) {
    expect(violation).toEqual({
      path: expect.any(String),
      rule: expect.stringMatching(/^[a-z][A-Za-z0-9]+$/),
      message: expect.stringMatching(/\S/),
    });
  }
  expect(JSON.stringify(reply.body)).not.toMatch(/\bat .*\.[jt]s|node_modules|SELECT|INSERT/);
}
