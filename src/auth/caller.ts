import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { ResolvedEnv } from '../core/config/env.js';
import type { AdminCaller, HaulerPrincipal, Principal } from '../core/http/principal.js';
import type { Request, Response } from 'express';
import type { Call } from '../core/http/call.js';

type TokenVariables = Pick<ResolvedEnv, 'ADMIN_TOKEN' | 'ADMIN_READ_TOKEN' | 'ADMIN_TOKENS' | 'SECRETS_KEY'>;

/** The tokens of the admin API, by their digests. */
export class AdminTokens {
  private readonly key: Buffer;
  private readonly tokens: readonly (readonly [mac: Buffer, caller: AdminCaller])[];

  constructor({ ADMIN_TOKEN, ADMIN_READ_TOKEN, ADMIN_TOKENS = [], SECRETS_KEY }: TokenVariables) {
    this.key = Buffer.from(hkdfSync('sha256', SECRETS_KEY, '', 'haulbridge console sessions', 32));
    const callers: [string, AdminCaller][] = [
      [ADMIN_TOKEN, { role: 'admin', name: 'admin token', actor: 'admin' }],
      ...ADMIN_TOKENS.map(({ token, name, ...access }): [string, AdminCaller] => [
        token,
        { ...access, name, actor: `token:${name}` },
      ]),
    ];
    const reader = { role: 'viewer+video', name: 'read-only token', actor: 'reader', isReadToken: true } as const;
    if (ADMIN_READ_TOKEN !== undefined) callers.push([ADMIN_READ_TOKEN, reader]);
    this.tokens = callers.map(([token, caller]) => [this.macOf(token), caller]);
  }

  find(token: string): AdminCaller | undefined {
    return this.findMac(this.macOf(token));
  }

  /** Digests have one length, so the time of the comparison depends on neither length nor content. */
  findMac(given: Buffer): AdminCaller | undefined {
    return this.tokens.find(([mac]) => timingSafeEqual(given, mac))?.[1];
  }

  /** With a key, so that a copy of the table of sessions does not allow to guess a token. */
  macOf(token: string): Buffer {
    return createHmac('sha256', this.key).update(token).digest();
  }
}

/**
 * The caller of a request. Routes call this function, because the global pipes would process a parameter with its own
 * decorator on every call.
 */
export function principalOf({ principal }: Call): Principal {
  if (principal === undefined) throw new Error('the route needs an API key');
  return principal;
}

/** The caller, and the response that receives headers. */
export function callContextOf({ call: { principal }, res: response }: Request): {
  caller: HaulerPrincipal;
  response: Response;
} {
  if (response === undefined || !hasHauler(principal)) throw new Error('the route needs the API key of a hauler');
  return { caller: principal, response };
}

function hasHauler(principal: Principal | undefined): principal is HaulerPrincipal {
  return typeof principal?.haulerId === 'string';
}
