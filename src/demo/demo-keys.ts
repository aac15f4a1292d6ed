import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AdminClient } from './admin-client.js';
import { DEMO } from './demo-data.js';

export interface DemoKeys {
  /** For Scale and Account: what the demo hauler's partner sends. */
  readonly platform: string;
  /** For Site and Vision: what the demo partner issued to the platform. */
  readonly partner: string;
}

interface IssuedKey {
  readonly id: string;
  readonly key: string;
}

interface ShownKey {
  readonly prefix: string;
  readonly revokedAt: string | null;
  readonly expiresAt: string | null;
}

/** The keys of the demo, in `DATA_DIR/demo-keys.json` (mode 0600): the database knows only their hashes. */
export async function demoKeys(admin: AdminClient, dataDir: string): Promise<DemoKeys> {
  const file = join(dataDir, 'demo-keys.json');
  const kept = readKeys(file);
  if (kept !== undefined && (await stillValid(admin, kept))) return kept;
  // With a database of one's own nobody has made it before.
  mkdirSync(dataDir, { recursive: true });
  const issued: IssuedKey[] = [];
  const issue = async (request: object): Promise<string> => {
    const key = await admin.json<IssuedKey>('POST', '/api-keys', request);
    issued.push(key);
    return key.key;
  };
  try {
    const keys = {
      platform: await issue({ interfaces: ['scale', 'account'], name: 'Demo: platform', haulerId: DEMO.haulerId }),
      partner: await issue({ interfaces: ['site', 'vision'], name: 'Demo: partner' }),
    };
    writeFileSync(file, `${JSON.stringify(keys, undefined, 2)}\n`, { mode: 0o600 });
    return keys;
  } catch (error) {
    // Nobody would ever know them, and the next start issues others.
    await Promise.allSettled(issued.map(({ id }) => admin.delete(`/api-keys/${id}`)));
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

/** A data folder whose database was made anew, or whose keys were revoked or have ended, needs new ones. */
async function stillValid(admin: AdminClient, keys: DemoKeys): Promise<boolean> {
  const known = await admin.get<{ data: ShownKey[] }>('/api-keys?pageSize=100');
  return Object.values(keys).every((key: string) =>
    known?.data.some((shown) => key.startsWith(shown.prefix) && opens(shown)),
  );
}

const opens = ({ revokedAt, expiresAt }: ShownKey): boolean =>
  revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now());
