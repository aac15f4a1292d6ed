import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PUBLICATIONS } from '../../../src/docs/documents.js';
import { type SandboxScene, startSandboxScene } from '../../support/sandbox-scene.js';
import { testServer } from '../../support/test-run.js';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../..');
const CLIENTS = join(ROOT, 'clients');

let scene: SandboxScene;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(testServer().folder, 'clients-'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  scene = await startSandboxScene();
});
afterAll(() => scene.service.close());

/** Runs a program that uses a committed client, and returns the JSON that it prints. */
async function runProgram(name: string, source: string): Promise<unknown> {
  const key = JSON.stringify(name === 'scale' || name === 'account' ? scene.platformKey : scene.partnerKey);
  const auth = `{ apiKey: { PLATFORM_API_KEY: ${key}, API_KEY: ${key} } }`;
  const setUp = `
    import * as client from ${JSON.stringify(join(CLIENTS, `typescript/${name}.ts`))};
    client.configure({ serverUrl: ${JSON.stringify(scene.service.url)}, auth: ${auth} });
    const print = (value: unknown) => console.log(JSON.stringify(value));
  `;
  const file = join(folder, `${name}-${Math.random()}.ts`);
  writeFileSync(file, setUp + source);
  const options = ['--disable-warning=ExperimentalWarning', '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', file];
  return JSON.parse((await run(process.execPath, options)).stdout);
}

test('the committed clients are those of the documents (npm run clients renews them)', async () => {
  await run(process.execPath, [join(ROOT, 'scripts/generate-clients.mjs'), folder]);
  const files = globSync('*/*.{ts,py}', { cwd: CLIENTS }).sort();
  expect(files).toHaveLength(9);
  for (const file of files) {
    expect(readFileSync(join(folder, file), 'utf8') === readFileSync(join(CLIENTS, file), 'utf8')).toBe(true);
  }
}, 120_000);

test('no name in the clients is a sentence', () => {
  const names = globSync('*/*.{ts,py}', { cwd: CLIENTS }).flatMap((file) =>
    [
      ...readFileSync(join(CLIENTS, file), 'utf8').matchAll(
        /^\s*(?:export )?(?:def|class|type|interface|const) (\w+)/gm,
      ),
    ].map(([, name = '']) => name),
  );
  expect(names.length).toBeGreaterThan(200);
  expect([...new Set(names.filter((name) => name.length > 40 || /\d$|inline|allof|oneof|anyof/i.test(name)))]).toEqual(
    [],
  );
});

test('a ticket whose answer was lost is sent again with its key, and is stored once', async () => {
  await scene.start(`haulers/${scene.haulerId}`, 'answer-lost', { times: 1 });
  const result = await runProgram(
    'scale',
    `const body = { siteId: '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10', materials: [
       { id: '7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21', name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' as const }] };
     const answer = await client.createTicket({ body }, { idempotencyKey: 'client-1', retry: { retries: 3 } });
     const again = await client.createTicket({ body }, { idempotencyKey: 'client-1' });
     print([answer.success, answer.disposalTicketId === again.disposalTicketId]);`,
  );
  expect(result).toEqual([true, true]);
  const { body } = await scene.service.admin<{ pagination: { totalItems: number } }>(
    'GET',
    `/tickets?haulerId=${scene.haulerId}`,
  );
  expect(body.pagination.totalItems).toBe(1);
});

test('429 and 503 are retried, and a 409 names the existing account', async () => {
  const parameters = { seconds: 0 };
  await scene.start(`haulers/${scene.haulerId}`, 'too-many-requests', { times: 1, parameters });
  await scene.start(`haulers/${scene.haulerId}`, 'unavailable', { times: 1, parameters });
  const result = await runProgram(
    'account',
    `const retry = { idempotencyKey: true, retry: { retries: 4 } };
     const created = await client.createAccount({ body: { accountName: 'Lone Star' } }, retry);
     const error = await client.createAccount({ body: { accountName: 'lone  star' } }, retry).catch((error) => error);
     print([error.status, error.body.error.details.accountId === created.accountId]);`,
  );
  expect(result).toEqual([409, true]);
});

test('sites and recordings are read from the reference partner', async () => {
  const sites = `const { data } = await client.getSites({ query: { haulerId: '${scene.haulerId}' } });`;
  expect(await runProgram('site', `${sites} print(data.sites?.length);`)).toBe(2);
  const query =
    "customerId: 'ACME Hauling', truckId: 'TRUCK-7', startTime: '2026-01-31T08:00:00Z', endTime: '2026-01-31T09:00:00Z'";
  const list = `const { data } = await client.listContinuous({ query: { ${query} } });`;
  expect(await runProgram('vision', `${list} print(data.recordings?.length);`)).toBe(4);
});

/** The committed clients of the others are compared with what redocly generates. */
const GENERATED = ['account', 'admin', 'partner'];

beforeAll(async () => {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const redocly = join(ROOT, 'node_modules/@redocly/cli/bin/cli.js');
  await Promise.all(
    GENERATED.map(async (name) => {
      writeFileSync(join(folder, `${name}.json`), (await scene.service.call('GET', `/docs/${name}.json`)).text);
      const words = [redocly, 'generate-client', `${name}.json`, '--output', `${name}.ts`];
      await run(process.execPath, words, { cwd: folder, env });
    }),
  );
}, 120_000);

/** Runs a program that uses the generated clients, and returns the JSON that it prints. */
async function runGenerated(source: string): Promise<unknown> {
  writeFileSync(join(folder, 'program.ts'), source);
  const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', 'program.ts'], {
    cwd: folder,
  });
  return JSON.parse(stdout);
}

describe('clients that redocly generates from the documents', () => {
  test('compile with strict types', async () => {
    const others = PUBLICATIONS.map(({ api }) => api.name).filter((name) => !GENERATED.includes(name));
    const committed = others.map((name) => join(CLIENTS, `typescript/${name}.ts`));
    const files = [...GENERATED.map((name) => `${name}.ts`), ...committed];
    expect(files).toHaveLength(PUBLICATIONS.length);
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
    const result = await runGenerated(`
      import * as admin from './admin.ts';
      import * as account from './account.ts';

      admin.configure({ auth: { bearer: ${JSON.stringify(scene.service.env.ADMIN_TOKEN)} } });
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
  });
});
