import { afterAll, afterEach, beforeAll, describe, expect, it, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { call } from '../../acceptance/support/target.js';
import { eventually } from '../../support/eventually.js';
import {
  ask,
  type ConsoleScene,
  linkTo,
  list,
  nameOf,
  newHauler,
  part,
  press,
  startConsole,
  target,
} from '../../console/support/console.js';
import { DEMO, VIEWER_TOKEN } from '../../console/support/demo.js';
import { accessibilityFindings } from '../../console/support/page-checks.js';
import { endSessions, groups, pagesOf, signedIn, startProvider } from '../../console/support/people.js';

/** Of a list that the test answers itself. */
const PAGE = { page: 1, pageSize: 100, totalItems: 1, totalPages: 1, more: false, next: null };

let scene: ConsoleScene;
let provider: Awaited<ReturnType<typeof startProvider>>;
/** The name of a hauler that not everybody may see. */
let bigBend: string;
beforeAll(async () => {
  provider = await startProvider();
  scene = await startConsole();
  bigBend = await nameOf(await newHauler());
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
  it('lea with a group of one hauler sees that one alone, and no page that concerns all', async () => {
    const page = await signedIn(scene, 'lea', 'haulers');
    await page.getByRole('banner').getByText('operator, 1 hauler', { exact: true }).waitFor();
    await page.getByRole('rowheader', { name: 'Demo Hauling' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    const pages = await pagesOf(page);
    expect(pages).toEqual(expect.arrayContaining(['Tickets', 'Coverage']));
    for (const title of ['Sessions', 'Actions', 'Webhooks', 'Sandbox']) expect(pages).not.toContain(title);
    const other = (await list<{ id: string; name: string }>('/haulers')).find(({ name }) => name === bigBend);
    await page.goto(`/console/haulers?id=${other?.id}`);
    await page.getByRole('alert').getByText('The address may be old, or the record was deleted.').waitFor();
    await page.goto('/console/actions');
    await page.getByText('Actions concerns all haulers; this session is limited to some of them.').waitFor();
    await page.getByRole('link', { name: 'Go to the first page' }).click();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    scene.expectErrors('404');
  });

  it('with a group of one hauler is not offered what concerns all of them, and what is of that hauler is', async () => {
    const [connection] = await list<{ id: string }>(`/connections?interface=vision&haulerId=${DEMO.haulerId}`);
    const range = { from: new Date(Date.now() - 60_000).toISOString(), to: new Date().toISOString() };
    const body = { caseId: 'LIMITED', reason: 'Claim', connectionId: connection?.id, truckId: DEMO.truckId, ...range };
    const hold = await eventually(() => ask<{ id: string }>('POST', '/holds', body));
    const lea = await signedIn(scene, 'lea', `holds?id=${hold.id}`);
    await part(lea, 'Hold').getByText('LIMITED').waitFor();
    expect(await lea.getByRole('button', { name: 'Release …' }).count()).toBe(0);
    await ask('POST', `/holds/${hold.id}/release`, { reason: 'Settled' });

    const max = await signedIn(scene, 'max', 'haulers');
    const main = max.getByRole('main');
    await max.getByRole('banner').getByText('admin, 1 hauler', { exact: true }).waitFor();
    await main.getByRole('link', { name: 'Demo Hauling' }).waitFor();
    expect(await main.getByRole('link', { name: 'New hauler' }).count()).toBe(0);
    await linkTo(max, 'API keys').click();
    await main.getByRole('row').nth(1).waitFor();
    expect(await main.getByRole('link', { name: 'New key' }).count()).toBe(0);
    await main.getByRole('link', { name: 'Demo: platform' }).click();
    await main.getByRole('button', { name: 'Rotate this key' }).waitFor();
    expect(await main.getByRole('button', { name: 'Rotate this key' }).isEnabled()).toBe(true);
    await max.goto('/console/keys?new=1');
    await max.getByText('This concerns all haulers; this session is limited to some of them.').waitFor();
    expect(await max.getByRole('button', { name: 'Issue the key' }).isDisabled()).toBe(true);
    await linkTo(max, 'Connections').click();
    await main.getByRole('link', { name: 'New connection' }).waitFor();
    const [demo] = await list<{ id: string; revokedAt: string | null }>(`/api-keys?haulerId=${DEMO.haulerId}`);
    await max.route(/\/api-keys\?/, (route) =>
      route.fulfill({ json: { data: [{ ...demo, revokedAt: new Date().toISOString() }], pagination: PAGE } }),
    );
    await max.goto(`/console/haulers?id=${DEMO.haulerId}`);
    const steps = part(max, 'Set up');
    await steps.getByRole('listitem').first().waitFor();
    await steps.getByText('Tickets and accounts').waitFor();
    expect(await steps.getByText(/issue a key/i).count()).toBe(0);
    // Its tickets have no setting of footage.
    scene.expectErrors('404');
  });

  it('plays video with viewer+video alone, which is a view, while a gallery is none; a viewer reads why not, and the page asks for no file', async () => {
    const [connection] = await list<{ id: string }>(`/connections?interface=vision&haulerId=${DEMO.haulerId}`);
    const id = await eventually(async () => {
      const [recording] = await list<{ id: string }>(`/recordings?status=stored&connectionId=${connection?.id}`);
      expect(recording).toBeDefined();
      return recording?.id;
    });
    // The pictures of a gallery are no views (decision 72).
    const watcher = await signedIn(scene, 'wim', `recordings?connectionId=${connection?.id}`);
    await watcher.locator('.poster.drawn').nth(3).waitFor();
    const viewed = async () => {
      const all = await list<{ action: string; person?: { name: string } }>(`/actions?resource=recording:${id}`);
      return all.filter(({ person }) => person?.name === 'Name of wim').map(({ action }) => action);
    };
    expect(await viewed()).toEqual([]);
    await watcher.goto(`/console/recordings?play=${id}`);
    await watcher.locator('video').first().waitFor();
    await eventually(async () => expect(await viewed()).toEqual(['recording.viewed']));
    const viewer = await signedIn(scene, 'vera', `recordings?play=${id}`);
    await viewer.getByText('This needs the role viewer+video; this session has the role viewer.').waitFor();
    await viewer.goto('/console/recordings?view=gallery');
    await viewer.getByRole('heading', { name: 'Recordings', level: 1 }).waitFor();
    expect(await viewer.locator('video, canvas').count()).toBe(0);
    await viewer.goto('/console/sessions');
    await viewer.getByText('Sessions needs the role admin; this session has the role viewer.').waitFor();
  });

  it('signs out here and at the provider, which then knows nobody', async () => {
    const page = await signedIn(scene, 'vera');
    const [request] = await Promise.all([
      page.waitForRequest((each) => each.url().startsWith(`${provider.issuer}/session/end`)),
      page.getByRole('button', { name: 'Sign out' }).click(),
    ]);
    expect(new URL(request.url()).searchParams.get('id_token_hint')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    await page.getByRole('button', { name: /yes/i }).click();
    await page.waitForURL(`${target.url}/console/`);
    await page.getByRole('link', { name: 'Sign in with your account' }).click();
    await page.locator('input[name=login]').waitFor();
  });

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
  it('of a person asks for a sign-in above a form that is filled in, and goes on with it', async () => {
    const page = await signedIn(scene, 'ada', 'haulers?new=1');
    await page.getByLabel('Name of the hauler').fill('Typed before');
    await endSessions();
    await press(page.getByRole('button', { name: 'Create the hauler' }));
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      dialog.getByRole('link', { name: 'Sign in with your account' }).click(),
    ]);
    await tab.getByRole('button', { name: 'Sign out' }).waitFor();
    await tab.close();
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name of the hauler').inputValue()).toBe('Typed before');
    await page.getByRole('button', { name: 'Create the hauler' }).click();
    await page.getByRole('heading', { name: 'Typed before' }).waitFor();
    scene.expectErrors('401', '404');
  });

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
  it('refuses a wrong token with a sentence, and ends with the sign-out', async () => {
    const page = await scene.visitor();
    await page.goto('/console/tickets?page=2');
    await page.locator('input[name=secret]').fill('wrong-token-0123456789');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This is no token of the admin API.').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.locator('input[name=secret]').fill(target.adminToken);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Tickets', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
  });

  it('of a viewer opens all pages but Sessions, and no button that changes something', async () => {
    const page = await scene.visitor({ token: VIEWER_TOKEN });
    await page.goto(`/console/connections?haulerId=${DEMO.haulerId}`);
    await page.getByRole('link', { name: 'Demo Hauling, site' }).click();
    await page.getByRole('button', { name: 'Pause this connection' }).waitFor();
    const changes = ['Pause this connection', 'Delete this connection', 'Synchronise its sites now'];
    for (const name of [...changes, 'Check this partner now']) {
      expect(await page.getByRole('button', { name }).isDisabled()).toBe(true);
    }
    await page.getByRole('button', { name: 'Change' }).click();
    expect(await page.getByRole('button', { name: 'Store' }).isDisabled()).toBe(true);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.goto(`/console/retention?haulerId=${DEMO.haulerId}`);
    await part(page, 'Retention').getByText('for ever').first().waitFor();
    const main = page.getByRole('main');
    expect(await main.getByRole('button', { name: 'Preview' }).count()).toBe(0);
    expect(await main.getByRole('link', { name: 'New erasure' }).count()).toBe(0);
    await linkTo(page, 'Holds').click();
    await page.getByRole('heading', { name: 'Holds', level: 1 }).waitFor();
    expect(await main.getByRole('link', { name: 'New hold' }).count()).toBe(0);
  });

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
