import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
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
  const key = JSON.stringify(scene.platformKey);
  const auth = `{ apiKey: { PLATFORM_API_KEY: ${key} } }`;
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

test('the client of Scale sends a ticket whose answer was lost again with its key, and it is stored once (decision 16)', async () => {
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

test('the client of Account retries 429 and 503, and a 409 names the existing account (decision 28)', async () => {
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
