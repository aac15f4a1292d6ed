import { resolve } from 'node:path';
import { EnvError, type Parse } from './parse.js';

export interface FileStorageConfig {
  readonly kind: 'files';
  /** Absolute path. */
  readonly root: string;
}

export interface S3StorageConfig {
  readonly kind: 's3';
  readonly bucket: string;
  /** Empty, or ends in a slash. */
  readonly prefix: string;
  readonly endpoint?: string;
  readonly region: string;
}

/**
 * Reads `STORAGE_URL`: `file:/path`, or `s3://bucket/prefix?endpoint=…&region=…`. A path is used without
 * percent-decoding: folders may contain `%`, `?` and `#`. Throws `EnvError`, which never repeats the address.
 */
export function parseStorageUrl(text: string): FileStorageConfig | S3StorageConfig {
  if (text.startsWith('file:')) return fileStorage(text.slice('file:'.length));
  if (/^s3:/i.test(text)) return s3Storage(text);
  throw new EnvError('must begin with file: or s3://, as in STORAGE_URL=s3://bucket/prefix');
}

export const storageUrl: Parse<string> = (text) => {
  parseStorageUrl(text);
  return text;
};

function fileStorage(address: string): FileStorageConfig {
  const path = address.replace(/^\/\/(localhost)?(?=\/)/, '');
  if (path === '' || path.startsWith('//')) {
    throw new EnvError('must name a path of this machine after file:, as in STORAGE_URL=file:/var/videos');
  }
  return { kind: 'files', root: resolve(path) };
}

function s3Storage(text: string): S3StorageConfig {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === '') {
    throw new EnvError('must name a bucket after s3://, as in STORAGE_URL=s3://bucket/prefix');
  }
  // If they were ignored, the files would be stored in another place than the operator meant.
  if (url.username !== '' || url.password !== '' || url.port !== '' || url.hash !== '') {
    throw new EnvError('must not have a user, a port or a fragment: credentials and servers are set elsewhere');
  }
  const names = [...url.searchParams.keys()];
  if (names.some((name) => !['endpoint', 'region'].includes(name)) || new Set(names).size < names.length) {
    throw new EnvError('must have no parameters but endpoint and region, each at most once');
  }
  const endpoint = url.searchParams.get('endpoint');
  if (endpoint && !isHttpUrl(endpoint)) {
    throw new EnvError('must have an endpoint that begins with http:// or https://, or none');
  }
  // An empty value counts as absent, like an empty variable.
  const region = url.searchParams.get('region') || 'us-east-1';
  if (!/^[a-z0-9-]+$/i.test(region)) throw new EnvError('must have a region of letters, digits and hyphens, or none');
  return {
    kind: 's3',
    bucket: url.hostname,
    prefix: foldersOf(url.pathname),
    ...(endpoint ? { endpoint } : {}),
    region,
  };
}

function foldersOf(pathname: string): string {
  let path: string;
  try {
    path = decodeURIComponent(pathname);
  } catch {
    throw new EnvError('must have a prefix whose percent signs are written %25');
  }
  const folders = path.split('/').filter(Boolean);
  return folders.map((folder) => `${folder}/`).join('');
}

const isHttpUrl = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text);
