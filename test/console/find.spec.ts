import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { flow, Hauler, ONE_SITE, SITES_ROUTE, TICKET } from '../acceptance/support/hauler.js';
import { VisionScene } from '../acceptance/support/vision.js';
import { refuses } from '../support/scripted-partner.js';
import { POST } from '../support/scripted-vision.js';
import { ask, type ConsoleScene, exchanges, nameOf, newHauler, startConsole, target } from './support/console.js';
import { accessibilityFindings, settled } from './support/page-checks.js';

const unique = () => `IN-${randomUUID().slice(0, 8).toUpperCase()}`;

let scene: ConsoleScene;
let hauler: Hauler;
beforeAll(async () => {
  scene = await startConsole();
  hauler = await newHauler({ sites: ONE_SITE });
}, 60_000);
afterAll(() => scene.close());
afterEach(async () => expect(await scene.endCase()).toEqual([]));

const FIELD = 'Find a number, truck, account or id';

describe('the search field of the header', () => {
  it('finds why the number of a refused push is no ticket, with the keyboard alone', async () => {
    const { page, visit } = scene;
    const number = unique();
    const materials = [{ ...TICKET.materials[0], id: randomUUID() }];
    expect((await hauler.push({ inboundFlow: flow(number), materials })).status).toBe(422);
    await hauler.createAccount({ accountName: `Account of ${number}` });
    await visit('tickets');
    await page.getByRole('heading', { name: 'Tickets', level: 1 }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type(number.toLowerCase());
    const found = page.getByRole('list', { name: 'Found' }).getByRole('link');
    await found.nth(1).waitFor();
    expect((await found.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))).toEqual([
      expect.stringMatching(/^account Account A-\d+, Account of /),
      expect.stringMatching(/^exchange POST createTicket, refused 422 at .* no material with this id/),
    ]);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^Push of a ticket, refused/ }).waitFor();
  });

  it('opens the first of what was found with Enter, says what it looked for, and is no field for partners', async () => {
    const { page, visit } = scene;
    await visit('');
    await page
      .getByRole('combobox')
      .or(page.getByLabel(FIELD))
      .first()
      .fill(await nameOf(hauler));
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`haulers\\?id=${hauler.id}`));
    await page.getByLabel(FIELD).fill('nothing-has-this');
    await page.getByText('Looked for:').waitFor();
    await page.getByText(/a ticket with this number, a truck/).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Looked for:').waitFor({ state: 'detached' });
    const partner = await scene.visitor({ apiKey: await hauler.key() });
    await partner.goto('/console');
    await partner.getByRole('heading', { level: 1 }).waitFor();
    expect(await partner.getByLabel(FIELD).count()).toBe(0);
  });
});

it('a connection whose partner answers 401 is failing, with the reason, the share and the exchange', async () => {
  const { page, visit } = scene;
  const own = await newHauler({ sites: ONE_SITE });
  const { partner, connectionId } = await own.siteConnection();
  await ask('PATCH', `/connections/${connectionId}`, { enabled: true });
  partner.on(SITES_ROUTE, refuses(401, 'UNAUTHORIZED'));
  await own.sync();
  await visit(`connections?haulerId=${own.id}`);
  const row = page.getByRole('row', { name: await nameOf(own) });
  await row.getByText('failing', { exact: true }).waitFor();
  await row.getByText(/not accept our API key/).waitFor();
  expect(await row.getByText(/\d+ % of \d+/).count()).toBe(1);
  expect(await accessibilityFindings(page)).toEqual([]);
  await row.getByRole('link', { name: await nameOf(own) }).click();
  const head = page.getByRole('region', { name: 'Connection', exact: true });
  await head.getByText('failing', { exact: true }).waitFor();
  await ask('PATCH', `/connections/${connectionId}`, { enabled: false });
});

it('clip requests say their state, time, reason and who, and many are asked for again at once', async () => {
  const { page, visit, region } = scene;
  const truck = await VisionScene.create({ service: target });
  truck.partner.on(POST, refuses(400, 'INVALID_PAYLOAD', 'no such camera'));
  const ids = [await truck.order({ cameraId: 'front' }), await truck.order({ cameraId: 'roof' })];
  for (const id of ids) await truck.becomes(id, { status: 'failed' });
  await visit(`clips?connectionId=${truck.connectionId}`);
  const clips = region('Clip requests');
  await clips.getByText('by admin').first().waitFor();
  expect(await clips.getByText(/no such camera/).count()).toBe(2);
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Ask again for all 2 without a file' }).click();
  await page.getByText('2 of 2 are asked for again.').waitFor();
  for (const id of ids) await truck.becomes(id, { status: 'failed' });
  await clips.getByRole('link', { name: 'TRUCK-7, roof' }).click();
  await page.getByRole('heading', { name: 'Clip of TRUCK-7, camera roof failed' }).waitFor();
  await page.getByRole('button', { name: 'Ask again', exact: true }).waitFor();
  await region('Clip request').getByText('no such camera').waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.getByRole('link', { name: 'Show this time of the truck' }).click();
  await page.waitForURL(/coverage\?.*from=.*to=/);
});

it('exchanges of the last day are counted over time: a bar leads to its hour, and a drag chooses several', async () => {
  const { page, visit, region } = scene;
  await hauler.push({ inboundFlow: flow(unique()) });
  await exchanges(`haulerId=${hauler.id}`);
  await visit('exchanges');
  const bars = region('Exchanges over time').locator('.bars li');
  await bars.nth(23).waitFor();
  expect(await bars.count()).toBe(24);
  expect(await page.getByLabel('Period').inputValue()).toBe('day');
  expect(await region('Exchanges over time').getByRole('heading').innerText()).toMatch(
    /^[\d,.]+ exchanges, [\d,.]+ failed/,
  );
  const middle = async (n: number) => {
    const box = await bars.nth(n).boundingBox();
    return [(box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) - 4] as const;
  };
  await page.mouse.move(...(await middle(20)));
  await page.mouse.down();
  await page.mouse.move(...(await middle(21)));
  await page.mouse.move(...(await middle(22)));
  await page.mouse.up();
  await page.waitForURL(/from=.*to=/);
  const { searchParams } = new URL(page.url());
  expect(Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '')).toBe(3 * 3_600_000);
  await page.getByLabel('Period').selectOption({ label: 'Last 24 hours' });
  await bars.nth(23).waitFor();
  await bars.nth(23).getByRole('link').focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/from=.*to=/);
  await region('Exchanges')
    .getByRole('link', { name: /^Push of a ticket/ })
    .first()
    .waitFor();
});

it('actions are those of a person, and of a kind of thing', async () => {
  const { page, visit, region } = scene;
  await ask('POST', '/haulers', { name: 'For the log' });
  await visit('actions');
  await page.getByLabel('Kind').selectOption('hauler');
  await page.getByLabel('Person').selectOption({ label: 'An admin with the token' });
  await page.waitForURL(/kind=hauler.*actor=admin/);
  const rows = region('Actions').getByRole('row');
  await rows.getByText('For the log').first().waitFor();
  // The rows of the former filter stay until the next ones are there.
  await settled(page);
  for (const text of (await rows.allInnerTexts()).slice(1)) expect(text).toMatch(/An admin with the token/);
});
