import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { requireLinux } from '../../support/programs.js';
import { startS3Server } from '../../support/s3-server.js';
import { testServer } from '../../support/test-run.js';
import { at, HostedCustomer, RECORDED } from '../../acceptance/support/hosted.js';
import { startOwnService } from '../../acceptance/support/service.js';

const CASE_MS = 180_000;

/** Secrets that belong to the service alone. */
const OWN = {
  ADMIN_READ_TOKEN: 'a-token-that-may-only-read-0123',
  ADMIN_TOKENS: 'robot:a-token-of-a-machine-0123456789:viewer',
  OIDC_CLIENT_SECRET: 'the-secret-of-our-client-0123456789',
  OIDC_CLIENT_ID: 'the-id-of-this-service',
  OIDC_ISSUER: 'http://127.0.0.1:9/issuer',
  OIDC_ROLES: 'viewer=readers',
  PUBLIC_URL: 'http://127.0.0.1:9/public',
  SMTP_URL: 'smtp://mailer:a-password-of-the-relay@127.0.0.1:9',
  OF_ANOTHER_PROGRAM: 'a-secret-that-nobody-here-knows',
};
const ALLOWED = /^(PATH|TZ|LANG|LC_\w+|TE?MP|TMPDIR|HOME|NODE_(COMPILE_CACHE|CHANNEL_\w+))$/;
const OF_S3 = /^(AWS_\w+|NODE_(EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED)|SSL_CERT_\w+)$/;

interface Seen {
  readonly command: string;
  readonly names: readonly string[];
  readonly text: string;
}

/** What each process below this one shows of itself; Linux alone has it in files. A new one that runs no program yet is not counted. */
function childrenOf(parent: number | undefined): Seen[] {
  const pids = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ');
  return pids.flatMap((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const text = readFileSync(`/proc/${pid}/environ`, 'utf8');
      const names = text.split('\0').flatMap((line) => (line === '' ? [] : (line.split('=')[0] ?? '')));
      return command.includes('main.js') || text === '' ? [] : [{ command, names, text }];
    } catch {
      // There is none, or it has ended meanwhile.
      return [];
    }
  });
}

beforeAll(requireLinux);

test.each(['files', 'a bucket'])(
  'the process that reads videos of strangers gets its environment by name, without a secret of the service, with %s (issue 46, row 2)',
  async (storage) => {
    const s3 = storage === 'files' ? undefined : await startS3Server();
    const keys = { AWS_ACCESS_KEY_ID: 'the-tests', AWS_SECRET_ACCESS_KEY: 'the-secret-of-the-tests' };
    const dotenv = join(mkdtempSync(join(testServer().folder, 'env-')), '.env');
    writeFileSync(dotenv, 'FROM_A_FILE=a-secret-of-a-file\n');
    const env = { ...OWN, ...keys, ...(s3 === undefined ? {} : { STORAGE_URL: s3.storageUrl('v') }) };
    const service = await startOwnService({ env, nodeOptions: [`--env-file=${dotenv}`] });
    const customer = await HostedCustomer.create(service);
    await customer.upload(0, { startTime: at(0), endTime: at(0.2) }, RECORDED);
    const seen: Seen[] = [];
    const watch = new AbortController();
    const watching = (async () => {
      for (; !watch.signal.aborted; await delay(10)) seen.push(...childrenOf(service.child.pid));
    })();
    for (let i = 0; i < 2; i++) {
      const { body } = await customer.request({ endTime: at(0.1 + i / 100) });
      expect((await customer.ended(body.requestId)).request?.status).toBe('ready');
    }
    watch.abort();
    await watching;
    expect(seen.length).toBeGreaterThan(0);
    const secrets = [service.adminToken, service.databaseUrl, ...Object.values(OWN), 'a-secret-of-a-file'];
    for (const { command, names, text } of seen) {
      const shown = `${command} ${text}`;
      expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
      expect(names.filter((name) => !ALLOWED.test(name) && !(s3 !== undefined && OF_S3.test(name)))).toEqual([]);
    }
  },
  CASE_MS,
);
