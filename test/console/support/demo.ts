import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The hauler of the demo (README). */
export const DEMO = {
  haulerId: '5f0c1f2e-7a3b-4c8d-9e10-112233445566',
  siteId: '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10',
  materialId: '7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21',
  truckId: 'TRUCK-7',
} as const;

export const VIEWER_TOKEN = 'token-of-a-viewer-of-the-console';

/** Names the variable that `target.ts` writes for the workers of Jest. */
export const CONSOLE_TARGET = 'HAULBRIDGE_CONSOLE_TARGET';

export interface ConsoleTarget {
  readonly url: string;
  readonly adminToken: string;
  readonly databaseUrl: string;
  /** The address at which the browser is controlled. */
  readonly browser: string;
  /** Where a test may start the identity provider of the service. */
  readonly issuer: string;
  /** The keys of the demo: its platform's, and the one that its partner issued. */
  readonly keys: { readonly platform: string; readonly partner: string };
}

/** A minute of a camera of the demo that a browser can play. */
export const demoVideo = (camera: 'front' | 'rear', minute: number): Promise<Buffer> =>
  readFile(join(import.meta.dirname, `../../../dist/src/demo/recordings/${camera}-${minute % 10}.mp4`));
