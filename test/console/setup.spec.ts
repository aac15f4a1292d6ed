import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../src/demo/demo-data.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { accessibilityFindings, type ConsoleScene, signIn, startConsole } from './console-pages.js';

const READ_TOKEN = 'read-only-token-0123456789';

/** The demo is the partner; the other service is empty. */
let scene: ConsoleScene;
let empty: TestApp;
beforeAll(async () => {
  [scene, empty] = await Promise.all([
    startConsole(),
    startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true, ADMIN_READ_TOKEN: READ_TOKEN } }),
  ]);
}, 90_000);
afterAll(async () => {
  await scene.close();
  await empty.close();
});
afterEach(async () => expect(await scene.endCase()).toEqual([]));

async function admin(token = empty.env.ADMIN_TOKEN): Promise<Page> {
  const page = await scene.visitor(empty.url);
  await signIn(page, token);
  return page;
}

const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** Follows the button of the next step. */
const next = (page: Page, text: string) => page.getByRole('link', { name: `Next: ${text}` }).click();

async function connect(page: Page, url: string): Promise<void> {
  expect(await page.getByLabel('Hauler').locator('option:checked').innerText()).toBe('Green Valley Hauling');
  await page.getByLabel('Address of the partner').fill(url);
  await page.getByLabel('Key that the partner issued').fill(scene.demo.keys.partner);
  await page.getByRole('button', { name: 'Create and check the connection' }).click();
  const answers = part(page, 'Result of the check').getByRole('listitem');
  await answers.first().waitFor();
  expect((await answers.allInnerTexts()).slice(0, 2)).toEqual(['yes Reachable', 'yes Accepts the key']);
}

it('an empty service shows a session that may only read that an admin has to begin', async () => {
  const page = await admin(READ_TOKEN);
  await page.getByText('an admin creates the first one').waitFor();
  expect(await page.getByRole('button', { name: 'Create the hauler' }).count()).toBe(0);
});

it('an empty service leads step by step to its first hauler, its keys, its partners and its trucks', async () => {
  const page = await admin();
  await page.getByText('Next: create the first hauler.').waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.getByLabel('Name of the hauler').fill('Green Valley Hauling');
  await page.getByLabel('Id', { exact: false }).last().fill('not-a-uuid');
  await page.getByRole('button', { name: 'Create the hauler' }).click();
  // What the service refuses stands beside its field, which has the focus, and what was typed stays.
  const id = page.getByRole('textbox', { name: /^Id/ });
  await page.getByRole('alert').getByText('Must be a UUID').waitFor();
  expect(await id.getAttribute('aria-describedby')).toBe(await page.getByRole('alert').getAttribute('id'));
  expect(
    await id.evaluate((field) => (field as unknown as { matches(selector: string): boolean }).matches(':focus')),
  ).toBe(true);
  expect(await accessibilityFindings(page)).toEqual([]);
  await id.fill(DEMO.haulerId);
  await page.getByRole('button', { name: 'Create the hauler' }).click();
  await page.getByRole('heading', { name: 'Next: issue a key' }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  // The browser also reports the 404 of a setting that does not exist yet.
  scene.expectErrors('400', '/ticket-footage');

  await page.getByRole('link', { name: 'Issue a key for the partner' }).click();
  await page.getByLabel('Name', { exact: false }).first().fill('Weighbridge north');
  await page.getByRole('button', { name: 'Issue the key' }).click();
  const key = (await part(page, 'New key').locator('.secret code').innerText()).trim();
  await part(page, 'New key').getByRole('button', { name: 'Copy the key' }).waitFor();
  const asked = await empty.call('POST', '/platform-api/v1/tickets', {
    headers: { 'PLATFORM-API-KEY': key },
    body: {},
  });
  expect(asked.status).toBe(400);

  await next(page, 'connect the partner who lists disposal sites (Site)');
  await connect(page, scene.service.url);
  await next(page, 'connect the partner who records videos (Vision)');
  await connect(page, scene.service.url);
  expect(await accessibilityFindings(page)).toEqual([]);
  await next(page, 'follow the cameras of a truck');
  await page.getByRole('textbox', { name: /^Truck/ }).fill(DEMO.truckId);
  await page.getByRole('button', { name: 'Follow this truck' }).click();
  await page.getByText(`${DEMO.truckId} is followed`).waitFor();
  await part(page, 'Followed trucks').getByRole('cell', { name: 'all cameras' }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);

  const stored = '/recordings?status=stored';
  await eventually(async () =>
    expect((await empty.admin<{ data: unknown[] }>('GET', stored)).body.data.length).toBeGreaterThan(0),
  );
  await page.getByRole('link', { name: 'Haulers', exact: true }).click();
  await page.getByRole('link', { name: 'Green Valley Hauling' }).click();
  await page.getByRole('heading', { name: 'Live', exact: true }).waitFor();
  await part(page, 'Set up')
    .getByText(/2 sites/)
    .waitFor();
  await part(page, 'Set up')
    .getByText(/stored recordings?\./)
    .waitFor();
  // The first page goes on with what needs attention.
  await page.getByRole('link', { name: 'Home', exact: true }).click();
  await part(page, 'In order').waitFor();
  expect(await part(page, 'Set up').count()).toBe(0);
}, 60_000);
