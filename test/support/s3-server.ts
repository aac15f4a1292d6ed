import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import { held } from './held.js';
import { startS3Front, uploadsOf } from './s3-front.js';

export interface S3Server {
  /** For `STORAGE_URL`. */
  storageUrl(prefix: string): string;
  readonly endpoint: string;
  readonly bucket: string;
  /** For the environment of whoever uses it. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Where the server keeps the bucket and its unfinished uploads. */
  readonly directory: string;
  /** Of those that are neither complete nor aborted, in no order. */
  keysOfUploads(): Promise<string[]>;
  stop(): Promise<void>;
}

const BUCKET = 'videos';
const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };

async function listening(child: ChildProcess): Promise<void> {
  for await (const chunk of child.stdout ?? []) if (String(chunk).includes('listening')) return;
  throw new Error('the S3 server did not start');
}

/**
 * A real S3 server in a process of its own, on a free port, with the keys it knows in this process's environment. With
 * `plain` it is met without the front that completes it: as a server that cannot abort uploads. It lists so many uploads
 * or objects at once as Amazon's does, or `perPage`.
 */
export async function startS3Server({ plain = false, perPage = 1000 } = {}): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'haulbridge-s3-'));
  const port = await freePort();
  const bin = join(import.meta.dirname, '../../node_modules/s3rver/bin/s3rver.js');
  const args = [bin, '-d', directory, '-a', '127.0.0.1', '-p', String(port), '-s', '--configure-bucket', BUCKET];
  const writes = join(import.meta.dirname, 's3-writes.mjs');
  // Its tokens for a next page are enciphered with DES.
  const options = ['--no-deprecation', '--openssl-legacy-provider', '--import', writes];
  const child = spawn(process.execPath, [...options, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await listening(child);
  child.stdout.resume();
  const front = plain ? undefined : await startS3Front(port, join(directory, BUCKET), perPage);
  const asked = front === undefined ? port : (front.address() as AddressInfo).port;
  const endpoint = `http://127.0.0.1:${asked}`;
  Object.assign(process.env, CREDENTIALS);
  return {
    storageUrl: (prefix) => `s3://${BUCKET}/${prefix}?endpoint=${endpoint}&region=us-east-1`,
    endpoint,
    bucket: BUCKET,
    credentials: CREDENTIALS,
    directory: join(directory, BUCKET),
    keysOfUploads: async () => (await uploadsOf(join(directory, BUCKET))).map(({ key }) => key),
    stop: held(async () => {
      front?.close();
      front?.closeAllConnections();
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await rm(directory, { recursive: true, force: true });
    }),
  };
}
