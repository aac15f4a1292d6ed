import type { SettledEnv } from '../config/env.js';

/** How long and how much a call may take: never a library's default. */
export interface PartnerSettings {
  /** Until the whole answer of one try is here. */
  readonly answerMs: number;
  /** Bytes of an answer after decompression. */
  readonly maxBytes: number;
  /** What the wait before a second try is made of; it doubles. */
  readonly retryBaseMs: number;
  /** Failures in a row after which a connection is left alone, and for how long. */
  readonly breakAfter: number;
  readonly breakMs: number;
}

/** Injection token of `PartnerSettings`. */
export const PARTNER_SETTINGS = Symbol('PARTNER_SETTINGS');

export function partnerSettings(
  env: Pick<SettledEnv, 'PARTNER_ANSWER_TIMEOUT' | 'PARTNER_BODY_LIMIT'>,
): PartnerSettings {
  return {
    answerMs: env.PARTNER_ANSWER_TIMEOUT,
    maxBytes: env.PARTNER_BODY_LIMIT,
    retryBaseMs: 500,
    breakAfter: 6,
    breakMs: 30_000,
  };
}
