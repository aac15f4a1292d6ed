import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { GroupAccess } from '../../src/config/access-rules.js';
import { createHauler } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { startBrowser } from '../support/browser.js';
import { type CellRouter, startCellRouter } from '../support/cell-router.js';
import { identify, oidcSettings, startIdentityProvider } from '../support/identity-provider.js';
import { lockHauler } from '../support/rows.js';
import { accessibilityFindings } from '../console/support/page-checks.js';

const groups = new Map([
  ['ada', ['owners']],
  ['lea', ['east']],
]);
const cells: Record<string, TestApp> = {};
/** Before it had roles. */
let firstOfB: TestApp;
let router: CellRouter;
let provider: Awaited<ReturnType<typeof startIdentityProvider>>;
let browser: Browser;
let context: BrowserContext;

const cellOf = (name: string): TestApp => cells[name]!;

/** A hauler whose lock the attention list of its cell names. */
async function lockedHauler(name: string, title: string): Promise<string> {
  const id = await createHauler(cellOf(name), title);
  await lockHauler(cellOf(name), id);
  return id;
}

beforeAll(async () => {
  router = await startCellRouter(() => cells);
  const addressOf = (name: string) => `${router.url}/cells/${name}`;
  // Of another site than the cells, as an identity provider is: its answers come without the strict cookies of the browser.
  provider = await startIdentityProvider(['a', 'b'].map(addressOf), groups, 'localhost');
  const start = async (name: string, roles: readonly GroupAccess[], on?: TestApp) => {
    const OIDC = oidcSettings(provider.issuer, addressOf(name), roles);
    const env = { CELL: name, CELLS: ['a', 'b'], PUBLIC_URL: router.url, OIDC };
    cells[name] = await startTestApp({ env, ...(on === undefined ? {} : { on }) });
  };
  await start('a', [
    { role: 'admin', group: 'owners' },
    { role: 'viewer', group: 'east' },
  ]);
  // A hauler of one group, which is known before the service starts with the roles of its cell.
  firstOfB = await startTestApp({ env: { CELL: 'b' } });
  cells['b'] = firstOfB;
  const own = await lockedHauler('b', 'Red Mesa Hauling');
  await lockedHauler('b', 'Hidden Valley Hauling');
  await lockedHauler('a', 'Lone Star Hauling');
  await start('b', [{ role: 'viewer', group: 'owners', haulers: [own] }], firstOfB);
  browser = await startBrowser();
}, 120_000);
afterAll(async () => {
  await browser.close();
  await router.close();
  await provider.close();
  await cells['b']?.close();
  await firstOfB.close();
  await cells['a']?.close();
});
afterEach(() => context.close());

async function newPage(): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  return page;
}

/** A visitor of a cell, before the sign-in. */
async function visitor(cell: string): Promise<Page> {
  context = await browser.newContext({ baseURL: router.url });
  // The page of the provider wants a font of another host.
  await context.route('https://fonts.googleapis.com/**', (route) => route.fulfill({ contentType: 'text/css' }));
  const page = await newPage();
  await page.goto(`/cells/${cell}/console/`);
  return page;
}

const signInLink = (page: Page) => page.getByRole('link', { name: 'Sign in with your account' });
const switchOf = (page: Page) => page.getByRole('navigation', { name: 'Cells' });
const currentCell = (page: Page) => switchOf(page).locator('[aria-current]').textContent();
const switchTo = (page: Page, cell: string) => switchOf(page).getByRole('link', { name: cell, exact: true }).click();
const others = (page: Page) => page.getByRole('region', { name: 'Other cells' });
const roleIn = (page: Page, role: string) => page.getByRole('banner').getByText(role, { exact: true }).waitFor();

async function signedIn(login: string, cell: string): Promise<Page> {
  const page = await visitor(cell);
  await signInLink(page).click();
  await identify(page, login);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  return page;
}

describe('a person in two cells', () => {
  it('signs in to each, has its own role there, and sees one attention list over both', async () => {
    const page = await signedIn('ada', 'b');
    expect(await currentCell(page)).toBe('b');
    await roleIn(page, 'viewer, 1 hauler');
    // The session of one cell does not count at the other, which the page says.
    await others(page).getByText('Your session of this cell does not count there.').waitFor();
    await others(page).getByRole('link', { name: 'Sign in to cell a' }).click();
    await page.getByText('This is cell a. A session of another cell does not count here.').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    // The provider knows the person.
    await signInLink(page).click();
    await roleIn(page, 'admin');
    expect(await currentCell(page)).toBe('a');
    const list = others(page);
    await list.getByText('Red Mesa Hauling').waitFor();
    expect(await list.textContent()).not.toContain('Hidden Valley Hauling');
    await page.getByText('Lone Star Hauling').first().waitFor();
    // An entry leads to the page of its cell, with the session and the role of that one.
    await list.getByRole('listitem').filter({ hasText: 'Red Mesa Hauling' }).getByRole('link').click();
    await page.waitForURL('**/console/haulers');
    await roleIn(page, 'viewer, 1 hauler');
    await page.getByRole('cell', { name: 'Red Mesa Hauling' }).waitFor();
    expect(await page.getByRole('cell', { name: 'Hidden Valley Hauling' }).count()).toBe(0);
  }, 60_000);

  it('goes on in the cell of each tab, whatever another tab has switched to', async () => {
    const page = await signedIn('ada', 'b');
    const other = await newPage();
    await other.goto('/cells/a/console/');
    await signInLink(other).click();
    await roleIn(other, 'admin');
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Haulers' }).click();
    await page.getByRole('cell', { name: 'Red Mesa Hauling' }).waitFor();
    expect(await page.getByRole('cell', { name: 'Lone Star Hauling' }).count()).toBe(0);
  }, 60_000);

  it('is led back to the cell of its sign-in, though another tab has switched meanwhile', async () => {
    const page = await visitor('b');
    await signInLink(page).click();
    const other = await newPage();
    await other.goto('/cells/a/console/');
    await signInLink(other).waitFor();
    await identify(page, 'ada');
    await roleIn(page, 'viewer, 1 hauler');
    expect(await currentCell(page)).toBe('b');
  }, 60_000);

  it('without a role in one reads so there, and goes back to the other', async () => {
    const page = await signedIn('lea', 'a');
    await roleIn(page, 'viewer');
    await switchTo(page, 'b');
    await signInLink(page).click();
    await page.getByText('none of your groups has a role here').waitFor();
    expect(await page.getByRole('navigation', { name: 'Pages' }).count()).toBe(0);
    await switchTo(page, 'a');
    await roleIn(page, 'viewer');
    await others(page).getByRole('link', { name: 'Sign in to cell b' }).waitFor();
    await page.getByText('Lone Star Hauling').first().waitFor();
    expect(await others(page).textContent()).not.toContain('Hauling');
  }, 60_000);

  it('signs out of one cell and of the provider, and stays signed in to the other', async () => {
    const page = await signedIn('ada', 'a');
    await switchTo(page, 'b');
    await signInLink(page).click();
    await roleIn(page, 'viewer, 1 hauler');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: /yes/i }).click();
    await page.getByText('This is cell b.').waitFor();
    await switchTo(page, 'a');
    await roleIn(page, 'admin');
  }, 60_000);

  it('has a session cookie in each cell that the browser sends to that one alone', async () => {
    const before = router.requests.length;
    const page = await signedIn('ada', 'a');
    await switchTo(page, 'b');
    await signInLink(page).click();
    await others(page).getByText('Lone Star Hauling').waitFor();
    const sessions = (await context.cookies()).filter(({ name }) => name.startsWith('haulbridge_session'));
    expect(sessions.map(({ name, path, httpOnly, sameSite }) => [name, path, httpOnly, sameSite]).sort()).toEqual([
      ['haulbridge_session_a', '/cells/a', true, 'Strict'],
      ['haulbridge_session_b', '/cells/b', true, 'Strict'],
    ]);
    const valueOf = (cell: string) => sessions.find(({ name }) => name.endsWith(`_${cell}`))?.value ?? '';
    const requests = router.requests.slice(before);
    const received = (cell: string, by: string) =>
      requests.filter((each) => each.cell === by && each.cookie.includes(valueOf(cell)));
    expect(received('a', 'a').length).toBeGreaterThan(0);
    expect(received('b', 'b').length).toBeGreaterThan(0);
    expect([received('a', 'b'), received('b', 'a')]).toEqual([[], []]);
    // A session that another cell has issued is no session.
    for (const name of ['haulbridge_session', 'haulbridge_session_b']) {
      const headers = { Cookie: `${name}=${valueOf('a')}` };
      expect((await cellOf('b').call('GET', '/admin/v1/attention', { headers })).status).toBe(401);
    }
  }, 60_000);
});
