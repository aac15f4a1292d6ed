import { gzipSync } from 'node:zlib';
import type { ResolvedEnv } from '../../src/config/env.js';
import type { FailureKind } from '../../src/partner-client/partner-failure.js';
import * as partnerDoes from '../support/scripted-partner.js';
import type { ScriptedReply } from '../support/scripted-partner.js';

/** Limits that a test can wait for; a busy machine still answers within them. */
export const PARTNER_LIMITS = {
  OUTBOUND_ALLOW_PRIVATE: true,
  PARTNER_CONNECT_TIMEOUT: 500,
  PARTNER_ANSWER_TIMEOUT: 2_000,
  PARTNER_BODY_LIMIT: 1_048_576,
} as const satisfies Partial<ResolvedEnv>;

interface BadAnswer {
  readonly reply: ScriptedReply;
  readonly kind: FailureKind;
  /** A part of the sentence that an admin reads. */
  readonly sentence: string;
}

export interface PartnerFault extends BadAnswer {
  readonly does: string;
  /** Requests of one GET. */
  readonly tries: number;
}

const EMPTY = JSON.stringify({ success: true, data: {} });
const gzip = { headers: { 'Content-Encoding': 'gzip' } };
const late = 'did not send its whole answer within 2 s';
const large = 'is larger than 1 MB';

const fault = (
  does: string,
  reply: ScriptedReply,
  kind: FailureKind,
  sentence: string,
  { tries = 1 } = {},
): PartnerFault => ({ does, reply, kind, sentence, tries });

/** Each way in which a partner can fail to send a response. */
export const PARTNER_FAILURES: readonly PartnerFault[] = [
  fault('hangs', partnerDoes.hangs(), 'timedOut', late),
  fault('trickles for ever', partnerDoes.trickles(20), 'timedOut', late),
  fault('never ends', partnerDoes.endless(), 'tooLarge', large),
  fault('unpacks to too much', partnerDoes.gzipped(Buffer.alloc(50_000_000, 0x20)), 'tooLarge', large),
  fault('breaks at once', partnerDoes.breaks('', 0), 'broken', 'broke before its whole answer', { tries: 3 }),
  fault('breaks in the middle', partnerDoes.breaks(EMPTY, 5), 'broken', 'broke before', { tries: 3 }),
  fault('sends half a gzip', partnerDoes.raw(gzipSync(EMPTY).subarray(0, 20), gzip), 'broken', 'broke', { tries: 3 }),
  fault('sends what is no gzip', partnerDoes.raw('{}{}{}{}', gzip), 'notJson', 'not valid JSON'),
  fault(
    'sends an unknown coding',
    partnerDoes.raw('{}', { headers: { 'Content-Encoding': 'compress' } }),
    'breach',
    'unsupported Content-Encoding',
  ),
  fault(
    'sends a coding with the name of something that every object has',
    partnerDoes.raw('{}', { headers: { 'Content-Encoding': 'constructor' } }),
    'breach',
    'unsupported Content-Encoding',
  ),
  fault('redirects', partnerDoes.redirects('http://127.0.0.1:1/'), 'redirected', 'redirect (302)'),
  fault('redirects for good', partnerDoes.redirects('https://x.example/', 308), 'redirected', 'redirect (308)'),
  fault('does not know our key', partnerDoes.refuses(401, 'UNAUTHORIZED'), 'unauthorized', 'not accept our API key'),
  fault(
    'rejects the call',
    partnerDoes.refuses(400, 'INVALID_PAYLOAD', 'this is odd.'),
    'rejected',
    'with status 400 INVALID_PAYLOAD: this is odd.',
  ),
  fault('forbids', partnerDoes.html(403), 'rejected', 'with status 403.'),
  fault('is gone', partnerDoes.refuses(410, 'GONE'), 'rejected', 'with status 410 GONE: no.'),
  fault('fails', partnerDoes.refuses(500, 'INTERNAL_ERROR'), 'failed', 'failed with status 500 INTERNAL_ERROR'),
  fault('is not available', partnerDoes.html(503), 'unavailable', 'not available now (status 503)', { tries: 3 }),
  fault('has a bad gateway', partnerDoes.html(502), 'unavailable', '(status 502)', { tries: 3 }),
  fault('has a slow gateway', partnerDoes.html(504), 'unavailable', '(status 504)', { tries: 3 }),
  fault('wants fewer calls', partnerDoes.html(429), 'rateLimited', 'fewer calls (status 429)', { tries: 3 }),
  fault('has nothing to say', partnerDoes.raw('', { status: 204 }), 'breach', 'status 204'),
];

export interface BadBody extends BadAnswer {
  readonly is: string;
}

/** Each body with status 200 that breaks every contract. */
export const BAD_BODIES: readonly BadBody[] = [
  { is: 'an HTML page', reply: partnerDoes.html(), kind: 'notJson', sentence: 'an HTML page instead of JSON' },
  { is: 'empty', reply: partnerDoes.raw(''), kind: 'notJson', sentence: 'an empty body instead of JSON' },
  { is: 'blank', reply: partnerDoes.raw(' \n '), kind: 'notJson', sentence: 'an empty body instead of JSON' },
  { is: 'truncated', reply: partnerDoes.raw('{"success":true,"data":{'), kind: 'notJson', sentence: 'not valid JSON' },
  { is: 'no UTF-8', reply: partnerDoes.raw(Buffer.from('22ff22', 'hex')), kind: 'notJson', sentence: 'not valid JSON' },
  { is: 'a list', reply: partnerDoes.json([]), kind: 'breach', sentence: 'the body must be an object' },
];
