import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DEMO } from '../../src/demo/demo-data.js';
import { accessibilityFindings, type ConsoleScene, listen, signIn, startConsole } from '../support/console.js';
import { eventually } from '../support/eventually.js';

let scene: ConsoleScene;
beforeAll(async () => void (scene = await startConsole()), 90_000);
afterAll(() => scene.close());
afterEach(() => expect(scene.complaints.splice(0)).toEqual([]));

interface Page<T> {
  readonly data: T[];
}

const list = async <T>(path: string): Promise<T[]> => (await scene.service.admin<Page<T>>('GET', path)).body.data;

describe('the connections page', () => {
  it('creates a connection, checks it, and shows what the partner answered', async () => {
    const { page, service, region } = scene;
    await page.getByRole('link', { name: 'Connections' }).click();
    await page.getByRole('link', { name: 'New connection' }).click();
    await page.getByLabel('Hauler').selectOption({ label: 'Demo Hauling' });
    await page.getByLabel('Address of the partner').fill(service.url);
    await page.getByLabel('Key that the partner issued').fill('not-the-key');
    await page.getByRole('button', { name: 'Create' }).click();
    await region('Connection').getByText(service.url).waitFor();
    await page.getByRole('button', { name: 'Check now' }).click();
    const answers = region('Result of the check').getByRole('listitem');
    await answers.first().waitFor();
    expect((await answers.allInnerTexts()).slice(0, 2)).toEqual(['yes Reachable', 'no Accepts the key']);
    expect(await accessibilityFindings(page)).toEqual([]);
  }, 30_000);

  it('keeps what was typed where the service refuses it', async () => {
    const { page, visit } = scene;
    await visit('connections?new=1');
    await page.getByLabel('Hauler').selectOption({ label: 'Demo Hauling' });
    await page.getByLabel('Address of the partner').fill('ftp://partner.example');
    await page.getByLabel('Key that the partner issued').fill('some-key');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('baseUrl');
    expect(await page.getByLabel('Address of the partner').inputValue()).toBe('ftp://partner.example');
    expect(scene.complaints.splice(0).filter((each) => !each.includes('400'))).toEqual([]);
  }, 30_000);

  it('stores the next key, with the overlap as a picture, and pauses', async () => {
    const { page, visit, demo } = scene;
    // The oldest is that of the demo, whose key the partner accepts: the next key waits.
    const connection = (await list<{ id: string }>('/connections?interface=site')).at(-1);
    await visit(`connections?id=${connection?.id}`);
    await page.getByRole('button', { name: 'Rotate the key' }).click();
    await page.getByRole('img', { name: /tries the next key/ }).waitFor();
    await page.getByLabel('Next key of the partner').fill(demo.keys.partner);
    await page.getByRole('button', { name: 'Store the next key' }).click();
    await page.getByText('tried when the current key is refused').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    const after = await list<{ id: string; enabled: boolean }>('/connections?interface=site');
    expect(after.find(({ id }) => id === connection?.id)?.enabled).toBe(false);
  }, 30_000);
});

describe('the keys page', () => {
  it('issues a key, shows it once with a copy button, rotates and revokes it', async () => {
    const { page, region } = scene;
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('link', { name: 'New key' }).click();
    await page.getByLabel('Name', { exact: false }).first().fill('Weighbridge north');
    await page.getByLabel('scale', { exact: true }).check();
    await page.locator('select[name=haulerId]').selectOption({ label: 'Demo Hauling' });
    await page.getByRole('button', { name: 'Issue the key' }).click();
    const card = region('New key');
    const key = (await card.locator('.secret code').innerText()).trim();
    expect(key).toMatch(/^hb_/);
    await card.getByRole('button', { name: 'Copy the key' }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    const push = await scene.service.call('POST', '/platform-api/v1/tickets', {
      headers: { 'PLATFORM-API-KEY': key },
      body: {},
    });
    expect(push.status).toBe(400);
    await card.getByRole('button', { name: 'I have stored the key' }).click();
    expect(await page.getByText(key).count()).toBe(0);

    const row = page.getByRole('row', { name: /Weighbridge north/ }).first();
    await row.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('img', { name: /works until the new one is first used/ }).waitFor();
    await page.getByLabel('Overlap after the first use').selectOption({ label: '1 hour' });
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Rotate the key' }).click();
    await region('New key').getByRole('img').waitFor();
    await page.getByRole('button', { name: 'I have stored the key' }).click();
    await row.getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('fail within 5 s').waitFor();
    await row.getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('revoked').waitFor();
  }, 30_000);
});

describe('the sandbox page', () => {
  it('switches a scenario on and off, and moves the clock', async () => {
    const { page, service, demo } = scene;
    await page.getByRole('link', { name: 'Sandbox' }).click();
    await page.getByLabel('Scenarios of').selectOption({ label: 'Hauler Demo Hauling' });
    const row = page.getByRole('listitem').filter({ hasText: 'server-error' });
    await row.getByRole('switch').click();
    await row.getByText(/ends in (10:00|9:5\d)/).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    const call = () =>
      service.call('GET', `/scale-platform/v1/sites?haulerId=${DEMO.haulerId}`, {
        headers: { 'API-KEY': demo.keys.partner },
      });
    expect((await call()).status).toBe(500);
    await row.getByRole('switch').click();
    await row.getByLabel('For').waitFor();
    await eventually(async () => expect((await call()).status).toBe(200));

    await page.getByLabel('Scenarios of').selectOption({ label: 'Customer Demo Hauling' });
    await page.getByRole('button', { name: '+ 1 hour' }).click();
    await page.getByText(/^It is now/).waitFor();
  }, 30_000);
});

describe('the actions page', () => {
  it('lists who changed what, and finds the changes of one resource', async () => {
    const { page, region } = scene;
    await page.getByRole('link', { name: 'Actions' }).click();
    const row = page.getByRole('row', { name: /console .*updateConnection/ }).first();
    await row.waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await row.getByRole('link').first().click();
    await page.waitForURL(/resource=connection/);
    await region('Actions')
      .getByRole('row', { name: /revokeApiKey/ })
      .waitFor({ state: 'detached' });
  }, 30_000);
});

describe('the sign-in', () => {
  it('refuses a wrong token with a sentence, and ends with the sign-out', async () => {
    const { browser, service } = scene;
    const context = await browser.newContext({ baseURL: service.url });
    const page = await context.newPage();
    listen(page, scene.complaints);
    await page.goto('/console/tickets?page=2');
    await page.locator('input[name=secret]').fill('wrong-token-0123456789');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This is neither the admin token nor the read-only token.').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.locator('input[name=secret]').fill(service.env.ADMIN_TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Tickets', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await context.cookies()).toEqual([]);
    await context.close();
  }, 30_000);

  it('asks again when the session has ended, and keeps what was typed', async () => {
    const { page, visit, service } = scene;
    await visit('connections?new=1');
    await page.getByLabel('Address of the partner').fill('https://typed.example');
    // The page has loaded all that it needs: only the button finds that the session has ended.
    await page.getByLabel('Hauler').getByRole('option', { name: 'Demo Hauling' }).waitFor({ state: 'attached' });
    await page.context().clearCookies();
    await page.getByLabel('Key that the partner issued').fill('some-key');
    await page.getByRole('button', { name: 'Create' }).click();
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.locator('input[name=secret]').fill(service.env.ADMIN_TOKEN);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Address of the partner').inputValue()).toBe('https://typed.example');
    expect(scene.complaints.splice(0).filter((each) => !each.includes('401'))).toEqual([]);
  }, 30_000);

  it('with a key shows the pages of a partner: exchanges and sandbox', async () => {
    const { browser, service, demo } = scene;
    const context = await browser.newContext({ baseURL: service.url });
    const page = await context.newPage();
    page.setDefaultTimeout(10_000);
    listen(page, scene.complaints);
    await service.call('GET', `/scale-platform/v1/sites?haulerId=${DEMO.haulerId}`, {
      headers: { 'API-KEY': demo.keys.partner },
    });
    await signIn(page, demo.keys.partner, 'API key of a partner');
    const names = await page.getByRole('navigation').getByRole('link').allInnerTexts();
    expect(names).toEqual(['Exchanges', 'Sandbox']);
    await page.getByRole('link', { name: 'GET getSites' }).first().click();
    await page.getByText(/^The call GET \/scale-platform\/v1\/sites/).waitFor();
    await context.close();
  }, 30_000);
});
