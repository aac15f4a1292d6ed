import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseStorageUrl } from '../config/storage-url.js';
import type { Storage } from './storage.js';
import type { KnownRoots } from './file-storage.js';

/**
 * Opens what `STORAGE_URL` names. Each kind is loaded only where it is used: the AWS SDK costs boot time and memory. `spool` has the
 * drafts of an S3 storage; by default it is below the system's folder of temporary files.
 */
export async function openStorage(
  storageUrl: string,
  { spool = join(tmpdir(), 'haulbridge-spool'), roots }: { readonly spool?: string; readonly roots?: KnownRoots } = {},
): Promise<Storage> {
  const config = parseStorageUrl(storageUrl);
  if (config.kind === 'files') return (await import('./file-storage.js')).fileStorage(config.root, roots);
  return (await import('./s3-storage.js')).s3Storage(config, spool);
}
