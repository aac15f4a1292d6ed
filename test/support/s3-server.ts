import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { held } from './held.js';
import { uploadsOf } from './s3-front.js';

export interface S3Server {
  /** For `STORAGE_URL`. */
  storageUrl(prefix: string): string;
  readonly endpoint: string;
  readonly bucket: string;
  /** Environment variables for a client. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Where the server keeps the bucket and its unfinished uploads. */
  readonly directory: string;
  /** Keys of the unfinished uploads, in no order. */
  keysOfUploads(): Promise<string[]>;
  /** It accepts connections and answers nothing until `resume`. */
  suspend(): void;
  resume(): void;
  stop(): Promise<void>;
}

const BUCKET = 'videos';
const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };

async function portOf(child: ChildProcess): Promise<number> {
  for await (const chunk of child.stdout ?? []) return Number(chunk);
  throw new Error('the S3 server did not start');
}

/**
 * A real S3 server in a process of its own, on a free port, with the keys it knows in this process's environment. With
 * `plain` it is met without the front that completes it: as a server that cannot abort uploads. It lists so many uploads
 * or objects at once as Amazon's does, or `perPage`.
 */
export async function startS3Server({ plain = false, perPage = 1000 } = {}): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'haulbridge-s3-'));
  const main = join(import.meta.dirname, 's3-main.mjs');
  const settings = JSON.stringify({ directory, bucket: BUCKET, plain, perPage });
  // Its tokens for a next page are enciphered with DES.
  const options = ['--no-deprecation', '--openssl-legacy-provider'];
  const child = spawn(process.execPath, [...options, main, settings], { stdio: ['ignore', 'pipe', 'inherit'] });
  const endpoint = `http://127.0.0.1:${await portOf(child)}`;
  Object.assign(process.env, CREDENTIALS);
  return {
    storageUrl: (prefix) => `s3://${BUCKET}/${prefix}?endpoint=${endpoint}&region=us-east-1`,
    endpoint,
    bucket: BUCKET,
    credentials: CREDENTIALS,
    directory: join(directory, BUCKET),
    keysOfUploads: async () => (await uploadsOf(join(directory, BUCKET))).map(({ key }) => key),
    suspend: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    stop: held(async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await rm(directory, { recursive: true, force: true });
    }),
  };
}
