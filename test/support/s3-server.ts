import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { held } from './held.js';

export interface S3Server {
  /** For `STORAGE_URL`. */
  storageUrl(prefix: string): string;
  readonly endpoint: string;
  readonly bucket: string;
  /** Environment variables for a client. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Where the server keeps the bucket and its unfinished uploads. Without it there is no bucket. */
  readonly directory: string;
  /** Keys of the unfinished uploads, in no order. */
  keysOfUploads(): Promise<string[]>;
  /** How many versions it keeps that have bytes, also of objects that were deleted. */
  versions(): Promise<number>;
  /** It takes no more bytes until `makeRoom`. */
  fill(): Promise<void>;
  makeRoom(): Promise<void>;
  /** It accepts connections and answers nothing until `resume`. */
  suspend(): void;
  resume(): void;
  stop(): Promise<void>;
}

const BUCKET = 'videos';
const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'the-tests', AWS_SECRET_ACCESS_KEY: 'the-secret-of-the-tests' };

async function portOf(child: ChildProcess): Promise<number> {
  for await (const chunk of child.stdout ?? []) return Number(chunk);
  throw new Error('the S3 server did not start');
}

interface S3ServerOptions {
  /** Objects on a page of a list. */
  readonly perPage?: number;
  /** How long it takes to delete an object. */
  readonly deleteMs?: number;
  /** It takes no body without a checksum, as a bucket with Object Lock. */
  readonly locked?: boolean;
  /** It knows no checksums of the newer kind, and refuses them. */
  readonly old?: boolean;
  /** Each second request is refused with 503, as by a store that asks for fewer calls. */
  readonly busy?: boolean;
  /** It keeps old versions: `open` to the credentials, or `closed`. */
  readonly versions?: 'open' | 'closed';
}

async function keysOfUploads(directory: string): Promise<string[]> {
  const uploads = join(directory, 'uploads');
  const keys = (await readdir(uploads)).map((id) => readFile(join(uploads, id, 'key'), 'utf8').catch(() => undefined));
  // Those that begin or end while they are looked at do not count.
  return (await Promise.all(keys)).filter((key) => key !== undefined);
}

/** An S3 server in a process of its own, on a free port, with the keys it knows in this process's environment. */
export async function startS3Server({ perPage = 1000, ...options }: S3ServerOptions = {}): Promise<S3Server> {
  const parent = await mkdtemp(join(tmpdir(), 'haulbridge-s3-'));
  const directory = join(parent, BUCKET);
  const accessKey = CREDENTIALS.AWS_ACCESS_KEY_ID;
  const settings = JSON.stringify({ folder: directory, bucket: BUCKET, accessKey, perPage, ...options });
  const main = join(import.meta.dirname, 's3-main.mjs');
  const child = spawn(process.execPath, [main, settings], { stdio: ['ignore', 'pipe', 'inherit'] });
  const endpoint = `http://127.0.0.1:${await portOf(child)}`;
  Object.assign(process.env, CREDENTIALS);
  return {
    storageUrl: (prefix) => `s3://${BUCKET}/${prefix}?endpoint=${endpoint}&region=us-east-1`,
    endpoint,
    bucket: BUCKET,
    credentials: CREDENTIALS,
    directory,
    keysOfUploads: () => keysOfUploads(directory),
    versions: async () => (await readdir(join(directory, 'versions'))).length,
    fill: () => writeFile(join(directory, 'full'), ''),
    makeRoom: () => rm(join(directory, 'full')),
    suspend: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    stop: held(async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await rm(parent, { recursive: true, force: true });
    }),
  };
}
