import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { startTestApp, type TestApp } from '../support/app.js';
import { startBrowser } from '../support/browser.js';

let service: TestApp;
let browser: Browser;
let page: Page;
const complaints: string[] = [];

beforeAll(async () => {
  [service, browser] = await Promise.all([startTestApp(), startBrowser()]);
  page = await browser.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
});

afterAll(async () => {
  await browser.close();
  await service.close();
});

async function authorize(secret: string): Promise<void> {
  await page.click('.swagger-ui .btn.authorize');
  await page.fill('.swagger-ui .auth-container input', secret);
  await page.click('.swagger-ui .auth-btn-wrapper .authorize');
  await page.click('.swagger-ui .auth-btn-wrapper .btn-done');
}

async function select(title: string): Promise<void> {
  await page.selectOption('#select', { label: title });
  await page.waitForSelector(`.swagger-ui .info .title:has-text("${title.replace(/ [\d.]+$/, '')}")`);
}

/** Opens an operation, sends its example, and returns the status that the page shows. */
async function tryItOut(operation: string): Promise<string> {
  const block = page.locator(`.opblock[id$="-${operation}"]`);
  await block.locator('.opblock-summary-control').click();
  await block.locator('.try-out__btn').click();
  await block.locator('.btn.execute').click();
  return (await block.locator('.live-responses-table tbody .response-col_status').first().innerText()).trim();
}

test('the commands of a guide have the address at which the browser reached it', async () => {
  await page.goto(`${service.url}/docs/guides/partner-calling`);
  const text = await page.locator('main').innerText();
  expect(text).toContain(`export URL="\${URL:-${service.url}}"`);
  expect(text).not.toMatch(/127\.0\.0\.1:3000(?!\d)|https:\/\/(platform|haulbridge)\.example(?!\.)/);
  expect(complaints).toEqual([]);
});

describe('Swagger UI, in a browser', () => {
  beforeEach(async () => {
    await page.goto(`${service.url}/docs`);
    await page.waitForSelector('#select');
  });
  afterEach(() => expect(complaints).toEqual([]));

  it('offers every document', async () => {
    const names = await page.locator('#select option').allInnerTexts();
    expect(names).toEqual([
      'Scale API 1.0.0',
      'Account API 1.0.0',
      'Site API 1.0.0',
      'Vision API 1.11.0',
      'Partner API 1.0.0',
      'Admin API 1.0.0',
    ]);
  });

  it('creates a hauler with the admin token, which the browser does not keep', async () => {
    await select('Admin API 1.0.0');
    await authorize(service.env.ADMIN_TOKEN);
    expect(await tryItOut('createHauler')).toContain('201');
    const kept = await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage, document.cookie])');
    expect(kept).not.toContain(service.env.ADMIN_TOKEN);
  });
});
