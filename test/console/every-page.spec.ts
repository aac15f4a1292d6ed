import { afterAll, afterEach, beforeAll, describe, expect, it, test } from '@jest/globals';
import type { Page, Response } from 'playwright-core';
import { CONSOLE_PAGES } from '../../src/contracts/admin/console-pages.values.js';
import { flow, type Hauler, SITES_ROUTE, TICKET } from '../acceptance/support/hauler.js';
import { startOwnService } from '../acceptance/support/service.js';
import { json } from '../support/scripted-partner.js';
import { idOf, material, site } from '../support/site-data.js';
import { ask, type ConsoleScene, exchanges, linkTo, list, newHauler, part, startConsole } from './support/console.js';
import { accessibilityFindings, settled } from './support/page-checks.js';

const PAGES = Object.entries(CONSOLE_PAGES);
const FORMS = ['haulers', 'connections', 'keys', 'webhooks', 'holds'];
const UNKNOWN = '0197a1d0-51aa-7e20-b1c4-3a5c7e9f1b24';
const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=1</script>';

let scene: ConsoleScene;
beforeAll(async () => void (scene = await startConsole()));
afterAll(() => scene.close());
afterEach(async () => expect(await scene.endCase()).toEqual([]));

/** The answers of failed calls while `work` runs. */
async function failedCalls(page: Page, work: () => Promise<void>): Promise<string[]> {
  const failed: string[] = [];
  const note = (response: Response) => response.ok() || failed.push(`${response.status()} ${response.url()}`);
  page.on('response', note);
  await work();
  page.off('response', note);
  // The browser may have a page from its cache.
  return failed.filter((each) => !each.startsWith('304'));
}

describe('every page', () => {
  it('of the console is in the navigation of an admin', async () => {
    await scene.visit('');
    const links = scene.page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    await links.first().waitFor();
    expect(await links.allInnerTexts()).toEqual(PAGES.map(([, title]) => title));
  });

  it('stands in a group, which a phone opens on demand, with the number of problems at Home', async () => {
    const { page, visit } = scene;
    await page.setViewportSize({ width: 390, height: 800 });
    await visit('tickets');
    const navigation = page.getByRole('navigation', { name: 'Pages' });
    const groups = ['Overview', 'Footage', 'Tickets', 'Partners', 'Keeping', 'Setup'];
    await page.getByRole('heading', { name: 'Tickets', level: 1 }).waitFor();
    expect(await navigation.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Menu' }).click();
    for (const name of groups) await navigation.getByRole('list', { name, exact: true }).waitFor();
    await page.route('**/admin/v1/attention', (route) =>
      route.fulfill({ json: { data: [], total: 3, problems: 3, checked: [] } }),
    );
    await page.evaluate("dispatchEvent(new Event('datachange'))");
    await navigation.getByText('3 problems').waitFor();
    await page.route('**/admin/v1/attention', (route) => route.fulfill({ status: 500, json: {} }));
    await page.evaluate("dispatchEvent(new Event('datachange'))");
    await navigation.getByText('? number of problems not known').waitFor();
    await navigation.getByRole('link', { name: 'Accounts' }).click();
    await page.getByRole('heading', { name: 'Accounts', level: 1 }).waitFor();
    expect(await navigation.isVisible()).toBe(false);
    await page.setViewportSize({ width: 1280, height: 800 });
    scene.expectErrors('500');
  });

  it('and every form has no serious finding of axe-core in light and dark, fits a phone, and none of its calls fails', async () => {
    const { page, visit } = scene;
    const found: string[] = [];
    const look = async (place: string, title: string) => {
      await page.getByRole('heading', { name: title, level: 1 }).waitFor();
      await settled(page);
      expect(await page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current]').innerText()).toBe(title);
      found.push(...(await accessibilityFindings(page)).map((finding) => `${place}: ${finding}`));
    };
    const failed = await failedCalls(page, async () => {
      await visit('');
      // In one document: a page that is opened by its address loads the console and axe-core again.
      for (const [path, title] of PAGES) {
        await linkTo(page, title).click();
        await page.waitForURL(`**/console/${path}`);
        await look(path, title);
        if (!FORMS.includes(path)) continue;
        await page.getByRole('main').getByRole('link', { name: /^New / }).click();
        await page.waitForURL(/new=1/);
        await look(`${path}?new=1`, title);
      }
    });
    expect(found).toEqual([]);
    expect(failed).toEqual([]);
  }, 120_000);

  test.each([
    'tickets?id',
    'accounts?id',
    'exchanges?id',
    'connections?id',
    'haulers?id',
    'holds?id',
    'clips?id',
    'sync?run',
    'recordings?play',
  ])('/console/%s= says that nothing has this id, and leads to the list', async (path) => {
    const { page, visit } = scene;
    await visit(`${path}=${UNKNOWN}`);
    await page.getByText('The address may be old, or the record was deleted.').first().waitFor();
    await page.getByRole('link', { name: /^All / }).waitFor();
    // The browser reports the 404 itself.
    scene.expectErrors('404');
  });

  it('at a mistyped address says so, and leads to the first page', async () => {
    const { page, visit } = scene;
    await visit('nonsense');
    await page.getByText('There is no page at this address.').waitFor();
    await page.getByRole('link', { name: 'Go to the first page' }).click();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    scene.expectErrors('404');
  });

  it('is used with the keyboard alone', async () => {
    const { page, visit } = scene;
    await visit('');
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').innerText()).toBe('Skip to the content');
    await linkTo(page, 'Tickets').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Tickets', level: 1 }).waitFor();
    expect(await page.locator(':focus').getAttribute('id')).toBe('main');
    await page.getByPlaceholder('a part is enough').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').getAttribute('placeholder')).toBe('a part is enough');
    await page.keyboard.type('IN-1');
    await page.waitForURL(/search=IN-1/);
  });

  it('keeps the focus where it was, or where a person goes on, when a press removes what had it', async () => {
    const { page, visit } = scene;
    const { id } = await ask<{ id: string }>('POST', '/api-keys', { interfaces: ['site'], name: 'Focus' });
    const focused = page.locator(':focus');
    const press = async (name: string) => {
      await page.getByRole('main').getByRole('button', { name, exact: true }).first().focus();
      await page.keyboard.press('Enter');
    };
    await visit(`keys?id=${id}`);
    await press('Rotate this key');
    await page.locator('form:focus').getByText('Rotate the key').waitFor();
    await press('Cancel');
    await focused.and(page.getByRole('button', { name: 'Rotate this key' })).waitFor();
    await press('Revoke this key');
    await focused.and(page.getByRole('group', { name: 'Revoke this key' })).waitFor();
    await press('Cancel');
    await focused.and(page.getByRole('button', { name: 'Revoke this key' })).waitFor();
    await press('Revoke this key');
    await page.getByRole('group').getByRole('button', { name: 'Revoke this key' }).focus();
    await page.keyboard.press('Enter');
    await part(page, 'Key').getByText('revoked', { exact: true }).waitFor();
    await page.getByRole('status').getByText('Done.').waitFor();
    await focused.and(part(page, 'Key')).waitFor();
    await page.getByRole('link', { name: 'All keys' }).press('Enter');
    await focused.and(page.getByRole('main')).waitFor();
  });
});

describe('a text of a partner that is markup', () => {
  let hauler: Hauler;
  let addresses: [address: string, region: string][];
  beforeAll(async () => {
    const yard = site('yard', { name: HOSTILE });
    const debris = material('debris', { siteId: idOf('yard'), materialType: HOSTILE });
    hauler = await newHauler({ sites: { sites: [yard], materials: [debris, { ...debris, id: HOSTILE }] } });
    const ticket = await hauler.push({
      materials: [{ ...TICKET.materials[0], name: HOSTILE }],
      inboundFlow: flow('IN-HOSTILE'),
      customFields: { driver: HOSTILE },
    });
    await hauler.createAccount({ accountName: HOSTILE });
    const { connectionId, partner } = await hauler.siteConnection();
    partner.on(SITES_ROUTE, json({ success: false, error: { code: 'X', message: HOSTILE } }, { status: 403 }));
    await ask('POST', `/connections/${connectionId}/check`);
    const [run] = await list<{ id: string }>(`/sync-runs?connectionId=${connectionId}`);
    const [failed, pushed] = await Promise.all(
      ['direction=outbound&failed=true', 'direction=inbound&interface=scale'].map(
        async (query) => (await exchanges(`haulerId=${hauler.id}&${query}`))[0]?.id,
      ),
    );
    addresses = [
      [`tickets?id=${ticket.body.disposalTicketId}`, 'Contents'],
      [`accounts?haulerId=${hauler.id}`, 'Accounts'],
      [`exchanges?id=${failed}`, 'Exchange'],
      [`exchanges?id=${pushed}`, 'Request body'],
      [`sync?run=${run?.id}`, 'Changes'],
    ];
  });

  it('stays text on the pages of its tickets, accounts, exchanges and runs', async () => {
    const { page, visit } = scene;
    for (const [address, region] of addresses) {
      await visit(address);
      await part(page, region).getByText('onerror=').first().waitFor();
      await settled(page);
      expect([address, await page.locator('img[src=x], main script').count()]).toEqual([address, 0]);
      expect([address, await page.title()]).toEqual([address, expect.stringContaining('haulbridge console')]);
    }
  });
});

it('a service with the partner side alone has the pages of that side, and none of their calls fails', async () => {
  const service = await startOwnService({ env: { SIDES: 'partner' } });
  await service.admin('POST', '/haulers', { name: 'Partner Hauling' });
  const page = await scene.visitor({ token: service.adminToken }, service.url);
  const failed = await failedCalls(page, async () => {
    await page.goto('/console/');
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    await links.first().waitFor();
    const titles = await links.allInnerTexts();
    expect(titles).toEqual(['Home', 'Exchanges', 'Haulers', 'API keys', 'Sandbox', 'Sessions', 'Actions']);
    for (const title of titles) {
      await linkTo(page, title).click();
      await page.getByRole('heading', { name: title, level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      await settled(page);
    }
  });
  expect(failed).toEqual([]);
  // It would call the service that has ended.
  await page.close();
  await service.end();
});
