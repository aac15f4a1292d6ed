import { mkdtempSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { runCommandLine } from '../../../src/cli/program.js';
import { findLocalService, type LocalService } from '../../../src/core/config/local-service.js';
import { runKit } from '../../../src/conformance/kit.js';
import { json, type ScriptedPartner, startScriptedPartner } from '../../support/scripted-partner.js';
import { testServer } from '../../support/test-run.js';

const TOKEN = 'the-token-of-the-local-service';
const OTHER_TOKEN = 'the-token-of-another-service';

let other: ScriptedPartner;
let folder: string;
beforeAll(async () => {
  other = await startScriptedPartner();
  folder = mkdtempSync(join(testServer().folder, 'target-'));
});
afterEach(() => other.reset());
afterAll(() => other.stop());

async function command(local: LocalService, ...words: string[]) {
  let [out, err] = ['', ''];
  other.on('GET /admin/v1/haulers', json({ data: [] }));
  const streams = { out: (part: string) => (out += part), err: (part: string) => (err += part) };
  return { code: await runCommandLine(['hauler', 'list', ...words], streams, local), out, err };
}
const sent = () => other.asked.map(({ headers }) => headers.authorization);
const environment = (env: NodeJS.ProcessEnv) => findLocalService({ DATA_DIR: folder, ...env });

describe('the token of a local service', () => {
  test.each<[string, () => LocalService]>([
    ['in memory', () => ({ url: 'http://127.0.0.1:3000', token: TOKEN })],
    ['in ADMIN_TOKEN', () => environment({ ADMIN_TOKEN: TOKEN })],
    [
      'in DATA_DIR',
      () => {
        writeFileSync(join(folder, 'secrets.json'), JSON.stringify({ adminToken: TOKEN }));
        return environment({});
      },
    ],
  ])('%s is not sent to another address', async (_what, local) => {
    const { err } = await command(local(), '--url', other.url);
    expect(sent()).toEqual([undefined]);
    expect(err).not.toContain(TOKEN);
  });

  test('is not sent to another address in HAULBRIDGE_URL, and that of HAULBRIDGE_URL not to another --url', async () => {
    await command(environment({ ADMIN_TOKEN: TOKEN, HAULBRIDGE_URL: other.url }));
    const elsewhere = { HAULBRIDGE_URL: 'https://haulbridge.example', HAULBRIDGE_TOKEN: TOKEN };
    await command(environment(elsewhere), '--url', other.url);
    expect(sent()).toEqual([undefined, undefined]);
  });
});

describe('a token over http', () => {
  const local = { url: 'http://127.0.0.1:3000', token: TOKEN };

  test.each([
    'http://haulbridge.invalid',
    'http://127.0.0.1.evil.invalid',
    'http://localhost.evil.invalid',
    'http://192.0.2.1',
    'http://[2001:db8::1]',
  ])('is refused to %s', async (url) => {
    const { code, err } = await command(local, '--url', url, '--token', OTHER_TOKEN);
    expect([code, err]).toEqual([2, expect.stringMatching(/unencrypted to .*: use https, or pass --insecure/)]);
    expect(err).not.toContain(OTHER_TOKEN);
    const given = { HAULBRIDGE_URL: url, HAULBRIDGE_TOKEN: OTHER_TOKEN };
    expect(await command(environment(given))).toMatchObject({ code: 2, err });
  });

  test('is sent with --insecure, and within this machine', async () => {
    const words = ['--url', 'http://haulbridge.invalid', '--token', OTHER_TOKEN];
    expect((await command(local, ...words, '--insecure')).err).toContain('no response from http://haulbridge.invalid');
    const own = Object.values(networkInterfaces()).flatMap((each = []) =>
      each.filter(({ family }) => family === 'IPv4'),
    );
    const hosts = ['localhost', '127.0.0.9', '[::1]', ...own.map(({ address }) => address)];
    for (const host of hosts) {
      const { err } = await command(local, '--url', `http://${host}:1`, '--token', OTHER_TOKEN);
      expect(err).not.toContain('--insecure');
    }
  });
});

describe('a secret that is not on the command line', () => {
  const local = { url: 'http://127.0.0.1:3000', token: TOKEN };
  const file = () => {
    const path = join(folder, 'token');
    writeFileSync(path, `${OTHER_TOKEN}\n`);
    return path;
  };

  test('is read from a file', async () => {
    await command(local, '--url', other.url, '--token', `@${file()}`);
    await command(local, '--url', other.url, '--token-file', file());
    expect(sent()).toEqual([`Bearer ${OTHER_TOKEN}`, `Bearer ${OTHER_TOKEN}`]);
  });

  test('of the conformance kit is read from a file', async () => {
    const words = ['--role', 'vision-server', '--customer-id', 'any', '--url', other.url, '--timeout', '2s'];
    const streams = { out: () => undefined, err: () => undefined };
    await runKit([...words, '--api-key', `@${file()}`], streams);
    expect(other.asked.map(({ headers }) => headers['api-key'])).toContain(OTHER_TOKEN);
    let err = '';
    expect(await runKit([...words, '--api-key', '@/nowhere'], { ...streams, err: (part) => (err += part) })).toBe(2);
    expect(err).toContain('The file /nowhere cannot be read: ENOENT.');
  });
});
