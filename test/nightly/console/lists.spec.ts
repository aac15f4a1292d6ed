import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { Hauler } from '../../acceptance/support/hauler.js';
import { type OwnService, startOwnService } from '../../acceptance/support/service.js';
import { administer, call } from '../../acceptance/support/target.js';
import { raw, startScriptedPartner } from '../../support/scripted-partner.js';
import { idOf, material, site } from '../../support/site-data.js';
import {
  ask,
  type ConsoleScene,
  nameOf,
  newHauler,
  part,
  startConsole,
  target,
} from '../../console/support/console.js';
import { settled } from '../../console/support/page-checks.js';

/** More than a page of the API has. */
const MANY = 101;
/** At a time: more of them would wait for a connection to the database. */
const AT_ONCE = 10;

const times = (count: number) => Array.from({ length: count }, (_, n) => n);

let scene: ConsoleScene;
/** With more than a hundred haulers and connections, which would make the pages of the other tests slow. */
let service: OwnService;
const oldest = { name: 'Oldest Hauling', connectionId: '', siteId: '' };
beforeAll(async () => {
  [scene, service] = await Promise.all([startConsole(), startOwnService()]);
  const make = async (name: string) => {
    const hauler = await Hauler.create({ service, name });
    return Promise.all(
      ['vision', 'site'].map((kind) =>
        hauler.connect({ interface: kind, baseUrl: 'https://partner.invalid', enabled: false }),
      ),
    );
  };
  [oldest.connectionId = '', oldest.siteId = ''] = await make(oldest.name);
  const others = times(MANY).values();
  const makeOthers = async () => {
    for (const n of others) await make(`Later Hauling ${n}`);
  };
  await Promise.all(times(AT_ONCE).map(makeOthers));
}, 60_000);
afterAll(() => Promise.all([scene.close(), service.end()]));
afterEach(async () => expect(await scene.endCase()).toEqual([]));

describe('a service with more than a hundred haulers and connections', () => {
  const signedIn = () => scene.visitor({ token: service.adminToken }, service.url);
  const offers = (field: Locator, name: string | RegExp) =>
    field.getByRole('option', { name, includeHidden: true }).first().waitFor({ state: 'attached' });

  const FIELDS = [
    ['tickets', 'Hauler', oldest.name],
    ['reports', 'Hauler', oldest.name],
    ['retention', 'Hauler', oldest.name],
    ['connections?new=1', 'Hauler', oldest.name],
    ['keys?new=1', 'For a partner who hosts', `${oldest.name}, vision`],
    ['webhooks?new=1', 'Hauler', oldest.name],
    ['sandbox', 'Scenarios of', `Hauler ${oldest.name}`],
    ['sync', 'Connection', new RegExp(oldest.name)],
    ['exchanges', 'Connection', `${oldest.name}, site`],
    ['recordings?view=list', 'Vision connection', new RegExp(oldest.name)],
    ['holds?new=1', 'Partner who records the truck', new RegExp(oldest.name)],
  ] as const;

  it('offers the oldest of them in each field that chooses one', async () => {
    const page = await signedIn();
    for (const [path, field, name] of FIELDS) {
      await page.goto(`/console/${path}`);
      await offers(page.getByLabel(field, { exact: false }).last(), name);
    }
  }, 60_000);

  it('names the oldest of them in the rows of lists', async () => {
    const page = await signedIn();
    await page.goto('/console/connections?page=11');
    await page.getByRole('link', { name: `${oldest.name}, vision` }).waitFor();
    await page.goto(`/console/connections?id=${oldest.siteId}`);
    await page.getByRole('heading', { name: `${oldest.name}, site` }).waitFor();
    await page.goto('/console/haulers?page=6');
    const row = page.getByRole('row', { name: oldest.name });
    await row.getByRole('link', { name: 'vision' }).waitFor();
  });
});

describe('a list', () => {
  it('names each chosen filter, also one that no field shows, and is without it after a press', async () => {
    const { page, visit } = scene;
    const hauler = await newHauler();
    const name = await nameOf(hauler);
    await visit(`tickets?haulerId=${hauler.id}&siteId=${idOf('yard')}&search=IN-1`);
    await page.getByText('Nothing matches these filters.').waitFor();
    const marks = page.getByRole('list', { name: 'Chosen filters' });
    await marks.getByRole('button', { name: `Remove the filter Hauler: ${name}` }).waitFor();
    await marks.getByRole('button', { name: /Site id/ }).click();
    await page.waitForURL(/tickets\?haulerId=[^&]+&search=IN-1$/);
    await marks.getByRole('button', { name: /Ticket number: IN-1/ }).click();
    await page.waitForURL(/tickets\?haulerId=[^&]+$/);
    expect(await marks.getByRole('button').count()).toBe(1);
    // No filter is the reason why there is nothing here.
    await visit('tickets?page=90');
    await page.getByText('The list ends before this page.').waitFor();
  });

  it('shows of a time what differs from now, and copies all of it; its controls have one height', async () => {
    const { page, region, visit } = scene;
    const hauler = await newHauler();
    await hauler.createAccount({ accountName: 'Lone Star' });
    await visit(`accounts?haulerId=${hauler.id}`);
    const time = region('Accounts').locator('tbody time');
    expect(await time.innerText()).toMatch(/^\d\d:\d\d:\d\d$/);
    const whole = await time.getAttribute('title');
    expect(whole).toMatch(/^\w{3} \d+, \d{4}, \d\d:\d\d:\d\d UTC$/);
    const copied = `(() => {
      const data = new DataTransfer();
      document.dispatchEvent(new ClipboardEvent('copy', { clipboardData: data, bubbles: true, cancelable: true }));
      return data.getData('text/plain');
    })()`;
    await time.selectText();
    expect(await page.evaluate(copied)).toBe(whole);
    await region('Accounts').locator('tbody').selectText();
    expect(await page.evaluate(copied)).toMatch(new RegExp(`Lone Star\\t.*\\t${whole}`));
    const controls = [
      page.getByRole('button', { name: 'Save as CSV' }),
      page.getByLabel(/^Hauler/),
      page.getByLabel(/^Name,/),
    ];
    const heights = await Promise.all(controls.map(async (control) => (await control.boundingBox())?.height));
    expect(heights).toEqual([34, 34, 34]);
  });
});

describe('two lists of one page', () => {
  it('of webhooks: a filter of the deliveries starts both again, and turning a page only its own list', async () => {
    const receiver = await startScriptedPartner();
    receiver.on('POST /hook', ...times(2).map(() => raw('', { status: 500 })), raw('', { status: 204 }));
    const urls = times(22).map((n) => `${receiver.url}/hook?${n}`);
    const make = async (url = '') => {
      const body = { url, topics: ['ticket.created'], format: 'standard' };
      return (await administer<{ id: string }>('POST', '/webhook-endpoints', body, service)).id;
    };
    // The newest are listed first: these two are on page 2.
    const ids = [await make(urls[0]), await make(urls[1])];
    await Promise.all(urls.slice(2).map(make));
    await Promise.all(
      times(25).map((n) => administer('POST', `/webhook-endpoints/${ids[n % 2]}/test`, undefined, service)),
    );
    const page = await scene.visitor({ token: service.adminToken }, service.url);
    await page.goto('/console/webhooks');
    const deliveries = part(page, 'Deliveries');
    await deliveries.getByText('25 records, page 1 of 2').waitFor();
    await deliveries.getByRole('button', { name: 'Next' }).click();
    await deliveries.getByText('25 records, page 2 of 2').waitFor();
    await page.getByRole('main').getByRole('button', { name: 'Next' }).first().click();
    await page.getByText('22 records, page 2 of 2').waitFor();
    await deliveries.getByText('25 records, page 2 of 2').waitFor();
    await deliveries.getByLabel('State').selectOption('failed');
    await deliveries.getByText('2 records', { exact: true }).waitFor();
    await deliveries.getByLabel('State').selectOption('delivered');
    await deliveries.getByText('23 records, page 1 of 2').waitFor();
    await deliveries.getByRole('button', { name: 'Next' }).click();
    await deliveries.getByText('23 records, page 2 of 2').waitFor();
    await page.getByRole('link', { name: urls[21] ?? '', exact: true }).click();
    await deliveries.getByText('Nothing matches these filters.').waitFor();
    await page.goBack();
    await page.getByRole('link', { name: urls[0] ?? '', exact: true }).waitFor({ state: 'detached' });
  });

  it('of a run: to turn the page of one keeps the other', async () => {
    const { page, region, visit } = scene;
    const materials = times(130).flatMap((n) => [
      material(`m${n}`, { siteId: idOf('yard') }),
      material(`w${n}`, { siteId: idOf('yard'), measureUnit: 'Gallon' }),
    ]);
    const { id } = await (await newHauler()).sync({ sites: [site('yard')], materials });
    await visit(`sync?run=${id}`);
    const [quarantine, changes] = [region('Quarantine'), region('Changes')];
    await quarantine.getByRole('button', { name: 'Next' }).click();
    await quarantine.getByText('130 records, page 2 of 7').waitFor();
    await changes.getByRole('button', { name: 'Next' }).click();
    await changes.getByText('131 records, page 2 of 3').waitFor();
    await settled(page);
    expect(await quarantine.getByText('130 records, page 2 of 7').count()).toBe(1);
    await changes.getByLabel('Kind').selectOption('sites');
    await changes.getByText('1 record', { exact: true }).waitFor();
    await quarantine.getByText('130 records, page 1 of 7').waitFor();
  });
});

describe('the rotation of a key', () => {
  const key = (hauler: Hauler, name: string) =>
    ask<{ id: string }>('POST', '/api-keys', { haulerId: hauler.id, interfaces: ['account'], name });

  it('says when the old key ends, and that it has ended, also before the new one is used', async () => {
    const { page, visit } = scene;
    const hauler = await newHauler();
    const rotated = async (name: string) => {
      const old = await key(hauler, name);
      const { id, key: secret } = await ask<{ id: string; key: string }>('POST', `/api-keys/${old.id}/rotate`, {});
      return { old: old.id, id, secret };
    };
    const used = await rotated('Used');
    await visit(`keys?id=${used.id}`);
    await page.getByText('not used yet: send it').waitFor();
    await page.getByText('the old key still works').waitFor();
    const headers = { 'PLATFORM-API-KEY': used.secret };
    await call('POST', '/platform-api/v1/accounts', { headers, body: { accountName: 'First' } }, target);
    await page.reload();
    await page.getByText(/^the old key ends/).waitFor();
    const unused = await rotated('Unused');
    for (const { id, old } of [used, unused]) {
      await ask('DELETE', `/api-keys/${old}`);
      await visit(`keys?id=${id}`);
      await page.getByText(/^the old key ended/).waitFor();
      expect(await page.getByText('the old key still works').count()).toBe(0);
    }
  });
});

describe('while the next record or filter cannot be read', () => {
  const refuse = (page: Page, pattern: string | RegExp) =>
    page.route(pattern, (route) =>
      route.fulfill({ status: 503, json: { error: { code: 'SERVICE_UNAVAILABLE', message: 'busy' } } }),
    );
  /** As a step in the history of the browser. */
  const jump = (page: Page, address: string) =>
    page.evaluate(`history.pushState(null, '', '/console/${address}'); dispatchEvent(new PopStateEvent('popstate'))`);

  it('nothing of another run is shown or offered for it', async () => {
    const { page, region, visit } = scene;
    const yard = { sites: [site('yard')], materials: [material('a', { siteId: idOf('yard') })] };
    const hauler = await newHauler({ sites: yard });
    const { id: held } = await hauler.sync({ ...yard, materials: [] });
    const other = await (await newHauler()).sync(yard);
    await visit(`sync?run=${held}`);
    await page.getByRole('button', { name: 'Remove 1 material' }).waitFor();
    await page.getByLabel('Note, if you keep the stored data').fill('Typed for the first');
    await refuse(page, new RegExp(`/sync-runs/${other.id}`));
    await jump(page, `sync?run=${other.id}`);
    await page.getByRole('alert').first().waitFor();
    expect(await page.getByRole('button', { name: /^Remove|^Keep/ }).count()).toBe(0);
    expect(await region('Run').count()).toBe(0);
    await page.unrouteAll();
    await region('Run').getByText('succeeded').waitFor();
    scene.expectErrors('503');
  });

  it.each([
    ['haulers?id', 'haulers', 'Hauler'],
    ['connections?id', 'connections', 'Connection'],
  ])('nothing of another one is shown at /console/%s', async (address, path, region) => {
    const { page, visit } = scene;
    const make = async () => {
      const hauler = await newHauler();
      const { connectionId } = await hauler.siteConnection();
      return path === 'haulers' ? hauler.id : connectionId;
    };
    const [first, second] = [await make(), await make()];
    await visit(`${address}=${first}`);
    await part(page, region).waitFor();
    await refuse(page, new RegExp(`/${path}/${second}`));
    await jump(page, `${address}=${second}`);
    await page.getByRole('alert').first().waitFor();
    expect(await part(page, region).count()).toBe(0);
    scene.expectErrors('503');
  });

  it('the rows of the former filter are marked as such', async () => {
    const { page, region, visit } = scene;
    const hauler = await newHauler();
    await hauler.createAccount({ accountName: 'Lone Star' });
    await visit(`accounts?haulerId=${hauler.id}`);
    await region('Accounts').getByRole('link', { name: 'Lone Star' }).waitFor();
    await refuse(page, /\/accounts\?/);
    await page.getByLabel('Name, number or e-mail').fill('nobody');
    await page.getByRole('alert').first().waitFor();
    expect(await region('Accounts').locator('table').getAttribute('aria-busy')).toBe('true');
    await page.unrouteAll();
    await page.getByText('Nothing matches these filters.').waitFor();
    scene.expectErrors('503');
  });
});
