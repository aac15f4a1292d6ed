import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { IssuedWebhookEndpoint, WebhookDelivery } from '../../src/contracts/admin/webhooks.routes.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { heldChild } from '../support/held.js';
import { requirePrograms } from '../support/programs.js';
import { ScaleHouse } from '../support/scale-house.js';
import { testServer } from '../support/test-run.js';

const ROOT = join(import.meta.dirname, '../..');
const guide = readFileSync(join(ROOT, 'docs/guides/webhooks.md'), 'utf8');

let service: TestApp;
let house: ScaleHouse;
let folder: string;
beforeAll(async () => {
  service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  house = await ScaleHouse.open(service);
  folder = mkdtempSync(join(testServer().folder, 'receivers-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(() => service.close());

/** The only listing of the guide in a language. */
function listing(language: string): string {
  const found = [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))];
  expect(found).toHaveLength(1);
  return found[0]?.[1] ?? '';
}

const RECEIVERS = [
  ['Express', 'js', 'receiver.mjs', process.execPath],
  ['Python', 'python', 'receiver.py', 'python3'],
] as const;

test.each(RECEIVERS)(
  'the receiver in %s verifies real deliveries, and refuses another secret',
  async (_name, language, file, program) => {
    requirePrograms('python3');
    const path = join(folder, file);
    writeFileSync(path, listing(language));
    const created = await service.admin<IssuedWebhookEndpoint>('POST', '/webhook-endpoints', {
      url: 'http://127.0.0.1:9/haulbridge',
      topics: ['ticket.created'],
    });
    const { id, secret } = created.body;
    const child = spawn(program, [path], { env: { PATH: process.env['PATH'], PORT: '0', WEBHOOK_SECRET: secret } });
    heldChild(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    const port = await eventually(() => {
      const [, found] = /listening on (\d+)/.exec(output) ?? [];
      if (found === undefined) throw new Error(`it does not listen: ${output}`);
      return found;
    });
    await service.admin('PATCH', `/webhook-endpoints/${id}`, { url: `http://127.0.0.1:${port}/haulbridge` });
    const tested = async () =>
      (await service.admin<WebhookDelivery>('POST', `/webhook-endpoints/${id}/test`)).body.lastResponse?.status;
    expect(await tested()).toBe(204);
    const ticketId = await house.expectAccepted({});
    await eventually(() => expect(output).toMatch(new RegExp(`ticket\\.created .*${ticketId}`)));
    // Delivered again, it is answered and not taken twice.
    const list = await service.admin<{ data: WebhookDelivery[] }>(
      'GET',
      `/webhook-deliveries?endpointId=${id}&topic=ticket.created`,
    );
    await service.admin('POST', `/webhook-deliveries/${list.body.data[0]?.id}/retry`);
    await eventually(async () => {
      const { body } = await service.admin<WebhookDelivery>('GET', `/webhook-deliveries/${list.body.data[0]?.id}`);
      expect(body).toMatchObject({ status: 'delivered', lastResponse: { status: 204 } });
    });
    expect(output.match(new RegExp(ticketId, 'g'))).toHaveLength(1);
    // During a rotation the former secret signs as well, and after it no more.
    await service.admin('POST', `/webhook-endpoints/${id}/rotate-secret`, { overlapSeconds: 3600 });
    expect(await tested()).toBe(204);
    await service.admin('POST', `/webhook-endpoints/${id}/rotate-secret`, { overlapSeconds: 0 });
    expect(await tested()).toBe(401);
    child.kill('SIGKILL');
    await service.admin('DELETE', `/webhook-endpoints/${id}`);
  },
);
