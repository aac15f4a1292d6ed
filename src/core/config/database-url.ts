import { readFileSync } from 'node:fs';
import { EnvError } from './parse.js';

/** A file of certificates in PEM. */
export function certificateFile(path: string): string {
  try {
    if (readFileSync(path, 'utf8').includes('-----BEGIN CERTIFICATE-----')) return path;
  } catch {
    // Refused below.
  }
  throw new EnvError('must be the path of a readable file with certificates in PEM');
}

/**
 * DATABASE_URL with the meaning that libpq gives to `sslmode`, except that `require` checks the certificate. With `ca`
 * (`DATABASE_CA`) TLS is always used, and checked with these certificates.
 */
export function withTls(databaseUrl: string, ca: string | undefined): string {
  // An address without a host, which is a socket.
  if (!URL.canParse(databaseUrl)) return databaseUrl;
  const url = new URL(databaseUrl);
  const { searchParams } = url;
  if (ca !== undefined && !searchParams.has('sslrootcert')) searchParams.set('sslrootcert', ca);
  const mode = searchParams.get('sslmode');
  const hasCa = searchParams.has('sslrootcert');
  if (searchParams.has('uselibpqcompat') || (mode === null && !hasCa)) return databaseUrl;
  // Without certificates of one's own, any host with a public certificate would do: pg then checks the name.
  if (mode === 'verify-ca' && hasCa) searchParams.set('uselibpqcompat', 'true');
  else if (mode === null || mode === 'require' || mode === 'verify-ca') searchParams.set('sslmode', 'verify-full');
  return url.href;
}
