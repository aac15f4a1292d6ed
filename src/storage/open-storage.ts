import { parseStorageUrl } from '../config/storage-url.js';
import type { KnownRoots } from './known-roots.js';
import type { Storage } from './storage.js';

/** Opens what `STORAGE_URL` names. Each kind is loaded only where it is used: the AWS SDK costs boot time and memory. */
export async function openStorage(storageUrl: string, roots?: KnownRoots): Promise<Storage> {
  const config = parseStorageUrl(storageUrl);
  if (config.kind === 'files') return (await import('./file-storage.js')).fileStorage(config.root, roots);
  return (await import('./s3-storage.js')).s3Storage(config);
}
