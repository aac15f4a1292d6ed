import { Resolver } from 'node:dns';
import { isIP } from 'node:net';
import bytes from 'bytes';
import ms, { type StringValue } from 'ms';
import { readFileSync } from 'node:fs';

/** A variable has an invalid value. `readEnv` collects all faults before it throws. */
export class EnvError extends Error {}

export type Parse<T> = (text: string) => T;

/** 1 to 12 lower-case letters and digits: it stands in keys and in the names of backends. */
const CELL_NAME = /^[a-z0-9]{1,12}$/;

export const cellName: Parse<string> = (text) => {
  if (!CELL_NAME.test(text)) throw new EnvError('must be 1 to 12 lower-case letters and digits');
  return text;
};

/** A duration in milliseconds: `500ms 10s 5m 8h 7d`; a bare number is seconds. The bounds are written the same way. */
export const duration =
  (min: StringValue, max: StringValue): Parse<number> =>
  (text) => {
    const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? [];
    if (number === undefined) throw new EnvError('must be a duration such as 500ms, 10s, 5m, 8h or 7d');
    const value = Math.round(ms(`${number}${unit}` as StringValue));
    if (!(value >= ms(min) && value <= ms(max))) throw new EnvError(`must be a duration from ${min} to ${max}`);
    return value;
  };

/** How far back a re-reading looks, and how often it happens; 0: at each reading. In milliseconds. */
export interface Rereading {
  readonly backMs: number;
  readonly everyMs: number;
}

/** `15m/0 6h/1h`: how far back, and how often, separated by blanks. The furthest one last. */
export const rereadings: Parse<readonly Rereading[]> = (text) => {
  const [back, every] = [duration('1s', '366d'), duration('0ms', '366d')];
  const found = text
    .trim()
    .split(/\s+/)
    .map((pair): Rereading => {
      const [, far = '', often = ''] = /^([^/]+)\/([^/]+)$/.exec(pair) ?? [];
      if (far === '') throw new EnvError('must be pairs such as 15m/0 6h/1h 3d/1d 14d/7d: how far back / how often');
      return { backMs: back(far), everyMs: every(often) };
    });
  if (found.length > MAX_REREADINGS) throw new EnvError(`must have at most ${MAX_REREADINGS} pairs`);
  return found.sort((a, b) => a.backMs - b.backMs);
};

const MAX_REREADINGS = 10;

/** A size in bytes: `512kb 1mb 2gb`; a bare number is bytes. The bounds are written the same way. */
export const size =
  (min: string, max: string): Parse<number> =>
  (text) => {
    const value = /^\d+(\.\d+)? *(b|kb|mb|gb)?$/i.test(text) ? bytes.parse(text) : null;
    if (value === null) throw new EnvError('must be a size such as 512kb, 1mb or 2gb');
    if (!(value >= (bytes.parse(min) ?? 0) && value <= (bytes.parse(max) ?? 0))) {
      throw new EnvError(`must be a size from ${min} to ${max}`);
    }
    return value;
  };

export const integer =
  (min: number, max: number): Parse<number> =>
  (text) => {
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new EnvError(`must be a whole number from ${min} to ${max}`);
    return value;
  };

export const boolean: Parse<boolean> = (text) => {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw new EnvError('must be true or false');
};

export const string: Parse<string> = (text) => text;

export const oneOf =
  <const T extends readonly string[]>(...allowed: T): Parse<T[number]> =>
  (text) => {
    if (!allowed.includes(text)) throw new EnvError(`must be one of ${allowed.join(', ')}`);
    return text;
  };

export const setOf =
  <const T extends readonly string[]>(...allowed: T): Parse<ReadonlySet<T[number]>> =>
  (text) => {
    const parts = text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
    if (parts.length === 0 || parts.some((part) => !allowed.includes(part))) {
      throw new EnvError(`must name one or more of ${allowed.join(', ')}, separated by commas`);
    }
    return new Set(parts);
  };

export const url =
  (...protocols: string[]): Parse<string> =>
  (text) => {
    const [protocol = ''] = text.split(':');
    if (!protocols.includes(protocol.toLowerCase()))
      throw new EnvError(`must be an address that begins with ${protocols.join(': or ')}:`);
    if (!URL.canParse(text))
      throw new EnvError('must be an address: in a user and a password # is written %23, / is %2F and ? is %3F');
    return text;
  };

/** A PostgreSQL address. libpq also allows one without a host, as in `postgres://user@/db?host=/socket`. */
export const databaseUrl: Parse<string> = (text) => {
  const address = url('postgres', 'postgresql')(text.replace('@/', '@localhost/'));
  const { searchParams } = new URL(address);
  const [mode, ca] = [searchParams.get('sslmode'), searchParams.get('sslrootcert')];
  if (mode !== null && !SSL_MODES.includes(mode))
    throw new EnvError(`must have in sslmode one of ${SSL_MODES.join(', ')}`);
  if (ca !== null && !hasCertificates(ca))
    throw new EnvError('must have in sslrootcert the path of a readable file with certificates in PEM');
  if (ca !== null && checksNoCertificate(address))
    throw new EnvError('must not have sslrootcert beside sslmode=disable or no-verify, which check no certificate');
  return address;
};

/** So that a certificate to check that of the database with serves nothing. */
export const checksNoCertificate = (address: string): boolean =>
  ['disable', 'no-verify'].includes(new URL(address).searchParams.get('sslmode') ?? '');

/** pg takes any other word for `verify-full`, also `allow`. */
const SSL_MODES = ['verify-full', 'verify-ca', 'require', 'prefer', 'no-verify', 'disable'];

/** One plain e-mail address. */
export const mailAddress: Parse<string> = (text) => {
  if (!/^[^\s<>",;:]+@[^\s<>",;:@]+$/.test(text))
    throw new EnvError('must be an e-mail address such as alerts@example.com');
  return text;
};

/** An http(s) address to which paths are appended. */
export const baseUrl: Parse<string> = (text) => {
  const { username, password } = new URL(url('http', 'https')(text));
  if (username !== '' || password !== '') throw new EnvError('must be an address without a user and a password');
  // After a query or fragment, even an empty one, the path would be part of it.
  if (/[?#]/.test(text)) throw new EnvError('must be an address without a query and a fragment');
  return text;
};

/** IP addresses, each with or without a port. */
export const nameServers: Parse<readonly string[]> = (text) => {
  const servers = text.split(',').map((server) => server.trim());
  try {
    new Resolver().setServers(servers);
  } catch {
    throw new EnvError('must name IP addresses such as 10.0.0.2 or 10.0.0.2:5353, separated by commas');
  }
  return servers;
};

/** A number of proxies before the service, or their IP addresses and networks, separated by commas: Express's `trust proxy`. */
export const trustedProxies: Parse<number | readonly string[]> = (text) => {
  if (/^\d{1,2}$/.test(text)) return Number(text);
  const proxies = text.split(',').map((proxy) => proxy.trim());
  if (proxies.every(isNetwork)) return proxies;
  throw new EnvError(
    'must be a number of proxies, or name IP addresses and networks such as 10.0.0.0/8, separated by commas',
  );
};

function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && (bits === undefined || Number(bits) <= (family === 4 ? 32 : 128));
}

/** A text that callers send in a header. Only ASCII characters have the same bytes in every encoding. */
export const secret: Parse<string> = (text) => {
  if (text.length < 16) throw new EnvError('must have at least 16 characters');
  if (!/^[\x20-\x7e]+$/.test(text)) throw new EnvError('must have visible ASCII characters only');
  return text;
};

/** 32 bytes written as 64 hexadecimal digits. */
export const key256: Parse<Buffer> = (text) => {
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new EnvError('must be 32 bytes in hex: 64 hexadecimal digits');
  return Buffer.from(text, 'hex');
};

/** A file of certificates in PEM. */
export const certificateFile: Parse<string> = (path) => {
  if (!hasCertificates(path)) throw new EnvError('must be the path of a readable file with certificates in PEM');
  return path;
};

function hasCertificates(path: string): boolean {
  try {
    return readFileSync(path, 'utf8').includes('-----BEGIN CERTIFICATE-----');
  } catch {
    return false;
  }
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
  else if (mode !== 'disable' && mode !== 'no-verify') searchParams.set('sslmode', 'verify-full');
  return url.href;
}
