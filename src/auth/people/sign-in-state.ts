import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { CookieOptions, Request, Response } from 'express';
import { cookieValue } from '../../core/http/headers.js';

/** What a sign-in remembers while the person is at the identity provider. */
export interface SignInState {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Path of the console page to go to. */
  readonly returnTo: string;
  readonly isSilent: boolean;
}

const PREFIX = 'haulbridge_oidc_';
const LIFETIME_MS = 600_000;
// Lax: the answer of the identity provider is a navigation from its site.
const OPTIONS: CookieOptions = { httpOnly: true, sameSite: 'lax', path: '/console/api/oidc' };

/**
 * The state of a sign-in in a signed cookie of the browser, since the answer may arrive at another instance. Each sign-in has
 * a cookie of its own, because several tabs may sign in at once.
 */
export class SignInStates {
  private readonly key: Buffer;

  constructor(secretsKey: Buffer) {
    this.key = Buffer.from(hkdfSync('sha256', secretsKey, '', 'haulbridge sign-ins', 32));
  }

  remember(state: SignInState, { secure }: Request, response: Response): void {
    const text = Buffer.from(JSON.stringify({ ...state, endsAt: Date.now() + LIFETIME_MS })).toString('base64url');
    const value = `${text}.${this.signatureOf(text).toString('base64url')}`;
    response.cookie(nameOf(state.state), value, { ...OPTIONS, secure, maxAge: LIFETIME_MS });
  }

  /** The sign-in that an answer of the identity provider belongs to, once: the browser forgets it. */
  take(state: string, request: Request, response: Response): SignInState | undefined {
    const value = cookieValue(request, nameOf(state));
    if (value === undefined) return undefined;
    response.clearCookie(nameOf(state), OPTIONS);
    const [text = '', signature = ''] = value.split('.');
    const given = Buffer.from(signature, 'base64url');
    const expected = this.signatureOf(text);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    const { endsAt, ...known } = JSON.parse(Buffer.from(text, 'base64url').toString()) as SignInState & {
      readonly endsAt: number;
    };
    return Date.now() < endsAt && known.state === state ? known : undefined;
  }

  private signatureOf(text: string): Buffer {
    return createHmac('sha256', this.key).update(text).digest();
  }
}

/** Any text may be asked for: the characters of a name are checked. */
const nameOf = (state: string): string => PREFIX + state.replace(/[^\w-]/g, '').slice(0, 16);

const BASE = 'http://console.invalid';

/** A path of the console, from a text that anyone may have written; the first page for any other address. */
export function consolePathOf(text: unknown): string {
  if (typeof text !== 'string' || !URL.canParse(text, BASE)) return '/console/';
  const { origin, pathname, search } = new URL(text, BASE);
  return origin === BASE && /^\/console(\/|$)/.test(pathname) ? pathname + search : '/console/';
}
