import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { AppError } from '../errors/app-error.js';
import { soleHeader } from '../http/headers.js';
import { passLimiter } from './served-api.js';

/** A sign-in to the console: with a token of the admin API, or with a partner's key. */
export interface ConsoleSession {
  readonly kind: 'admin' | 'reader' | 'partner';
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** The key of a partner, which each call checks again. */
  readonly apiKey?: string;
}

export const SESSION_COOKIE = 'haulbridge_session';
export const SESSION_MS = 12 * 3_600_000;
const [NONCE_BYTES, TAG_BYTES] = [12, 16];
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * The sessions of the console. The cookie itself is the session, sealed with a key derived from SECRETS_KEY, so that every
 * instance accepts it. Another ADMIN_TOKEN or ADMIN_READ_TOKEN ends all sessions.
 */
@Injectable()
export class ConsoleSessions {
  private readonly key: Buffer;
  private readonly tokens: Readonly<Record<'admin' | 'reader', Buffer | undefined>>;
  private readonly additionalData: Buffer;

  constructor(@Inject(ENV) env: Pick<ResolvedEnv, 'ADMIN_TOKEN' | 'ADMIN_READ_TOKEN' | 'SECRETS_KEY'>) {
    this.key = Buffer.from(hkdfSync('sha256', env.SECRETS_KEY, '', 'haulbridge console sessions', 32));
    const { ADMIN_TOKEN, ADMIN_READ_TOKEN } = env;
    this.tokens = {
      admin: digest(ADMIN_TOKEN),
      reader: ADMIN_READ_TOKEN === undefined ? undefined : digest(ADMIN_READ_TOKEN),
    };
    this.additionalData = digest(JSON.stringify([ADMIN_TOKEN, ADMIN_READ_TOKEN]));
  }

  /** The rights of a token of the admin API. */
  kindOf(token: string): 'admin' | 'reader' | undefined {
    const given = digest(token);
    // Digests have one length, so the time of the comparison depends on neither length nor content.
    return (['admin', 'reader'] as const).find((kind) => {
      const expected = this.tokens[kind];
      return expected !== undefined && timingSafeEqual(given, expected);
    });
  }

  seal(session: ConsoleSession): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce).setAAD(this.additionalData);
    const sealed = Buffer.concat([cipher.update(JSON.stringify(session), 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /** The session of a request. A write needs `X-Console: 1`, which a page of another site cannot send. */
  of(request: Pick<Request, 'rawHeaders' | 'method'>): ConsoleSession | undefined {
    const session = this.unseal(cookieOf(soleHeader(request, 'cookie') ?? '', SESSION_COOKIE));
    if (session === undefined || READS.has(request.method) || soleHeader(request, 'x-console') === '1') return session;
    throw new AppError('unauthorized', 'send X-Console: 1 with each change that a console session makes');
  }

  private unseal(text: string | undefined): ConsoleSession | undefined {
    const bytes = Buffer.from(text ?? '', 'base64url');
    if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
    try {
      const cipher = createDecipheriv('aes-256-gcm', this.key, bytes.subarray(0, NONCE_BYTES))
        .setAAD(this.additionalData)
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      const sealed = bytes.subarray(NONCE_BYTES, -TAG_BYTES);
      const session = JSON.parse(cipher.update(sealed, undefined, 'utf8') + cipher.final('utf8')) as ConsoleSession;
      return session.expiresAt > Date.now() ? session : undefined;
    } catch {
      // Damaged, or sealed with other secrets.
      return undefined;
    }
  }
}

function cookieOf(header: string, name: string): string | undefined {
  const pair = header.split(/; */).find((each) => each.startsWith(`${name}=`));
  return pair?.slice(name.length + 1);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Failed sign-ins that one address may make within a minute, on each instance. */
const MAX_TRIES = 10;

/** Limits how fast secrets can be tried. */
@Injectable()
export class SignInTries implements CanActivate {
  private readonly limiter = rateLimit({
    windowMs: 60_000,
    limit: MAX_TRIES,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    skipSuccessfulRequests: true,
    handler: (_request, _response, next) =>
      next(new AppError('tooManyRequests', 'too many failed sign-ins from this address; see Retry-After')),
    // Behind a proxy all visitors have its address and share one limit.
    validate: false,
  });

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    await passLimiter(this.limiter, http.getRequest<Request>(), http.getResponse<Response>());
    return true;
  }
}
