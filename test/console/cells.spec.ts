import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { createHauler } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { startBrowser } from '../support/browser.js';
import { type CellRouter, startCellRouter } from '../support/cell-router.js';
import { accessibilityFindings } from './console-pages.js';

const cells: Record<string, TestApp> = {};
let router: CellRouter;
let browser: Browser;
let page: Page;
let locked: string;

beforeAll(async () => {
  for (const name of ['a', 'b']) cells[name] = await startTestApp({ env: { CELL: name, CELLS: ['a', 'b'] } });
  const a = cells['a'] as TestApp;
  locked = await createHauler(a, 'Lone Star Hauling');
  await a.dataSource.query(`INSERT INTO hauler_moves (hauler_id, state, exported_at) VALUES ($1, 'locked', now())`, [
    locked,
  ]);
  await createHauler(cells['b'] as TestApp, 'Red Mesa Hauling');
  router = await startCellRouter(() => cells);
  browser = await startBrowser();
  page = await browser.newPage({ baseURL: router.url });
  page.setDefaultTimeout(20_000);
});
afterAll(async () => {
  await browser.close();
  await router.close();
  for (const cell of Object.values(cells)) await cell.close();
});

async function signIn(): Promise<void> {
  await page.getByLabel('Token of the admin API').fill(cells['a']?.env.ADMIN_TOKEN ?? '');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Cells' }).waitFor();
}

const currentCell = () => page.getByRole('navigation', { name: 'Cells' }).locator('[aria-current]').textContent();
const others = () => page.getByRole('region', { name: 'Other cells' });

test('the header switches between cells, and the first page lists what needs attention in all of them', async () => {
  await page.goto('/console/');
  await signIn();
  expect(await currentCell()).toBe('a');
  await others().getByText('Sign in to cell b').waitFor();
  await page.getByRole('navigation', { name: 'Cells' }).getByRole('link', { name: 'b', exact: true }).click();
  await signIn();
  // The address is that of all cells, and the cookie names the cell.
  expect(new URL(page.url()).pathname).toBe('/console/');
  expect(await currentCell()).toBe('b');
  // The session of the first cell goes on.
  const item = others().getByText('It was exported, and its pushes are 503');
  await item.waitFor();
  expect(await others().textContent()).toContain('Cell a');
  expect(await others().textContent()).toContain('Lone Star Hauling');
  const folder = process.env['SCREENSHOTS'];
  if (folder !== undefined) await takePictures(folder);
  expect(await accessibilityFindings(page)).toEqual([]);
  await item.click();
  await page.waitForURL('**/console/haulers');
  expect(await currentCell()).toBe('a');
});

async function takePictures(folder: string): Promise<void> {
  for (const [name, colorScheme, width] of [
    ['light', 'light', 1280],
    ['dark', 'dark', 1280],
    ['phone', 'light', 390],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    await page.screenshot({ path: `${folder}/cells-${name}.png`, fullPage: true });
  }
}
