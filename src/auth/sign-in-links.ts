import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { ConsoleSessions } from './console-sessions.js';
import { GuessLimit } from './limits.js';

const LIFETIME_MS = 12 * 3_600_000;

/** Links that sign in to the console with the admin token, each once. They belong to this process, which prints them. */
@Injectable()
export class SignInLinks {
  private readonly codes = new LRUCache<string, true>({ max: 10, ttl: LIFETIME_MS });

  constructor(
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'ADMIN_TOKEN'>,
    private readonly sessions: ConsoleSessions,
    private readonly guesses: GuessLimit,
  ) {}

  /** A new code, which works for 12 h. */
  issue(): string {
    const code = randomBytes(32).toString('base64url');
    this.codes.set(code, true);
    return code;
  }

  /** Leads to the console, or to the sign-in page. A `HEAD`, with which some programs look at a link first, takes nothing. */
  async open(code: string, request: Request, response: Response): Promise<void> {
    const isRead = request.method === 'GET';
    const isValid = isRead && this.codes.has(code) && this.codes.delete(code);
    if (isValid) await this.sessions.signIn({ token: this.env.ADMIN_TOKEN }, request, response);
    else if (isRead) await this.guesses.count('signIn', request, code);
    response.redirect(isValid ? '/console/' : '/console/?fault=stale');
  }
}
