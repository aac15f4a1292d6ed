import { afterAll, afterEach, beforeAll, describe, expect, it, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { call } from '../../acceptance/support/target.js';
import { eventually } from '../../support/eventually.js';
import { type ConsoleScene, press, startConsole, target } from '../../console/support/console.js';
import { DEMO } from '../../console/support/demo.js';
import { endSessions, groups, pagesOf, signedIn, startProvider } from '../../console/support/people.js';

let scene: ConsoleScene;
let provider: Awaited<ReturnType<typeof startProvider>>;
beforeAll(async () => {
  provider = await startProvider();
  scene = await startConsole();
}, 60_000);
afterAll(async () => {
  await scene.close();
  await provider.close();
});
afterEach(async () => expect(await scene.endCase()).toEqual([]));

/** Ends the sessions while the page makes no call by itself, and opens an address of the console again in its tab. */
async function returnWithoutSession(page: Page, path = ''): Promise<void> {
  await page.goto('about:blank');
  await endSessions();
  await page.goto(`/console/${path}`, { waitUntil: 'commit' });
}

describe('a person who signs in at the identity provider', () => {
  test.each([
    { login: 'otto', role: 'operator', may: 'start' },
    { login: 'vera', role: 'viewer', may: 'read' },
  ])('$login as $role sees the pages of the role, and may $may', async ({ login, role, may }) => {
    const page = await signedIn(scene, login, 'haulers?search=x');
    expect(page.url()).toContain('/console/haulers?search=x');
    const header = page.getByRole('banner');
    await header.getByText(`Name of ${login}`, { exact: true }).waitFor();
    await header.getByText(role, { exact: true }).waitFor();
    const pages = await pagesOf(page);
    expect(pages).toEqual(expect.arrayContaining(['Actions', 'Webhooks', 'Sandbox']));
    expect(pages).not.toContain('Sessions');
    await page.goto('/console/haulers?new=1');
    const create = page.getByRole('button', { name: 'Create the hauler' });
    await create.waitFor();
    expect(await create.isEnabled()).toBe(false);
    await page.getByText(`This needs the role admin; this session has the role ${role}.`).waitFor();
    await page.goto('/console/sandbox');
    const start = page.getByRole('button', { name: /^Start / }).first();
    await start.waitFor();
    await eventually(async () => expect(await start.isEnabled()).toBe(may.includes('start')));
  });
});

describe('a session that has ended', () => {
  it('of a person is renewed without a page where nothing was typed, and stays at its address', async () => {
    const page = await signedIn(scene, 'otto', 'tickets?search=IN');
    await returnWithoutSession(page, 'tickets?search=IN');
    await page.getByRole('banner').getByText('Name of otto').waitFor();
    expect(page.url()).toMatch(/\/console\/tickets\?search=IN$/);
    scene.expectErrors('401');
  });

  it('of a person is not renewed when the group was removed', async () => {
    const page = await signedIn(scene, 'otto');
    groups.set('otto', []);
    await returnWithoutSession(page);
    await page.getByText('none of your groups has a role here').waitFor();
    expect(await page.getByRole('navigation', { name: 'Pages' }).count()).toBe(0);
    groups.set('otto', ['dispatch']);
    scene.expectErrors('401');
  });

  it('of a token asks for it again, and keeps what was typed', async () => {
    const page = await scene.visitor({ token: target.adminToken });
    await page.goto('/console/connections?new=1');
    await page.getByLabel('Address of the partner').fill('https://typed.example');
    await page.getByLabel('Hauler').getByRole('option', { name: 'Demo Hauling' }).waitFor({ state: 'attached' });
    await page.getByLabel('Key that the partner issued').fill('some-key');
    await page.context().clearCookies();
    await press(page.getByRole('button', { name: 'Create' }));
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.locator('input[name=secret]').fill(target.adminToken);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Address of the partner').inputValue()).toBe('https://typed.example');
    scene.expectErrors('401');
  });
});

describe('the sign-in with a token or key', () => {
  it('of a partner opens the exchanges and the sandbox', async () => {
    const headers = { 'API-KEY': target.keys.partner };
    await call('GET', `/scale-platform/v1/sites?haulerId=${DEMO.haulerId}`, { headers }, target);
    const page = await scene.visitor();
    await page.goto('/console');
    await page.getByLabel('API key of a partner', { exact: true }).check();
    await page.locator('input[name=secret]').fill(target.keys.partner);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'List of the sites' }).first().waitFor();
    expect(await pagesOf(page)).toEqual(['Exchanges', 'Sandbox']);
    await page.getByRole('link', { name: 'List of the sites' }).first().click();
    await page.getByText(/^The call GET \/scale-platform\/v1\/sites/).waitFor();
  });
});
