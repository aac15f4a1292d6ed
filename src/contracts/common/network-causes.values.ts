/** What keeps a connection from being made: a code, and words that continue "host could not be reached: …". */
export const NETWORK_CAUSES = {
  'connection-refused': 'it refuses connections',
  'name-unknown': 'its name is not known',
  'name-unresolved': 'its name cannot be resolved at the moment',
  'no-route': 'no route to host',
  'certificate-expired': 'its certificate has expired',
  'certificate-not-yet-valid': 'its certificate is not valid yet',
  'certificate-self-signed': 'its certificate is self-signed',
  'certificate-untrusted': 'its certificate cannot be verified: the authority that issued it is not trusted here',
  'certificate-incomplete':
    'its certificate cannot be verified: the chain is incomplete, so the host must send its intermediate certificates, or the authority that issued it is not trusted here',
  'certificate-of-another-host': 'its certificate is for another host',
  'certificate-revoked': 'its certificate was revoked',
  'certificate-invalid': 'its certificate is not accepted',
  'no-tls': 'it does not speak TLS, or no TLS that is accepted here',
  'tls-failed': 'both sides agree on no version or cipher of TLS',
} as const satisfies Readonly<Record<string, string>>;

export type NetworkCause = keyof typeof NETWORK_CAUSES;
export const NETWORK_CAUSE_CODES = Object.keys(NETWORK_CAUSES) as NetworkCause[];
