import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { flow, type Hauler, ONE_SITE, SITES_ROUTE, TICKET } from '../acceptance/support/hauler.js';
import { idOf } from '../support/site-data.js';
import { refuses } from '../support/scripted-partner.js';
import { ask, type ConsoleScene, exchanges, newHauler, part, startConsole } from './support/console.js';
import { accessibilityFindings } from './support/page-checks.js';

let scene: ConsoleScene;
let hauler: Hauler;
beforeAll(async () => {
  scene = await startConsole();
  hauler = await newHauler({ sites: ONE_SITE });
  const materials = [{ ...TICKET.materials[0], id: idOf('nothing') }];
  for (let n = 0; n < 4; n++) await hauler.push({ inboundFlow: flow(`H-${n}`) });
  for (let n = 0; n < 2; n++) await hauler.push({ inboundFlow: flow('H-9'), materials });
  await ask('PUT', `/sandbox/haulers/${hauler.id}/scenarios/server-error`, { times: 1 });
  await hauler.push({ inboundFlow: flow('H-8') });
  await hauler.createAccount({ accountName: 'Lone Star Demolition' });
  await exchanges(`haulerId=${hauler.id}`);
}, 60_000);
afterAll(() => scene.close());
afterEach(async () => expect(await scene.endCase()).toEqual([]));

it('has numbers of today that are those of the lists behind their links', async () => {
  const { page, visit, region } = scene;
  const figure = (name: string) => region('Today').getByRole('group', { name, exact: true });
  const follow = async (name: string) => {
    await visit(`?haulerId=${hauler.id}`);
    const link = figure(name).getByRole('paragraph').getByRole('link');
    const text = await link.innerText();
    await link.click();
    return text;
  };
  expect(await follow('Tickets')).toBe('4');
  await page.getByText('4 records', { exact: true }).waitFor();
  expect(await follow('Tons')).toBe('50');
  await page.getByText('50 tons').first().waitFor();
  expect(await follow('New accounts')).toBe('1');
  await page.getByText('1 record', { exact: true }).waitFor();
  // The rehearsed failure is in neither.
  expect(await follow('Refused calls')).toBe('2');
  const rows = part(page, 'Exchanges').getByRole('row');
  await rows.nth(2).waitFor();
  expect(await rows.count()).toBe(3);
  expect(await follow('Stored footage')).toBe('0 h');
  await page.getByText('Nothing matches these filters.').waitFor();
  await visit(`?haulerId=${hauler.id}`);
  // 14 days, of which each leads to its list.
  const bars = figure('Tickets').getByRole('listitem').getByRole('link');
  await bars.nth(13).waitFor();
  expect(await bars.count()).toBe(14);
  expect(await accessibilityFindings(page)).toEqual([]);
});

it('has one line for a refused key and the run that fails for it, since the first, with what to do', async () => {
  const { page, visit } = scene;
  const { connectionId, partner } = await hauler.siteConnection();
  partner.on(SITES_ROUTE, refuses(401, 'UNAUTHORIZED', 'unknown key'));
  await ask('PATCH', `/connections/${connectionId}`, { enabled: true });
  await hauler.ended(await hauler.requestSync(connectionId));
  await exchanges(`connectionId=${connectionId}`);
  await visit('');
  const lines = page.locator('.needs > li').filter({ has: page.locator(`a[href*="${connectionId}"]`) });
  await lines.getByText('The partner refuses our key').waitFor();
  expect(await lines.count()).toBe(1);
  expect(await lines.innerText()).toMatch(/since \d+ (s|min)/);
  await lines.getByText('1 more of the same cause').click();
  await lines.getByText('synchronisation in a row failed').waitFor();
  expect(await lines.getByRole('link', { name: 'Give a new key' }).getAttribute('href')).toContain(connectionId);
});
