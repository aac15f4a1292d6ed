import { hash, randomBytes } from 'node:crypto';
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { CookieOptions, Request, Response } from 'express';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { openText, sealText } from '../core/config/sealed-text.js';
import { Database } from '../core/database/database.js';
import { Sweep } from '../core/database/sweep.js';
import { uuidv7 } from '../core/database/uuid.js';
import { AppError } from '../core/errors/app-error.js';
import { cookieValue, soleHeader } from '../core/http/headers.js';
import type { AdminCaller } from '../core/http/principal.js';
import { AdminTokens } from './caller.js';
import { findValidKey } from './api-key.repository.js';
import { BatchedLookup } from './batched-lookup.js';
import { type KnownKey, knownKey } from './key-cache.js';
import {
  deleteExpiredSessions,
  deleteSession,
  findSessions,
  insertSession,
  type NewSession,
  type SessionRow,
  type SessionSecret,
  type SessionToken,
} from './console-session.repository.js';
import { People, PERSON_SESSION_MS, personCaller } from './people/people.js';

/** The rights of a session: those of a token of the admin API, or of a partner's key. */
export type ConsoleSession =
  { readonly caller: AdminCaller; readonly key?: undefined } | { readonly key: KnownKey; readonly caller?: undefined };

/** The secret of a sign-in, or the person, which has been checked. */
export type SignIn = { readonly token: string } | { readonly keyId: string } | SignedInPerson;

interface SignedInPerson extends AdminCaller {
  /** For the sign-out at the identity provider. */
  readonly idToken?: string;
}

const SESSION_COOKIE = 'haulbridge_session';
const COOKIE_OPTIONS: CookieOptions = { httpOnly: true, sameSite: 'strict' };
const SESSION_MS = 12 * 3_600_000;
const SWEEP_INTERVAL_MS = 600_000;
const COOKIE_BYTES = 32;
const COOKIE = /^[\w-]{43}$/;
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * The sessions of the console (decision 57): a random cookie, and a row with its hash. Each request reads the row, and the
 * secret of its sign-in is compared again, so that a session ends on every instance at once: by sign-out, with another
 * token, and with a key that is revoked or has expired.
 */
@Injectable()
export class ConsoleSessions implements BeforeApplicationShutdown {
  private readonly sweep = new Sweep((stopping) => deleteExpiredSessions(this.database, stopping));
  private readonly secretsKey: Buffer;
  private readonly lookup: BatchedLookup<SessionRow>;

  constructor(
    private readonly tokens: AdminTokens,
    private readonly people: People,
    private readonly database: Database,
    @Inject(ENV) { SECRETS_KEY }: Pick<ResolvedEnv, 'SECRETS_KEY'>,
  ) {
    this.secretsKey = SECRETS_KEY;
    this.lookup = new BatchedLookup(async (hashes) => {
      const rows = await findSessions(database.hot, hashes);
      return rows.map((row) => [row.cookieHash.toString('base64url'), row]);
    });
  }

  /** Starts a session, and ends the one that the browser had: nobody could sign it out any more. */
  async signIn(signIn: SignIn, request: Request, response: Response): Promise<void> {
    await this.end(request);
    const cookie = randomBytes(COOKIE_BYTES).toString('base64url');
    const row = { cookieHash: Buffer.from(hashOf(cookie), 'base64url'), ...this.secretOf(signIn) };
    const lifetimeMs = 'person' in signIn ? PERSON_SESSION_MS : SESSION_MS;
    await insertSession(this.database, row, lifetimeMs / 1_000);
    response.cookie(SESSION_COOKIE, cookie, { ...COOKIE_OPTIONS, secure: request.secure, maxAge: lifetimeMs });
  }

  /** Returns the ID token of the session of a person. */
  async signOut(request: Request, response: Response): Promise<string | undefined> {
    const idToken = await this.end(request);
    response.clearCookie(SESSION_COOKIE, COOKIE_OPTIONS);
    return idToken;
  }

  /** The session of a request. A write needs `X-Console: 1`, which a page of another site cannot send. */
  async of(request: Pick<Request, 'headers' | 'rawHeaders' | 'method'>): Promise<ConsoleSession | undefined> {
    const cookie = cookieOf(request);
    if (cookie === undefined) return undefined;
    if (!READS.has(request.method) && soleHeader(request, 'x-console') !== '1') {
      throw new AppError('unauthorized', 'send X-Console: 1 with each change that a console session makes');
    }
    const row = await this.lookup.find(hashOf(cookie));
    if (row === undefined) return undefined;
    if (row.keyId === null) {
      const caller = this.callerOf(row);
      return caller && { caller };
    }
    const key = await findValidKey(this.database, row.keyId);
    return key && { key: knownKey(key) };
  }

  /** The token or person of a session that has no key; undefined if the token or the settings have changed. */
  callerOf({ tokenMac, person, role, haulers }: Omit<SessionSecret, 'keyId'>): AdminCaller | undefined {
    if (tokenMac === null) return undefined;
    if (person === null || role === null) return this.tokens.findMac(tokenMac);
    const isCurrent = this.people.settingsMac?.equals(tokenMac) === true;
    return isCurrent ? personCaller(person, { role, ...(haulers === null ? {} : { haulers }) }) : undefined;
  }

  /** The hash of the cookie of a request, which identifies its session in a list. */
  hashIn(request: Pick<Request, 'headers'>): Buffer | undefined {
    const cookie = cookieOf(request);
    return cookie === undefined ? undefined : Buffer.from(hashOf(cookie), 'base64url');
  }

  @Interval('console sessions', SWEEP_INTERVAL_MS)
  deleteExpired(): Promise<void> {
    return this.sweep.run();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.sweep.stop();
  }

  /** Ends the session of a request, if it has one, and returns its ID token. */
  private async end(request: Pick<Request, 'headers'>): Promise<string | undefined> {
    const cookie = cookieOf(request);
    if (cookie === undefined) return undefined;
    const ended = await deleteSession(this.database, Buffer.from(hashOf(cookie), 'base64url'));
    return ended && this.openIdToken(ended);
  }

  /** One that cannot be opened is left out: the provider then asks the person. */
  private openIdToken({ id, idToken }: SessionToken): string | undefined {
    return idToken === null ? undefined : openText(this.secretsKey, ownerOf(id), idToken);
  }

  private secretOf(signIn: SignIn): Omit<NewSession, 'cookieHash'> {
    const id = uuidv7();
    const none = { id, tokenMac: null, keyId: null, person: null, role: null, haulers: null, idToken: null };
    if ('token' in signIn) return { ...none, tokenMac: this.tokens.macOf(signIn.token) };
    if ('keyId' in signIn) return { ...none, keyId: signIn.keyId };
    const { person = null, role, haulers = null, idToken } = signIn;
    const sealed = idToken === undefined ? null : sealText(this.secretsKey, ownerOf(id), idToken);
    return { ...none, tokenMac: this.people.settingsMac ?? null, person, role, haulers, idToken: sealed };
  }
}

/** The value of the session's cookie, if it has the form of one that this service sets. */
function cookieOf(request: Pick<Request, 'headers'>): string | undefined {
  const value = cookieValue(request, SESSION_COOKIE);
  return value !== undefined && COOKIE.test(value) ? value : undefined;
}

const ownerOf = (id: string): string => `haulbridge session ${id}`;

const hashOf = (cookie: string): string => hash('sha256', cookie, 'base64url');
