import { AddressRefusedError } from './address-guard.js';
import { networkCause, withCauses } from '../../contracts/common/network-cause.js';
import { NETWORK_CAUSES, type NetworkCause } from '../../contracts/common/network-causes.values.js';
import { MAX_HEAD_BYTES } from '../../contracts/common/answer-limits.js';
import { HEAD_TOO_LARGE, learnParseError } from './guarded-agents.js';

/** Why an outbound call has no whole response. */
export interface NetworkFailure {
  /** `unreachable`: the request was not sent. `broken`: it may have been received. */
  readonly kind: 'addressRefused' | 'unreachable' | 'broken';
  /** A sentence for an admin. It contains no path and no query. */
  readonly message: string;
  readonly cause?: NetworkCause | undefined;
}

/** Of an error of Node.js or axios, before the response or during it (`hasResponse`). */
export function networkFailure(error: unknown, host: string, hasResponse: boolean): NetworkFailure {
  const refused = withCauses(error).find((each) => each instanceof AddressRefusedError);
  if (refused !== undefined) return { kind: 'addressRefused', message: refused.message };
  const { code } = error as { readonly code?: unknown };
  if (code === HEAD_TOO_LARGE)
    return { kind: 'broken', message: `The head of the answer of ${host} is larger than ${MAX_HEAD_BYTES / 1024} KB.` };
  if (learnParseError(host, error as NodeJS.ErrnoException))
    return { kind: 'broken', message: `${host} sent invalid HTTP (${String(code)}).` };
  // A connection that was kept open since an earlier call may break before the first byte of this response.
  if (hasResponse || code === 'ECONNRESET' || code === 'EPIPE')
    return { kind: 'broken', message: `The connection to ${host} broke before its whole answer had come.` };
  const cause = networkCause(error);
  return { kind: 'unreachable', message: `${host} could not be reached: ${reasonOf(cause, code)}.`, cause };
}

function reasonOf(cause: NetworkCause | undefined, code: unknown): string {
  if (code === 'ETIMEDOUT') return 'it does not answer';
  if (cause !== undefined) return NETWORK_CAUSES[cause];
  return typeof code === 'string' ? `the connection failed (${code})` : 'the connection failed';
}
