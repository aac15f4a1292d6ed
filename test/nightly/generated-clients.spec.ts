import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { testServer } from '../support/test-run.js';

const run = promisify(execFile);
const PROGRAMS = join(import.meta.dirname, '../../node_modules');
/** The documents without a committed client; `npm run generate -- --check clients` compares the others. */
const NAMES = ['account', 'admin', 'partner'];

let service: TestApp;
let folder: string;
beforeAll(async () => {
  service = await startTestApp();
  folder = mkdtempSync(join(testServer().folder, 'clients-'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  for (const name of NAMES) {
    writeFileSync(join(folder, `${name}.json`), (await service.call('GET', `/docs/${name}.json`)).text);
    const words = ['generate-client', `${name}.json`, '--output', `${name}.ts`];
    await run(process.execPath, [join(PROGRAMS, '@redocly/cli/bin/cli.js'), ...words], { cwd: folder, env });
  }
}, 300_000);
afterAll(() => service.close());

test('the clients that redocly generates of the admin and the partner API compile with strict types', async () => {
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--lib',
    'es2024,dom,dom.iterable',
    '--module',
    'nodenext',
  ];
  const files = NAMES.map((name) => `${name}.ts`);
  const compiled = run(process.execPath, [join(PROGRAMS, 'typescript/bin/tsc'), ...options, ...files], { cwd: folder });
  expect(await compiled).toEqual({ stdout: '', stderr: '' });
}, 300_000);

test('a generated client needs no configuration but a key, and reads the errors of the service', async () => {
  const program = `
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
  `;
  writeFileSync(join(folder, 'program.ts'), program);
  const words = ['--disable-warning=ExperimentalWarning', 'program.ts'];
  const { stdout } = await run(process.execPath, words, { cwd: folder });
  expect(JSON.parse(stdout)).toEqual({ status: 409, ids: 1, total: 1 });
});
