import type { NetworkCause } from './network-causes.values.js';

/** Libraries wrap the error of Node.js. */
const MAX_CAUSES = 5;

const CAUSES: Readonly<Record<string, NetworkCause>> = {
  ECONNREFUSED: 'connection-refused',
  ENOTFOUND: 'name-unknown',
  ENODATA: 'name-unknown',
  EAI_AGAIN: 'name-unresolved',
  EAI_FAIL: 'name-unresolved',
  ESERVFAIL: 'name-unresolved',
  ETIMEOUT: 'name-unresolved',
  EHOSTUNREACH: 'no-route',
  ENETUNREACH: 'no-route',
  CERT_HAS_EXPIRED: 'certificate-expired',
  CERT_NOT_YET_VALID: 'certificate-not-yet-valid',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate-self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate-untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate-untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate-untrusted',
  CERT_UNTRUSTED: 'certificate-untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate-incomplete',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate-of-another-host',
  ERR_TLS_CERT_ALTNAME_FORMAT: 'certificate-of-another-host',
  HOSTNAME_MISMATCH: 'certificate-of-another-host',
  CERT_REVOKED: 'certificate-revoked',
  CERT_CHAIN_TOO_LONG: 'certificate-invalid',
  CERT_REJECTED: 'certificate-invalid',
  CERT_SIGNATURE_FAILURE: 'certificate-invalid',
  INVALID_CA: 'certificate-invalid',
  INVALID_PURPOSE: 'certificate-invalid',
  PATH_LENGTH_EXCEEDED: 'certificate-invalid',
  EPROTO: 'no-tls',
  ERR_SSL_WRONG_VERSION_NUMBER: 'no-tls',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'no-tls',
};

/** `originalCode` is that of Node.js where nodemailer has one of its own. */
interface Wrapped {
  readonly code?: unknown;
  readonly originalCode?: unknown;
  readonly cause?: Wrapped;
}

/** Why no connection was made, by the code of an error of Node.js; undefined for any other. */
export function networkCause(error: unknown): NetworkCause | undefined {
  for (const { code, originalCode } of withCauses(error)) {
    for (const each of [originalCode, code]) {
      if (typeof each !== 'string') continue;
      const known = CAUSES[each] ?? (each.startsWith('ERR_SSL_') ? 'tls-failed' : undefined);
      if (known !== undefined) return known;
    }
  }
  return undefined;
}

/** The error, and those that it wraps. */
export function* withCauses(error: unknown): Generator<Wrapped> {
  let cause = error as Wrapped | undefined;
  for (let depth = 0; cause != null && depth < MAX_CAUSES; depth++, cause = cause.cause) yield cause;
}
