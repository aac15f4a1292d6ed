import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE_FILE } from '../core/config/private-modes.js';
import { makeFolder } from '../core/storage/make-folder.js';
import type { AdminClient } from '../cli/admin-client.js';
import type { ApiKey, IssueApiKeyRequest } from '../contracts/admin/api-keys.routes.js';
import { DEMO, QUARRY } from './demo-data.js';

export interface DemoKeys {
  /** For Scale and Account: the key of the demo hauler's partner. */
  readonly platform: string;
  /** For Site and Vision: the key that the demo partner issued to the platform. */
  readonly partner: string;
  /** For Site: the same of the second hauler. */
  readonly quarry: string;
}

/** What `DATA_DIR/demo-keys.json` has (mode 0600), because the database has only hashes, and seals the secret of a webhook. */
interface StoredSecrets extends DemoKeys {
  readonly webhook: string;
}

const REQUESTS: Readonly<Record<keyof DemoKeys, IssueApiKeyRequest>> = {
  platform: { interfaces: ['scale', 'account'], name: 'Demo: platform', haulerId: DEMO.haulerId },
  partner: {
    interfaces: ['site', 'vision'],
    name: 'Demo: partner',
    haulerId: DEMO.haulerId,
    customerId: DEMO.haulerId,
  },
  quarry: { interfaces: ['site'], name: 'Demo: partner of the quarry', haulerId: QUARRY.haulerId },
};

/** The keys of the demo, each issued once. A key that cannot be stored is revoked: it would be lost. */
export async function demoKeys(admin: AdminClient, dataDir: string): Promise<DemoKeys> {
  const stored = storedSecrets(dataDir);
  const { data: known } = await admin.call('listApiKeys', { query: { pageSize: '100' } });
  const keys = { ...stored };
  const issued: string[] = [];
  try {
    for (const name of Object.keys(REQUESTS) as (keyof DemoKeys)[]) {
      if (isValid(stored[name], known)) continue;
      const key = await admin.call('issueApiKey', { body: REQUESTS[name] });
      issued.push(key.id);
      keys[name] = key.key;
    }
    if (issued.length > 0) await storeSecrets(dataDir, keys);
    return keys as DemoKeys;
  } catch (error) {
    await Promise.allSettled(issued.map((id) => admin.call('revokeApiKey', { params: { id } })));
    throw error;
  }
}

/** Empty if there is no such file, or it cannot be read. */
export function storedSecrets(dataDir: string): { -readonly [Name in keyof StoredSecrets]?: string } {
  try {
    return JSON.parse(readFileSync(fileIn(dataDir), 'utf8')) as Partial<StoredSecrets>;
  } catch {
    return {};
  }
}

export async function storeSecrets(dataDir: string, secrets: Partial<StoredSecrets>): Promise<void> {
  await makeFolder(dataDir);
  const text = JSON.stringify({ ...storedSecrets(dataDir), ...secrets }, undefined, 2);
  writeFileSync(fileIn(dataDir), `${text}\n`, { mode: PRIVATE_FILE });
}

const fileIn = (dataDir: string): string => join(dataDir, 'demo-keys.json');

/**
 * A stored key is invalid after the database was created again, and after it expired or was revoked. One of an earlier version
 * reads all customers, and has none whose scenarios and clock it could move.
 */
const isValid = (key: string | undefined, known: readonly ApiKey[]): boolean =>
  key !== undefined && known.some((each) => key.startsWith(each.prefix) && isActive(each) && !each.allCustomers);

const isActive = ({ revokedAt, expiresAt }: ApiKey): boolean =>
  revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now());
