import { resolve } from 'node:path';

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
 * Reads `STORAGE_URL`: `file:/path`, or `s3://bucket/prefix?endpoint=…&region=…`. A path stands as it is, without
 * percent-encoding: folders may contain `%`, `?` and `#`.
 */
export function parseStorageUrl(text: string): FileStorageConfig | S3StorageConfig {
  if (text.startsWith('file:')) {
    const path = text.slice('file:'.length).replace(/^\/\/(localhost)?(?=\/)/, '');
    if (path === '' || path.startsWith('//')) throw new TypeError('STORAGE_URL must name a path after file:');
    return { kind: 'files', root: resolve(path) };
  }
  const url = new URL(text);
  if (url.protocol !== 's3:' || url.hostname === '') throw new TypeError('STORAGE_URL must begin with file: or s3://');
  const folders = decodeURIComponent(url.pathname).split('/').filter(Boolean);
  const endpoint = url.searchParams.get('endpoint');
  return {
    kind: 's3',
    bucket: url.hostname,
    prefix: folders.map((folder) => `${folder}/`).join(''),
    ...(endpoint ? { endpoint } : {}),
    region: url.searchParams.get('region') ?? 'us-east-1',
  };
}
