import type { Violation } from '../contracts/common/violation.js';
import { summarise } from '../contracts/common/violation.js';

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'it refuses connections',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be resolved just now',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ETIMEDOUT: 'it does not answer',
  CONNECT_TIMEOUT: 'it does not answer',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate cannot be verified',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate cannot be verified',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  EPROTO: 'it does not speak TLS',
};

/** Why no connection came about, by the code of Node's error. */
function connectReason(code: string | undefined): string {
  if (code === undefined) return 'the connection failed';
  return REASONS[code] ?? `the connection failed (${code})`;
}

/** `256 MB`, `1.5 KB`. */
function sizeText(bytes: number): string {
  const [unit, name] = bytes >= 1_048_576 ? [1_048_576, 'MB'] : bytes >= 1_024 ? [1_024, 'KB'] : [1, 'bytes'];
  return `${Math.round((bytes / unit) * 10) / 10} ${name}`;
}

/** `60 s`, `200 ms`. */
function durationText(milliseconds: number): string {
  return milliseconds >= 1_000 ? `${Math.round(milliseconds / 100) / 10} s` : `${Math.round(milliseconds)} ms`;
}

/** Every failure in a sentence that an admin understands; `host` is the partner's. */
export const SENTENCES = {
  unreachable: (host: string, code: string | undefined) => `${host} could not be reached: ${connectReason(code)}.`,
  broken: (host: string) => `The connection to ${host} broke before its whole answer had come.`,
  timedOut: (host: string, ms: number) => `${host} did not send its whole answer within ${durationText(ms)}.`,
  tooLarge: (host: string, bytes: number) => `The answer of ${host} is larger than ${sizeText(bytes)}.`,
  coding: (host: string) => `The answer of ${host} is coded in a way that was not asked for.`,
  unauthorized: (host: string, keys: number) =>
    keys > 1 ? `${host} accepts neither our current nor our next API key.` : `${host} does not accept our API key.`,
  redirected: (host: string, status: number) =>
    `${host} answered with a redirect (${status}); our API key follows none.`,
  html: (host: string) => `${host} answered with an HTML page instead of JSON.`,
  empty: (host: string) => `${host} answered with an empty body instead of JSON.`,
  notJson: (host: string) => `${host} answered with something that is not valid JSON.`,
  breach: (host: string, violations: readonly Violation[]) =>
    `The answer of ${host} is not what the contract says: ${summarise(violations)}.`,
  unexpectedStatus: (host: string, status: number) =>
    `${host} answered with status ${status}, which the contract does not have here.`,
  rejected: (host: string, status: number, said: string) => `${host} rejected the call with status ${status}${said}.`,
  rateLimited: (host: string, said: string) => `${host} asks for fewer calls (status 429)${said}.`,
  unavailable: (host: string, status: number, said: string) =>
    `${host} is not available now (status ${status})${said}.`,
  failed: (host: string, status: number, said: string) => `${host} failed with status ${status}${said}.`,
  circuitOpen: (host: string, until: Date) =>
    `${host} has failed several times in a row and is left alone until ${until.toISOString().slice(0, 19)}Z.`,
  withdrawn: () => 'The connection was deleted, or its address was changed, before its partner was called.',
} as const;
