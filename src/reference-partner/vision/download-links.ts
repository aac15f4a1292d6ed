import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { withoutFinalSlashes } from '../../contracts/common/text.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';
import { apiError } from '../../errors/app-error.js';
import { requestedOrigin } from '../../http/url.js';
import { type LinkTerms } from '../sandbox/vision-scenarios.service.js';
import type { FilmKind } from './film-tables.js';

export const FILES_PREFIX = '/media/v1';

export interface DownloadLink {
  readonly downloadUrl: string;
  readonly expiresAt: string;
}

/** Where links begin: the address that the service is known by from outside. */
export type LinkBase = string;

/** Download links that need no key: signed with HMAC-SHA256, and dead after VISION_LINK_TTL (decision 46). */
@Injectable()
export class DownloadLinks {
  private readonly key: Buffer;

  constructor(@Inject(ENV) private readonly env: ResolvedEnv) {
    this.key = Buffer.from(hkdfSync('sha256', env.SECRETS_KEY, '', 'haulbridge download links', 32));
  }

  /** PUBLIC_URL, else the host that was asked. */
  baseOf(request: Request): LinkBase {
    if (this.env.PUBLIC_URL !== undefined) return withoutFinalSlashes(this.env.PUBLIC_URL);
    return requestedOrigin(request);
  }

  sign(base: LinkBase, kind: FilmKind, id: string, { now, ttlMs, scenario }: LinkTerms): DownloadLink {
    const expires = Math.floor((now + (ttlMs ?? this.env.VISION_LINK_TTL)) / 1000);
    const signature = this.signature(kind, id, expires, scenario);
    const query = `expires=${expires}&signature=${signature}${scenario === undefined ? '' : `&scenario=${scenario}`}`;
    return {
      downloadUrl: `${base}${FILES_PREFIX}/${kind}/${id}.mp4?${query}`,
      expiresAt: formatInstant(new Date(expires * 1000)),
    };
  }

  /**
   * When the link expires, in milliseconds since the epoch. `unauthorized` where anything of the link was changed.
   * Compared as text: the same bytes and the same number have several spellings, of which we give one.
   */
  verify(kind: FilmKind, id: string, { expires, signature, scenario }: Request['query']): number {
    const seconds = typeof expires === 'string' && /^[1-9]\d{0,11}$/.test(expires) ? Number(expires) : undefined;
    const given = Buffer.from(typeof signature === 'string' ? signature : '');
    const expected = Buffer.from(this.signature(kind, id, seconds ?? 0, scenario));
    if (seconds === undefined || given.length !== expected.length || !timingSafeEqual(given, expected)) {
      throw apiError(VISION_API, 'unauthorized', 'the link is not one of ours: list the videos again');
    }
    return seconds * 1000;
  }

  /** `gone` for a link whose time is over. */
  assertValid(expiresAtMs: number, now: number): void {
    if (expiresAtMs <= now) throw apiError(VISION_API, 'gone', 'the link has expired: list the videos again');
  }

  private signature(kind: FilmKind, id: string, expires: number, scenario: unknown): string {
    const suffix = typeof scenario === 'string' ? `/${scenario}` : '';
    return createHmac('sha256', this.key).update(`${kind}/${id}/${expires}${suffix}`).digest('base64url');
  }
}
