import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PUBLICATIONS } from '../../src/docs/documents.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { testServer } from '../support/test-database.js';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const NAMES = PUBLICATIONS.map(({ api }) => api.name);

let service: TestApp;
let folder: string;
beforeAll(async () => {
  service = await startTestApp();
  folder = mkdtempSync(join(testServer().folder, 'clients-'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  await Promise.all(
    NAMES.map(async (name) => {
      writeFileSync(join(folder, `${name}.json`), (await service.call('GET', `/docs/${name}.json`)).text);
      await redocly('generate-client', `${name}.json`, '--output', `${name}.ts`);
    }),
  );
}, 120_000);
afterAll(() => service.close());

function redocly(...words: string[]): Promise<unknown> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  return run(process.execPath, [join(ROOT, 'node_modules/@redocly/cli/bin/cli.js'), ...words], { cwd: folder, env });
}

/** Runs a program that uses the generated clients, and returns the JSON that it prints. */
async function runProgram(source: string): Promise<unknown> {
  writeFileSync(join(folder, 'program.ts'), source);
  const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', 'program.ts'], {
    cwd: folder,
  });
  return JSON.parse(stdout);
}

describe('clients that redocly generates from the documents', () => {
  test('compile with strict types', async () => {
    const files = NAMES.map((name) => `${name}.ts`);
    const options = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--lib',
      'es2024,dom,dom.iterable',
      '--module',
      'nodenext',
    ];
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    await run(process.execPath, [compiler, ...options, ...files], { cwd: folder });
  }, 120_000);

  test('call the service without further configuration than a key, and read its errors', async () => {
    const result = await runProgram(`
      import * as admin from './admin.ts';
      import * as account from './account.ts';

      admin.configure({ auth: { bearer: ${JSON.stringify(service.env.ADMIN_TOKEN)} } });
      const hauler = await admin.createHauler({ body: { name: 'Generated' } });
      const { key } = await admin.issueApiKey({ body: { haulerId: hauler.id, interfaces: ['account'] } });
      account.configure({ auth: { apiKey: { 'PLATFORM-API-KEY': key, PLATFORM_API_KEY: key } } });
      const created = await account.createAccount({ body: { accountName: 'Lone Star' } });
      const conflict = await account.createAccount({ body: { accountName: 'Lone Star' } }).catch((error) => error);
      const list = await admin.listAccounts({ query: { haulerId: hauler.id } });
      const ids = [created.accountId, conflict.body?.error?.details?.accountId, list.data[0]?.accountId];
      console.log(JSON.stringify({ status: conflict.status, ids: new Set(ids).size, total: list.pagination.totalItems }));
    `);
    expect(result).toEqual({ status: 409, ids: 1, total: 1 });
  }, 60_000);
});
