import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { WebhookEndpoint } from '../../src/contracts/admin/webhook-endpoint.dto.js';
import { type ScriptedPartner, startScriptedPartner } from '../support/scripted-partner.js';
import { status } from '../integration/webhooks/receiver.js';
import { accessibilityFindings, type ConsoleScene, startConsole } from './console-pages.js';

let scene: ConsoleScene;
let receiver: ScriptedPartner;
beforeAll(async () => {
  receiver = await startScriptedPartner();
  scene = await startConsole();
}, 90_000);
afterAll(async () => {
  await scene.close();
  await receiver.stop();
});
afterEach(async () => expect(await scene.endCase()).toEqual([]));

async function fill(page: Page, url: string): Promise<void> {
  await page.getByLabel('Address').fill(url);
  await page.getByRole('checkbox', { name: 'ticket.created' }).check();
  await page.getByRole('button', { name: 'Create the endpoint' }).click();
}

test('an endpoint is created, tested, repeated, rotated, paused and resumed', async () => {
  const { page, visit } = scene;
  receiver.on('POST /hook', status(503, {}, 'The receiver is being moved'), status(204));
  await visit('webhooks');
  await page.getByRole('link', { name: 'New endpoint' }).click();
  await fill(page, 'https://user:password@example.com/');
  await page
    .getByText(/must not contain a user name/)
    .first()
    .waitFor();
  scene.expectErrors('400');
  await fill(page, `${receiver.url}/hook`);
  const secret = page.getByRole('region', { name: 'New secret' });
  const first = await secret.locator('code').innerText();
  expect(first).toMatch(/^whsec_/);
  await secret.getByRole('button', { name: 'I have stored the secret' }).click();
  expect(await page.getByText(first).count()).toBe(0);

  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.getByRole('status').getByText('not delivered').waitFor();
  await page.getByRole('region', { name: 'Deliveries of webhooks' }).getByText('The receiver is being moved').waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);

  await page.getByRole('link', { name: `${receiver.url}/hook` }).click();
  await page.getByRole('button', { name: 'Deliver the failed ones again' }).click();
  await page.getByText('1 are delivered again.').waitFor();
  await page.getByRole('region', { name: 'Deliveries of webhooks' }).getByText('delivered', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Deliver again' }).click();
  const { body } = await scene.service.admin<{ data: WebhookEndpoint[] }>('GET', '/webhook-endpoints');
  expect(body.data.length).toBe(1);

  await page.getByRole('button', { name: 'Rotate the secret' }).click();
  await page
    .getByRole('group', { name: 'Rotate the secret' })
    .getByRole('button', { name: 'Rotate the secret' })
    .click();
  await secret.getByText(/The former secret signs as well until/).waitFor();
  expect(await secret.locator('code').innerText()).not.toBe(first);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('paused', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByText('enabled', { exact: true }).waitFor();
}, 60_000);
