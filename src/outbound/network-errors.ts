import { AddressRefusedError } from './address-guard.js';
import { MAX_HEAD_BYTES } from '../contracts/common/answer-limits.js';
import { HEAD_TOO_LARGE, learnParseError } from './lenient-hosts.js';

/** Why an outbound call has no whole response. */
export interface NetworkFailure {
  /** `unreachable`: the request was not sent. `broken`: it may have been received. */
  readonly kind: 'addressRefused' | 'unreachable' | 'broken';
  /** A sentence for an admin. It contains no path and no query. */
  readonly message: string;
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'it refuses connections',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be resolved at the moment',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'no route to host',
  ETIMEDOUT: 'it does not answer',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate cannot be verified',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate cannot be verified',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  EPROTO: 'it does not speak TLS',
};

/** Of an error of Node.js or axios, before the response or during it (`hasResponse`). */
export function networkFailure(error: unknown, host: string, hasResponse: boolean): NetworkFailure {
  const refused = addressRefusedIn(error);
  if (refused !== undefined) return { kind: 'addressRefused', message: refused.message };
  const { code } = error as { readonly code?: unknown };
  if (code === HEAD_TOO_LARGE)
    return { kind: 'broken', message: `The head of the answer of ${host} is larger than ${MAX_HEAD_BYTES / 1024} KB.` };
  if (learnParseError(host, error as NodeJS.ErrnoException))
    return { kind: 'broken', message: `${host} sent invalid HTTP (${String(code)}).` };
  // A connection that was kept open since an earlier call may break before the first byte of this response.
  if (hasResponse || code === 'ECONNRESET' || code === 'EPIPE')
    return { kind: 'broken', message: `The connection to ${host} broke before its whole answer had come.` };
  const reason = typeof code === 'string' ? (REASONS[code] ?? `the connection failed (${code})`) : undefined;
  return { kind: 'unreachable', message: `${host} could not be reached: ${reason ?? 'the connection failed'}.` };
}

/** axios and Node.js wrap the error of the address guard. */
function addressRefusedIn(error: unknown): AddressRefusedError | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if (cause instanceof AddressRefusedError) return cause;
  }
  return undefined;
}
