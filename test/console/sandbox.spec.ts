import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createHauler, issueKey } from '../support/api-keys.js';
import { eventually } from '../support/eventually.js';
import { accessibilityFindings, type ConsoleScene, signIn, startConsole } from './console-pages.js';

const REAL = 'Lone Star Hauling';

let scene: ConsoleScene;
let haulerId: string;
beforeAll(async () => {
  scene = await startConsole();
  haulerId = await createHauler(scene.service, REAL);
}, 90_000);
afterAll(() => scene.close());
afterEach(async () => expect(await scene.endCase()).toEqual([]));

const running = async (): Promise<{ name: string; haulerName: string | null }[]> =>
  (await scene.service.admin<{ data: { name: string; haulerName: string | null }[] }>('GET', '/sandbox')).body.data;
const toggle = (page: Page, name: string) => page.getByRole('switch', { name, exact: true });
const banner = (page: Page) => page.getByRole('region', { name: 'Simulated faults' });

it('begins with the demo, and shows on every page what is on until it is ended there', async () => {
  const { page, follow, visit } = scene;
  await follow('Sandbox');
  expect(await page.getByLabel('Scenarios of').locator('option:checked').innerText()).toBe('Hauler Demo Hauling');
  await toggle(page, 'server-error').click();
  await banner(page)
    .getByText(/^server-error for Demo Hauling until/)
    .waitFor();
  expect(await running()).toMatchObject([{ name: 'server-error', haulerName: 'Demo Hauling' }]);
  await page.getByLabel('Scenarios of').selectOption({ label: 'Customer Demo Hauling' });
  await toggle(page, 'slow-clip').click();
  await banner(page).getByText('slow-clip for the videos of Demo Hauling').waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  for (const path of ['', 'tickets', 'keys', 'haulers', 'sync', 'exchanges', 'coverage', 'nonsense']) {
    await visit(path);
    await banner(page).getByText('server-error').first().waitFor();
  }
  scene.expectErrors('404');
  await visit('tickets');
  await banner(page).getByRole('button', { name: 'End server-error' }).click();
  await banner(page).getByText('server-error').first().waitFor({ state: 'detached' });
  await banner(page).getByRole('button', { name: 'End slow-clip' }).click();
  await banner(page).waitFor({ state: 'detached' });
  expect(await running()).toEqual([]);
});

it('asks by name before the calls of a real hauler are faulted, and switches nothing on at a "Cancel"', async () => {
  const { page, visit } = scene;
  await visit('sandbox');
  await page.getByLabel('Scenarios of').selectOption({ label: `Hauler ${REAL}` });
  await page.getByText('These calls are real').waitFor();
  await toggle(page, 'unavailable').click();
  const question = page.getByRole('group', { name: 'Confirm unavailable' });
  await question.getByText(`faults the real calls of ${REAL} for 10 minutes`).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect(await running()).toEqual([]);

  await toggle(page, 'unavailable').click();
  await question.getByRole('button', { name: `Switch unavailable on for ${REAL}` }).click();
  await banner(page).getByText(`unavailable for ${REAL}`).waitFor();
  expect(await running()).toMatchObject([{ name: 'unavailable', haulerName: REAL }]);
  // The service knows it, not the page.
  await page.reload();
  await eventually(async () => expect(await toggle(page, 'unavailable').getAttribute('aria-checked')).toBe('true'));
  await scene.service.admin('DELETE', `/sandbox/haulers/${haulerId}/scenarios/unavailable`);
  await banner(page).waitFor({ state: 'detached' });
  // The banner and the page ask at times of their own.
  await eventually(async () => expect(await toggle(page, 'unavailable').getAttribute('aria-checked')).toBe('false'));
});

it('asks before the videos of the demo are faulted if a real hauler reads them too', async () => {
  const { page, service, visit } = scene;
  const { body } = await service.admin<{ id: string }>('POST', '/connections', {
    haulerId,
    interface: 'vision',
    baseUrl: service.url,
    apiKey: 'some-key',
    customerId: 'green-valley',
    enabled: false,
  });
  await visit('sandbox');
  await page.getByLabel('Scenarios of').selectOption({ label: `Customer green-valley (${REAL})` });
  await toggle(page, 'failed-clip').click();
  await page.getByText(`faults the real calls of customer green-valley (${REAL})`).waitFor();
  await service.admin('DELETE', `/connections/${body.id}`);
});

it('asks the partner of a real hauler too, whose banner names its own calls', async () => {
  const { service } = scene;
  const page = await scene.visitor();
  await signIn(page, (await issueKey(service, ['scale'], { haulerId })).key, 'API key of a partner');
  await page.goto('/console/sandbox');
  await toggle(page, 'conflict').or(toggle(page, 'rule-violated')).first().waitFor();
  await toggle(page, 'rule-violated').click();
  await page.getByRole('button', { name: 'Switch rule-violated on for your own calls' }).click();
  await banner(page).getByText('rule-violated for your own calls').waitFor();
  await page.goto('/console/exchanges');
  await banner(page).getByRole('button', { name: 'End rule-violated' }).click();
  await banner(page).waitFor({ state: 'detached' });
});
