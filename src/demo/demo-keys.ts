import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../config/private-modes.js';
import type { AdminClient } from '../admin-client/admin-client.js';
import type { ApiKey, IssuedApiKey, IssueApiKeyRequest } from '../contracts/admin/api-key.dto.js';
import { DEMO } from './demo-data.js';

export interface DemoKeys {
  /** For Scale and Account: the key of the demo hauler's partner. */
  readonly platform: string;
  /** For Site and Vision: the key that the demo partner issued to the platform. */
  readonly partner: string;
}

/** The keys of the demo, stored in `DATA_DIR/demo-keys.json` (mode 0600) because the database has only their hashes. */
export async function demoKeys(admin: AdminClient, dataDir: string): Promise<DemoKeys> {
  const file = join(dataDir, 'demo-keys.json');
  const stored = readKeys(file);
  if (stored !== undefined && (await areValid(admin, stored))) return stored;
  mkdirSync(dataDir, { recursive: true, mode: PRIVATE_FOLDER });
  const issued: IssuedApiKey[] = [];
  const issue = async (request: IssueApiKeyRequest): Promise<string> => {
    const key = await admin.call('issueApiKey', { body: request });
    issued.push(key);
    return key.key;
  };
  try {
    const keys = {
      platform: await issue({ interfaces: ['scale', 'account'], name: 'Demo: platform', haulerId: DEMO.haulerId }),
      partner: await issue({
        interfaces: ['site', 'vision'],
        name: 'Demo: partner',
        haulerId: DEMO.haulerId,
        customerId: DEMO.haulerId,
      }),
    };
    writeFileSync(file, `${JSON.stringify(keys, undefined, 2)}\n`, { mode: PRIVATE_FILE });
    return keys;
  } catch (error) {
    // A key that is not stored is lost, and the next start issues new ones.
    await Promise.allSettled(issued.map(({ id }) => admin.call('revokeApiKey', { params: { id } })));
    throw error;
  }
}

function readKeys(file: string): DemoKeys | undefined {
  try {
    const { platform, partner } = JSON.parse(readFileSync(file, 'utf8')) as Partial<DemoKeys>;
    return platform === undefined || partner === undefined ? undefined : { platform, partner };
  } catch {
    return undefined;
  }
}

/**
 * Stored keys are invalid after the database was created again, and after they expired or were revoked. A key of an earlier version
 * reads all customers, and has none whose scenarios and clock it could move.
 */
async function areValid(admin: AdminClient, keys: DemoKeys): Promise<boolean> {
  const { data } = await admin.call('listApiKeys', { query: { pageSize: '100' } });
  return Object.values(keys).every((key: string) =>
    data.some((each) => key.startsWith(each.prefix) && isActive(each) && !each.allCustomers),
  );
}

const isActive = ({ revokedAt, expiresAt }: ApiKey): boolean =>
  revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now());
