import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { ResolvedEnv } from '../core/config/env.js';
import type { AdminCaller } from '../core/http/principal.js';

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
