import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../src/demo/demo-data.js';
import { type Demo, demoClient, recordMinutes, seedDemo } from '../../src/demo/seed.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { freePort } from '../support/free-port.js';
import { testServer } from '../support/test-run.js';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');

let service: TestApp;
let demo: Demo;
beforeAll(async () => {
  service = await startTestApp({ env: { SANDBOX: true, OUTBOUND_ALLOW_PRIVATE: true } });
  demo = await seedDemo(service.env, service.url);
  await recordMinutes(demoClient(service.url, service.env.ADMIN_TOKEN), demo.lastMinute);
});
afterAll(() => service.close());

const CHARACTERS: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&' };

/**
 * The `sh` blocks of a guide as a browser shows it, with the address of the service, as one script: a later block uses the files and
 * variables of an earlier one.
 */
async function commandsOf(guide: string): Promise<string> {
  const { text } = await service.call<string>('GET', `/docs/guides/${guide}`);
  const blocks = [...text.matchAll(/<code class="language-sh">([^<]*)<\/code>/g)].map(([, block = '']) =>
    block
      .replace(/&(\w+);/g, (entity, name: string) => CHARACTERS[name] ?? entity)
      .replaceAll('http://127.0.0.1:3000', service.url),
  );
  expect(blocks.length).toBeGreaterThan(1);
  return ['set -eu', ...blocks].join('\n');
}

async function runGuide(guide: string, variables: Readonly<Record<string, string>> = {}): Promise<string> {
  const env = {
    ...variables,
    PATH: process.env['PATH'],
    PARTNER_URL: `http://127.0.0.1:${await freePort()}`,
    KIT_PORT: String(await freePort()),
  };
  const cwd = folderOfClone();
  return (await run('sh', ['-c', await commandsOf(guide)], { cwd, env })).stdout;
}

/** A folder as that of a clone in which `npm start` runs: the files of the repository, and the keys of the demo. */
function folderOfClone(): string {
  const folder = mkdtempSync(join(testServer().folder, 'guide-'));
  for (const name of ['dist', 'docs', 'src']) symlinkSync(join(ROOT, name), join(folder, name));
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'data/demo-keys.json'), JSON.stringify(demo.keys));
  writeFileSync(join(folder, 'data/secrets.json'), JSON.stringify({ adminToken: service.env.ADMIN_TOKEN }));
  return folder;
}

/** What belongs to the hauler of the demo: nothing of it may change, but that downloads go on. */
async function stateOfDemo(): Promise<unknown> {
  const of = async (path: string) => {
    const { body } = await service.admin<{ data: { id: string }[] }>(
      'GET',
      `${path}haulerId=${DEMO.haulerId}&pageSize=100`,
    );
    return body.data.map(({ id }) => id);
  };
  const sites = await service.admin('GET', `/sites?haulerId=${DEMO.haulerId}`);
  return { sites: sites.body, others: await Promise.all(['/connections?', '/kiosks?', '/materials?'].map(of)) };
}

const statusesOf = (output: string) => [...output.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

describe('every command of a guide works as it is written', () => {
  test('partner-calling: from nothing to rehearsed faults', async () => {
    const output = await runGuide('partner-calling');
    expect(statusesOf(output)).toEqual([200, 200, 200, 200, 409, 200]);
    expect([...output.matchAll(/^Ticket-Result: (\w+)/gm)].map(([, result]) => result)).toEqual([
      'created',
      'unchanged',
      'unchanged',
    ]);
    expect(output.match(/^Idempotency-Replayed: true/gm)).toHaveLength(2);
    expect(output).toMatch(/"data":\[\{"id":"[^"]+".*"result":"unchanged"/);
    expect(output).toContain('the answer was lost');
    expect(output).toMatch(/\{"success":true,"disposalTicketId":"[0-9a-f-]{36}"\}\s/);
    expect(output).toMatch(/^\d+ passed, 0 failed, 0 warnings/m);
  });

  test('partner-hosting: from nothing to live, with a server that writes JSON with blanks, as Python does', async () => {
    const sample = readFileSync(join(ROOT, 'docs/guides/sample-server.mjs'), 'utf8');
    const SAMPLE = join(mkdtempSync(join(testServer().folder, 'sample-')), 'sample-server.mjs');
    writeFileSync(SAMPLE, sample.replace('JSON.stringify(body)', 'JSON.stringify(body, undefined, 1)'));
    const before = await stateOfDemo();
    const output = await runGuide('partner-hosting', { SAMPLE });
    expect(await stateOfDemo()).toEqual(before);
    expect(output).toMatch(/"interfaces":\[\],"haulerId":"[^"]+","connectionId":"[^"]+"/);
    expect(output).toContain('"route":"listContinuous"');
    expect(output).toContain('without a key: 401');
    expect(output).toContain('a part of the file: 206, 100 bytes');
    expect(output).toContain('the clip is ready');
    expect(output.match(/: conforms true, findings \[/g)).toHaveLength(2);
    expect(output).toContain('an injected fault: 503');
    expect(output).toMatch(/^\d+ passed, 0 failed, 0 warnings/m);
    expect(output).toMatch(/^vision-server: \d+ passed, 0 failed, 0 warnings/m);
  });

  test('sandbox: scenarios and the clock', async () => {
    const output = await runGuide('sandbox');
    expect(output).toContain('"name":"too-many-requests"');
    expect(output).toContain('"now":');
  });
});
