import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../src/demo/demo-data.js';
import type { GroupAccess } from '../../src/config/access-rules.js';
import { eventually } from '../support/eventually.js';
import { identify, oidcSettings, startIdentityProvider } from '../support/identity-provider.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { accessibilityFindings, type ConsoleScene, press, startConsole } from './console-pages.js';

const ROLES: readonly GroupAccess[] = [
  { role: 'viewer', group: 'readers' },
  { role: 'viewer+video', group: 'watchers' },
  { role: 'operator', group: 'dispatch' },
  { role: 'admin', group: 'owners' },
  { role: 'operator', group: 'demo', haulers: [DEMO.haulerId] },
];
const groups = new Map([
  ['ada', ['owners']],
  ['otto', ['dispatch']],
  ['vera', ['readers']],
  ['wim', ['watchers']],
  ['lea', ['demo']],
]);

let scene: ConsoleScene;
let proxy: TcpProxy;
let provider: Awaited<ReturnType<typeof startIdentityProvider>>;
beforeAll(async () => {
  proxy = await startTcpProxy({ host: '127.0.0.1', port: 9 });
  const publicUrl = `http://127.0.0.1:${proxy.port}`;
  provider = await startIdentityProvider(publicUrl, groups);
  scene = await startConsole({ OIDC: oidcSettings(provider.issuer, publicUrl, ROLES) });
  proxy.leadTo({ host: '127.0.0.1', port: Number(new URL(scene.service.url).port) });
  await scene.service.admin('POST', '/haulers', { name: 'Big Bend' });
}, 120_000);
afterAll(async () => {
  await scene.close();
  await provider.close();
  await proxy.close();
});
afterEach(async () => expect(await scene.endCase()).toEqual([]));

/** A person who has signed in, on a page of the console. */
async function signedIn(login: string, path = ''): Promise<Page> {
  const page = await scene.visitor(`http://127.0.0.1:${proxy.port}`);
  // The page of the provider wants a font of another host.
  await page.context().route('https://fonts.googleapis.com/**', (route) => route.fulfill({ contentType: 'text/css' }));
  await page.goto(`/console/${path}`);
  await page.getByRole('link', { name: 'Sign in with your account' }).click();
  await identify(page, login);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  return page;
}

const pagesOf = (page: Page) => page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts();
const titled = (page: Page, title: string) => page.getByRole('heading', { name: title, level: 1 }).waitFor();
const endSessions = () =>
  scene.service.dataSource.query('UPDATE console_sessions SET expires_at = now() WHERE person IS NOT NULL');

/** Ends the sessions while the page makes no call by itself, and opens an address of the console again in its tab. */
async function returnWithoutSession(page: Page, path = ''): Promise<void> {
  await page.goto('about:blank');
  await endSessions();
  await page.goto(`/console/${path}`, { waitUntil: 'commit' });
}

describe('a person who signs in at the identity provider', () => {
  it.each([
    ['ada', 'admin', ['Sessions', 'Actions', 'Webhooks'], []],
    ['otto', 'operator', ['Actions', 'Webhooks', 'Sandbox'], ['Sessions']],
    ['vera', 'viewer', ['Actions', 'Webhooks', 'Sandbox'], ['Sessions']],
    ['lea', 'operator, 1 hauler', ['Tickets', 'Coverage'], ['Sessions', 'Actions', 'Webhooks', 'Sandbox']],
  ])(
    '%s as %s sees the pages of the role',
    async (login, role, open, closed) => {
      const page = await signedIn(login, 'tickets?search=IN');
      expect(page.url()).toContain('/console/tickets?search=IN');
      const header = page.getByRole('banner');
      await header.getByText(`Name of ${login}`, { exact: true }).waitFor();
      await header.getByText(role, { exact: true }).waitFor();
      const shown = await pagesOf(page);
      expect(open.filter((title) => !shown.includes(title))).toEqual([]);
      expect(closed.filter((title) => shown.includes(title))).toEqual([]);
      expect(await accessibilityFindings(page)).toEqual([]);
    },
    60_000,
  );

  it.each([
    ['ada', true, true],
    ['otto', false, true],
    ['vera', false, false],
  ])(
    '%s is offered what the role may change',
    async (login, isAdmin, isOperator) => {
      const page = await signedIn(login, 'haulers');
      await page.getByRole('cell', { name: 'Big Bend' }).waitFor();
      expect(await page.getByRole('link', { name: 'New hauler' }).count()).toBe(isAdmin ? 1 : 0);
      await page.goto('/console/haulers?new=1');
      expect(await page.getByRole('button', { name: 'Create the hauler' }).isEnabled()).toBe(isAdmin);
      if (!isAdmin) await page.getByText(/^This needs the role admin; this session has the role /).waitFor();
      await page.goto('/console/sandbox');
      const start = page.getByRole('switch').first();
      await start.waitFor();
      await eventually(async () => expect(await start.isEnabled()).toBe(isOperator));
    },
    60_000,
  );

  it.each([
    ['vera', 'sessions', 'Sessions needs the role admin; this session has the role viewer.'],
    ['lea', 'actions', 'Actions concerns all haulers; this session is limited to some of them.'],
    ['ada', 'sesions', 'It may be mistyped.'],
  ])(
    '%s at the address of /console/%s reads why it is closed',
    async (login, path, sentence) => {
      const page = await signedIn(login, path);
      await page.getByText(sentence).waitFor();
      await page.getByRole('link', { name: 'Go to the first page' }).click();
      await titled(page, 'Home');
      // The document of an address that no page has.
      scene.expectErrors('/console/sesions');
    },
    60_000,
  );

  it('sees the haulers of its group alone', async () => {
    const page = await signedIn('lea', 'haulers');
    await page.getByRole('row').nth(1).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    const { body } = await scene.service.admin<{ data: { id: string; name: string }[] }>('GET', '/haulers');
    const other = body.data.find(({ name }) => name === 'Big Bend');
    await page.goto(`/console/haulers?id=${other?.id}`);
    await page.getByRole('alert').getByText('The address may be old, or the record was deleted.').waitFor();
    scene.expectErrors('404');
  }, 60_000);

  it('plays video with viewer+video alone; what is closed is a sentence, and asks for nothing', async () => {
    const { body } = await scene.service.admin<{ data: { id: string }[] }>(
      'GET',
      '/recordings?status=stored&pageSize=1',
    );
    const id = body.data[0]?.id ?? '';
    const watcher = await signedIn('wim', `recordings?play=${id}`);
    await watcher.locator('video').first().waitFor();
    await eventually(async () => {
      const { body: actions } = await scene.service.admin<{ data: object[] }>(
        'GET',
        `/actions?resource=recording:${id}`,
      );
      expect(actions.data[0]).toMatchObject({ action: 'recording.viewed', person: { name: 'Name of wim' } });
    });
    const viewer = await signedIn('vera', `recordings?play=${id}`);
    await viewer.getByText('This needs the role viewer+video; this session has the role viewer.').waitFor();
    await viewer.goto('/console/recordings?view=gallery');
    await titled(viewer, 'Recordings');
    expect(await viewer.locator('video, canvas').count()).toBe(0);
  }, 60_000);
});

describe('a session that has expired', () => {
  it('asks for a sign-in above a form that is filled in, and goes on with it', async () => {
    const page = await signedIn('ada', 'haulers?new=1');
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
    scene.expectErrors('401');
  }, 60_000);

  it('is renewed without a page where nothing was typed, and stays at its address', async () => {
    const page = await signedIn('otto', 'tickets?search=IN');
    await returnWithoutSession(page, 'tickets?search=IN');
    await page.getByRole('banner').getByText('Name of otto').waitFor();
    expect(page.url()).toMatch(/\/console\/tickets\?search=IN$/);
    scene.expectErrors('401');
  }, 60_000);

  it('is not renewed for a person whose group was removed', async () => {
    const page = await signedIn('otto');
    groups.set('otto', []);
    await returnWithoutSession(page);
    await page.getByText('none of your groups has a role here').waitFor();
    expect(await page.getByRole('navigation', { name: 'Pages' }).count()).toBe(0);
    groups.set('otto', ['dispatch']);
    scene.expectErrors('401');
  }, 60_000);
});

it('a sign-out ends the session here and at the provider, which then knows nobody', async () => {
  const page = await signedIn('vera');
  const [request] = await Promise.all([
    page.waitForRequest((each) => each.url().startsWith(`${provider.issuer}/session/end`)),
    page.getByRole('button', { name: 'Sign out' }).click(),
  ]);
  expect(new URL(request.url()).searchParams.get('id_token_hint')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  await page.getByRole('button', { name: /yes/i }).click();
  await page.waitForURL(`http://127.0.0.1:${proxy.port}/console/`);
  await page.getByRole('link', { name: 'Sign in with your account' }).click();
  await page.locator('input[name=login]').waitFor();
}, 60_000);
