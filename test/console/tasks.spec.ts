import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { type ErrorBody, flow, type Hauler, type Plain, SITES_ROUTE, TICKET } from '../acceptance/support/hauler.js';
import { call } from '../acceptance/support/target.js';
import { VisionScene } from '../acceptance/support/vision.js';
import { eventually } from '../support/eventually.js';
import { ageStored, insertChunks } from '../support/rows.js';
import { sampleVideo } from '../support/sample-video.js';
import { raw, refuses, startScriptedPartner } from '../support/scripted-partner.js';
import { CONTINUOUS, element, lists } from '../support/scripted-vision.js';
import { idOf, kiosk, material, site } from '../support/site-data.js';
import { extractZip } from '../support/zip.js';
import {
  ask,
  type ConsoleScene,
  database,
  exchanges,
  linkTo,
  list,
  nameOf,
  newHauler,
  part,
  startConsole,
  target,
} from './support/console.js';
import { DEMO, VIEWER_TOKEN } from './support/demo.js';
import { accessibilityFindings } from './support/page-checks.js';
import { saved, savedCsv } from './support/saved.js';

const MAX_CLICKS = 4;

let scene: ConsoleScene;
/** Its partner lists a yard with a kiosk and two materials. It has pushed tickets, one of them several times. */
let hauler: Hauler;
let name: string;
/** Presses of the mouse since the task began. */
let clicks = 0;
beforeAll(async () => {
  scene = await startConsole();
  await count(scene.page);
  hauler = await newHauler({ sites: YARD });
  name = await nameOf(hauler);
  for (let n = 10; n < 22; n++) await pushTicket(`${tag()}48${n}`, n);
}, 60_000);
afterAll(() => scene.close());
afterEach(async () => expect(await scene.endCase()).toEqual([]));

const YARD = {
  sites: [site('yard', { name: 'Onion Creek' })],
  kiosks: [kiosk('north', 'yard')],
  materials: ['debris', 'concrete'].map((each) =>
    material(each, { siteId: idOf('yard'), materialType: `Type ${each}` }),
  ),
};
/** Begins the numbers of the tickets of this hauler. */
const tag = () => `T${hauler.id.slice(-5)}-`;
const pushTicket = (ticketNumber: string, quantity: number, more: Plain = {}, minute = 0) =>
  hauler.push({
    materials: [{ ...TICKET.materials[0], quantity }],
    inboundFlow: flow(ticketNumber, minute),
    ...more,
  });

/**
 * Counts what a person presses. Typing, keys and addresses are no clicks, nor is what Playwright stops at the window, because the
 * target has moved, and then repeats.
 */
async function count(page: Page): Promise<void> {
  await page.exposeFunction('countClick', () => (clicks += 1));
  await page.addInitScript({ content: "document.addEventListener('pointerdown', () => countClick(), true)" });
}

/** A task of an admin: begins on the first page, and takes few clicks. */
function task(title: string, work: (page: Page) => Promise<void>): void {
  it(`${title} in at most ${MAX_CLICKS} clicks`, async () => {
    await scene.visit('');
    await scene.page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    clicks = 0;
    await work(scene.page);
    expect(clicks).toBeGreaterThan(0);
    expect(clicks).toBeLessThanOrEqual(MAX_CLICKS);
  });
}

/** The items of what needs attention with a text, such as the name of a hauler. */
const attention = (page: Page, of: string): Locator =>
  part(page, 'Needs attention').getByRole('listitem').filter({ hasText: of });

describe('an admin with tickets and accounts', () => {
  task(
    "reads a ticket's story: corrected, stale and refused pushes, newest first, each with its exchange",
    async (page) => {
      const number = `${tag()}8101`;
      await pushTicket(number, 14.9, { customFields: { quantity: 'one' } }, 5);
      await pushTicket(number, 99, {}, 1);
      await pushTicket(number, 12, { siteId: idOf('nowhere') }, 6);
      await pushTicket(number, 12.48, { customFields: { driver: 'Dana Reyes', quantity: 'two' } }, 7);
      await linkTo(page, 'Tickets').click();
      await page.getByLabel('Ticket number').fill('8101');
      await page.getByRole('link', { name: number }).click();
      await part(page, 'Contents').getByText('Onion Creek').waitFor();
      await part(page, 'Footage').getByRole('heading', { name: 'Footage', exact: true }).waitFor();
      const steps = page.locator('.line > li');
      await steps.nth(3).waitFor();
      expect(await steps.allInnerTexts()).toEqual([
        expect.stringMatching(
          /^Corrected\s+12\.48 Ton\s+-2\.42 Ton.*push 3 by hb_.*materials\[0\]\.quantity 14\.9 → 12\.48 Ton Debris.*customFields\.driver added Dana Reyes.*customFields\.quantity one → two/s,
        ),
        expect.stringMatching(/^Refused\s+422 siteExists.*by hb_.*siteId must be the id, in your own system/s),
        expect.stringMatching(/^Late.*push 2.*changed no contents\./s),
        expect.stringMatching(/^Received\s+14\.9 Ton.*push 1.*The push created the ticket: Debris 14\.9 Ton\./s),
      ]);
      await steps.nth(2).getByText('As it was sent').click();
      await part(page, 'Push 2').getByText('"quantity": 99').waitFor();
      await steps.nth(1).getByRole('link', { name: 'Exchange' }).click();
      await part(page, 'Exchange').getByText('POST /platform-api/v1/tickets received 422').waitFor();
      expect(await accessibilityFindings(page)).toEqual([]);
    },
  );

  task('finds an account by a part of its name', async (page) => {
    const primaryContact = { firstName: 'Dana', lastName: 'Reyes', email: 'dana@example.com' };
    await hauler.createAccount({ accountName: `Lone Star ${name}`, primaryContact });
    await linkTo(page, 'Accounts').click();
    await page.getByLabel('Name, number or e-mail').fill(`lone star ${name.toLowerCase()}`);
    await page.getByText('1 record', { exact: true }).waitFor();
    await page.getByRole('link', { name: `Lone Star ${name}` }).click();
    await part(page, 'Account').getByText('dana@example.com').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('is not offered a translation, which would keep old values on the page', async () => {
    const { page, visit } = scene;
    await visit('');
    expect(await page.locator('html').getAttribute('translate')).toBe('no');
    expect(await page.locator('meta[name=google]').getAttribute('content')).toBe('notranslate');
  });

  it('replays all refused pushes of a filter, and reads the headers of one', async () => {
    const { page, visit } = scene;
    const materials = [{ ...TICKET.materials[0], id: idOf('asphalt'), name: 'Asphalt' }];
    for (let n = 0; n < 2; n++) expect((await pushTicket(`${tag()}7001`, 1, { materials })).status).toBe(422);
    await hauler.sync({ ...YARD, materials: [...YARD.materials, material('asphalt', { siteId: idOf('yard') })] });
    const filter = `exchanges?haulerId=${hauler.id}&reference=ticketNumber:${tag()}7001`;
    await visit(`${filter}&status=422`);
    const replay = page.getByRole('button', { name: 'Replay these exchanges' });
    await replay.click();
    await page.getByText('2 of 2 exchanges are sent again as they were.').waitFor();
    await replay.click();
    await page.getByText('2 of 2 exchanges were replayed.').waitFor();

    // The oldest one is no replay: it has a key.
    await visit(filter);
    await page.getByRole('link', { name: 'Push of a ticket' }).last().click();
    await part(page, 'Request')
      .getByText(/^Headers/)
      .click();
    await part(page, 'Request').getByText('[redacted]').first().waitFor();
  });

  it('lists failed calls with their sentences, and has an outcome and a period before many filters', async () => {
    const { page, region, visit } = scene;
    const other = await newHauler({ sites: YARD });
    const materials = [{ ...TICKET.materials[0], id: idOf('nothing') }];
    for (let n = 0; n < 3; n++) await other.push({ materials, inboundFlow: flow('IN-1') });
    await other.push({ inboundFlow: flow('IN-2') });
    await exchanges(`haulerId=${other.id}`);
    await visit(`exchanges?haulerId=${other.id}`);
    const rows = region('Exchanges').getByRole('row');
    await rows.nth(4).waitFor();
    await page.getByLabel('Outcome').selectOption('failed');
    await page.waitForURL(/failed=true/);
    await rows.nth(4).waitFor({ state: 'detached' });
    await rows.nth(1).getByText('The platform has no material with this id for your hauler.').waitFor();
    expect(await rows.count()).toBe(4);
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(await page.getByLabel('Direction').isVisible()).toBe(false);
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByLabel('Direction').selectOption('of this service');
    await page.getByText('Nothing matches these filters.').waitFor();
    await page.getByRole('button', { name: /Direction/ }).click();
    await page.getByLabel('Period').selectOption({ label: 'Last 7 days' });
    await rows.nth(3).waitFor();
  });

  it('imports accounts from a CSV: sees what would happen first, with the rows to correct', async () => {
    const { page, follow, region } = scene;
    await hauler.createAccount({ accountName: 'Lone Star Demolition' });
    const csv = (text: string) => ({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
    const card = page.getByRole('form', { name: 'Import accounts' });
    const report = region('Import');
    await follow('Accounts');
    await page.getByRole('link', { name: 'Import from CSV' }).click();
    const check = card.getByRole('button', { name: 'Check the file' });
    await card.getByLabel('Hauler').selectOption(hauler.id);
    await card.getByLabel('CSV file').setInputFiles(csv('acountName\n"A\n'));
    await check.click();
    await card
      .getByRole('alert')
      .getByText(/did you mean accountName/)
      .waitFor();
    scene.expectErrors('400');
    const big = `Big Rock ${name}`;
    const rows = `accountName;billingAddress.state\n${big};TX\nLone star DEMOLITION;\nBad;Texas\n`;
    await card.getByLabel('CSV file').setInputFiles(csv(rows));
    await check.click();
    await report.getByText('3 rows: 1 would be created, 1 exist, 0 in conflict, 1 invalid.').waitFor();
    expect(await report.getByRole('row').nth(1).innerText()).toMatch(
      /4\s+invalid\s+Bad\s+billingAddress\.state must be/,
    );
    expect(await accessibilityFindings(page)).toEqual([]);
    await report.getByRole('button', { name: 'Import 1 account' }).click();
    await report.getByText('3 rows: 1 created, 1 exist, 0 in conflict, 1 invalid.').waitFor();
    await page.getByRole('link', { name: big }).waitFor();
  });

  task('shares an address that shows the same to a colleague', async (page) => {
    await linkTo(page, 'Tickets').click();
    await page.getByLabel('Ticket number').fill(`${tag()}481`);
    await page.waitForURL(/search=\S+481/);
    await page.getByText('10 records', { exact: true }).waitFor();
    const colleague = await scene.visitor({ token: VIEWER_TOKEN });
    await colleague.goto(page.url());
    await colleague.getByText('10 records', { exact: true }).waitFor();
    expect(await colleague.getByLabel('Ticket number').inputValue()).toBe(`${tag()}481`);
  });
});

describe('an admin with synchronisations', () => {
  it('is led from the first page to a held run, and confirms it in two clicks', async () => {
    const { page, region, visit } = scene;
    const other = await newHauler({ sites: YARD });
    expect((await other.sync({ ...YARD, materials: [] })).status).toBe('held');
    await visit('');
    const held = attention(page, await nameOf(other)).filter({ hasText: 'Held synchronisation' });
    await held.getByRole('link', { name: /The removal of 2 of 2 materials waits/ }).click();
    await region('Held removals').getByText('lacks 2 of 2 active materials (100 %)').waitFor();
    await region('Held removals').getByText('would be removed').first().waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove 2 materials' }).click();
    await region('Run').getByText('succeeded').waitFor();
    await linkTo(page, 'Synchronisation').click();
    await page
      .getByRole('row', { name: /succeeded.* created/ })
      .first()
      .waitFor();
  });

  task('rejects a held run with a note', async (page) => {
    const other = await newHauler({ sites: YARD });
    const { id } = await other.sync({ ...YARD, kiosks: [], materials: [] });
    await page.reload();
    await attention(page, await nameOf(other))
      .getByRole('link', { name: /The removal of/ })
      .first()
      .click();
    await page.getByLabel('Note, if you keep the stored data').fill('The export was empty');
    await page.getByRole('button', { name: 'Keep the stored data' }).click();
    await part(page, 'Run').getByText('Rejected: The export was empty').waitFor();
    expect((await ask<{ status: string }>('GET', `/sync-runs/${id}`)).status).toBe('rejected');
  });

  it('sees refused records by rule, each with a list of its own, and the run in what needs attention', async () => {
    const { page, region, visit } = scene;
    const wrong = (_: unknown, n: number) => material(`m${n}`, { siteId: idOf('yard'), measureUnit: 'Gallon' });
    const materials = [...Array.from({ length: 143 }, wrong), material('p')];
    const other = await newHauler();
    const { id } = await other.sync({ ...YARD, materials });
    await visit('');
    await attention(page, await nameOf(other))
      .getByRole('link', { name: /^144 of \d+ records could not be stored/ })
      .click();
    await region('Run')
      .getByText(/^144 of \d+ records are in quarantine/)
      .waitFor();
    expect(await region('Run').getByText('succeeded', { exact: true }).getAttribute('class')).toBe('badge warn');
    await visit(`sync?run=${id}`);
    const quarantine = region('Quarantine');
    await quarantine.getByText('144 records, page 1 of 8').waitFor();
    await quarantine.getByRole('button', { name: 'Next' }).click();
    await quarantine.getByText('144 records, page 2 of 8').waitFor();
    expect(await quarantine.getByRole('list', { name: 'By rule' }).getByRole('link').allInnerTexts()).toEqual([
      '143 × wrong unit',
      '1 × neither site nor kiosk',
    ]);
    await quarantine.getByRole('link', { name: '1 × neither site nor kiosk' }).click();
    await quarantine.getByText('1 record', { exact: true }).waitFor();
    const json = page.getByRole('region', { name: 'Record materials[143]' });
    expect(await json.isVisible()).toBe(false);
    await quarantine.getByText('Show', { exact: true }).click();
    await json.getByText('"measureUnit"').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });
});

describe('an admin with partners and keys', () => {
  task('creates a connection, which is checked', async (page) => {
    const partner = await startScriptedPartner();
    partner.on(SITES_ROUTE, refuses(401, 'UNAUTHORIZED'));
    await linkTo(page, 'Connections').click();
    await page.getByRole('link', { name: 'New connection' }).click();
    // A person chooses by typing the first letters.
    await page.getByLabel('Hauler').selectOption({ label: name });
    await page.getByLabel('Address of the partner').fill(partner.url);
    await page.getByLabel('Key that the partner issued').fill('not-the-key');
    await page.getByRole('button', { name: 'Create and check the connection' }).click();
    const answers = part(page, 'Result of the check').getByRole('listitem');
    await answers.first().waitFor();
    expect((await answers.allInnerTexts()).slice(0, 2)).toEqual(['yes Reachable', 'no Accepts the key']);
    expect(await accessibilityFindings(page)).toEqual([]);
    await part(page, 'Connection').getByText(partner.url).waitFor();
  });

  it('stores the next key of a partner, reads how the two overlap, pauses, and finds it in the actions', async () => {
    const { page, region, visit, follow } = scene;
    const other = await newHauler({ sites: YARD });
    const { connectionId } = await other.siteConnection();
    await ask('PATCH', `/connections/${connectionId}`, { enabled: true });
    await visit(`connections?id=${connectionId}`);
    await page.getByRole('button', { name: 'Change this connection' }).click();
    await page.getByText('from when the partner refuses the current key').waitFor();
    await page.getByLabel('Next key of the partner').fill('the-next-key-of-the-partner');
    await page.getByRole('button', { name: 'Store the changes' }).click();
    await page.getByText('tried when the current key is refused').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    expect(await ask('GET', `/connections/${connectionId}`)).toMatchObject({ enabled: false });

    await follow('Actions');
    const sentence = `An admin in the console paused the site connection of ${await nameOf(other)}.`;
    const row = page.getByRole('row', { name: sentence }).first();
    await row.getByText(connectionId).waitFor();
    await row.getByRole('link', { name: 'all actions on it' }).click();
    await page.waitForURL(/resource=connection/);
    await region('Actions')
      .getByRole('row', { name: /An admin with the token/ })
      .first()
      .waitFor();
    await region('Actions')
      .getByRole('row', { name: /the key hb_/ })
      .first()
      .waitFor({ state: 'detached' });
  });

  it('issues a key, sees it once with a copy button, rotates and revokes it', async () => {
    const { page, follow, region } = scene;
    const gate = `Weighbridge ${name}`;
    await follow('API keys');
    await page.getByRole('link', { name: 'New key' }).click();
    await page.getByLabel('Name', { exact: false }).first().fill(gate);
    await page.getByLabel('scale', { exact: true }).check();
    await page.locator('select[name=haulerId]').selectOption({ label: name });
    await page.getByRole('button', { name: 'Issue the key' }).click();
    const card = region('New key');
    const key = (await card.locator('.secret code').innerText()).trim();
    expect(key).toMatch(/^hb_/);
    await card.getByRole('button', { name: 'Copy the key' }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    const headers = { 'PLATFORM-API-KEY': key };
    expect((await call('POST', '/platform-api/v1/tickets', { headers, body: {} }, target)).status).toBe(400);
    await card.getByRole('button', { name: 'I have stored the key' }).click();
    expect(await page.getByText(key).count()).toBe(0);

    await region('Key').getByRole('button', { name: 'Rotate' }).click();
    await page.getByText('The old key works until the new one is first used').waitFor();
    await page.getByLabel('Overlap after the first use').selectOption({ label: '1 hour' });
    await page.getByRole('button', { name: 'Rotate the key' }).click();
    await card.getByText('The old key works until').waitFor();
    await page.getByRole('button', { name: 'I have stored the key' }).click();
    // The page is that of the new key.
    await region('Key').getByText('the old key still works').waitFor();
    await region('Key').getByRole('button', { name: 'Revoke' }).click();
    await region('Key').getByText('fail within 5 s').waitFor();
    await region('Key').getByRole('button', { name: 'Revoke' }).click();
    await region('Key').getByText('revoked', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'All keys' }).click();
    await page.getByRole('row', { name: gate }).nth(1).waitFor();
  });

  it('creates, tests, repeats, rotates, pauses and resumes an endpoint of webhooks', async () => {
    const { page, visit } = scene;
    const receiver = await startScriptedPartner();
    const hook = `${receiver.url}/hook`;
    receiver.on('POST /hook', raw('The receiver is being moved', { status: 503 }), raw('', { status: 204 }));
    const fill = async (url: string) => {
      await page.getByLabel('Address').fill(url);
      await page.getByRole('checkbox', { name: 'ticket.created' }).check();
      await page.getByRole('button', { name: 'Create the endpoint' }).click();
    };
    await visit('webhooks');
    await page.getByRole('link', { name: 'New endpoint' }).click();
    await fill('https://user:password@example.com/');
    await page
      .getByText(/must not contain a user name/)
      .first()
      .waitFor();
    scene.expectErrors('400');
    await fill(hook);
    const secret = part(page, 'New secret');
    const first = await secret.locator('code').innerText();
    expect(first).toMatch(/^whsec_/);
    await secret.getByRole('button', { name: 'I have stored the secret' }).click();
    expect(await page.getByText(first).count()).toBe(0);

    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByRole('status').getByText('not delivered').waitFor();
    const deliveries = part(page, 'Deliveries of webhooks');
    await deliveries.getByText('The receiver is being moved').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Deliver the failed ones again' }).click();
    await page.getByText('1 are delivered again.').waitFor();
    await deliveries.getByText('delivered', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Deliver again' }).first().click();

    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    const question = page.getByRole('group', { name: 'Rotate the secret' });
    await question.getByRole('button', { name: 'Rotate the secret' }).click();
    await secret.getByText(/The former secret signs as well until/).waitFor();
    expect(await secret.locator('code').innerText()).not.toBe(first);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('paused', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByText('enabled', { exact: true }).waitFor();
    const [endpoint] = (await list<{ id: string; url: string }>('/webhook-endpoints')).filter(
      ({ url }) => url === hook,
    );
    await ask('DELETE', `/webhook-endpoints/${endpoint?.id}`);
  });

  it('offers states alone to a channel of Slack, and shows the host of its address', async () => {
    const { page, visit } = scene;
    const receiver = await startScriptedPartner();
    await visit('webhooks?new=1');
    await page.getByRole('checkbox', { name: 'ticket.created' }).check();
    await page.getByLabel('Format').selectOption('slack');
    await page.getByRole('checkbox', { name: 'ticket.created' }).waitFor({ state: 'detached' });
    await page.getByLabel('Address').fill(`${receiver.url}/services/secret`);
    await page.getByRole('checkbox', { name: 'sync.held' }).check();
    await page.getByRole('button', { name: 'Create the endpoint' }).click();
    await page.getByRole('button', { name: 'I have stored the secret' }).click();
    const endpointPage = part(page, 'Endpoint');
    await endpointPage.getByRole('heading', { name: `${receiver.url}/…` }).waitFor();
    await endpointPage.getByRole('button', { name: 'Change' }).click();
    await page.getByRole('checkbox', { name: 'key.expired' }).check();
    await page.getByRole('button', { name: 'Save the endpoint' }).click();
    await endpointPage.getByText('sync.held, key.expired').waitFor();
    await endpointPage.getByRole('button', { name: 'Change' }).click();
    await page.getByLabel('Format').selectOption('standard');
    await page.getByRole('button', { name: 'Save the endpoint' }).click();
    await page
      .getByText(/must be sent with the format standard/i)
      .first()
      .waitFor();
    scene.expectErrors('400');
    expect(await page.getByText('services/secret').count()).toBe(0);
    const [endpoint] = (await list<{ id: string; url: string }>('/webhook-endpoints')).filter(({ url }) =>
      url.startsWith(receiver.url),
    );
    await ask('DELETE', `/webhook-endpoints/${endpoint?.id}`);
  });
});

const DAY_MS = 86_400_000;
/** Of yesterday, in minutes after 10:00 UTC. */
const at = (minute: number): string =>
  new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS + 36_000_000 + minute * 60_000).toISOString();

/** A hauler with a truck whose ten recorded minutes are stored. The connection is paused then. */
async function fleet() {
  const vision = await VisionScene.create({ service: target });
  const { connectionId, partner } = vision;
  const minutes = Array.from({ length: 10 }, (_, i) =>
    element({
      startTime: at(i),
      endTime: at(i + 1),
      durationSeconds: 60,
      downloadUrl: partner.link(sampleVideo(1_000)),
    }),
  );
  partner.on(
    CONTINUOUS,
    lists('recordings', () => minutes),
  );
  await vision.follow({ startTime: at(-1) });
  await vision.recordingsBecome(minutes.map(() => ({ status: 'stored' })));
  await ask('PATCH', `/connections/${connectionId}`, { enabled: false });
  return { connectionId, haulerId: vision.hauler.id, name: await nameOf(vision.hauler) };
}

const text = async (of: Locator) => (await of.innerText()).replace(/\s+/g, ' ');

describe('an admin with footage', () => {
  let trucks: Awaited<ReturnType<typeof fleet>>;
  /** The name of the hauler with dead links. */
  let west: string;
  beforeAll(async () => {
    trucks = await fleet();
    west = await fleetWithDeadLinks();
  }, 60_000);

  task('finds out why footage is missing and whose part it is, and saves it as CSV', async (page) => {
    await linkTo(page, 'Coverage').click();
    await page.getByLabel(/^Hauler/).selectOption({ label: west });
    await part(page, 'Fleet coverage')
      .getByRole('link', { name: /^T-WEST, .*: 50% stored/ })
      .click();
    const front = page.getByRole('list', { name: 'Cameras' }).getByRole('listitem').filter({ hasText: 'Front' });
    await front.getByText('60 min lost: 60 min of dead links').waitFor();
    await front.getByText('Whose part: the partner').waitFor();
    const csv = await savedCsv(page, page.getByRole('button', { name: 'Save as CSV' }));
    expect(csv.rows).toContainEqual(
      expect.objectContaining({ cameraId: 'front', lost: 'true', cause: 'linkRefused', side: 'partner' }),
    );
  });

  it('holds a range from the page of a truck, downloads it, and releases the hold', async () => {
    const { page, region, visit } = scene;
    const { connectionId } = trucks;
    const rear = { truck: 'TRUCK-7', camera: 'rear', at: at(3), seconds: 60, status: 'available' };
    await insertChunks(database, trucks, [rear]);
    await visit(`coverage?connectionId=${connectionId}&truckId=TRUCK-7&from=${at(2.5)}&to=${at(4.2)}`);
    await page.getByRole('link', { name: 'Hold this range' }).click();
    const form = page.getByRole('form', { name: 'New hold' });
    expect(await form.getByLabel('Truck', { exact: false }).last().inputValue()).toBe('TRUCK-7');
    const caseId = `CLAIM ${trucks.name}`;
    await form.getByLabel('Case').fill(caseId);
    await form.getByLabel('Reason').fill('Letter of 3 February');
    await form.getByRole('button', { name: 'Hold the footage' }).click();
    const details = region('Hold');
    await details.getByText('Letter of 3 February').waitFor();
    // The range of whole minutes around the shown one.
    expect(await text(details)).toContain('3 recordings, 3 KB');
    await details.getByRole('link', { name: /^1: a link may expire/ }).waitFor();
    await region('Missing').getByText('no recording of it is known').first().waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);

    const file = await saved(page, page.getByRole('link', { name: 'Download all of it (ZIP)' }));
    expect(file.name).toMatch(/^hold-CLAIM.+\.zip$/);
    const folder = join(file.path, '..');
    const names = await extractZip(file.path, folder);
    expect(names.filter((each) => each.endsWith('.mp4'))).toHaveLength(3);
    expect(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))).toMatchObject({ createdBy: 'console' });

    await page.getByRole('button', { name: 'Release …' }).click();
    await page.getByLabel('Why it is released').fill('Settled');
    await page.getByRole('button', { name: 'Release the hold' }).click();
    await details.getByText('by console: Settled').waitFor();
    expect(await page.getByRole('button', { name: 'Release …' }).count()).toBe(0);
    await page.getByRole('link', { name: 'All holds' }).click();
    await page.getByLabel('State').selectOption('active');
    await page.getByText(caseId).waitFor({ state: 'detached' });
    await page.getByLabel('State').selectOption('released');
    await page.getByRole('link', { name: caseId }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('sees what a shorter retention deletes and what a hold keeps, before it is set', async () => {
    const { page, region, visit } = scene;
    const { haulerId, connectionId, name: owner } = trucks;
    await ageStored(database, connectionId, 60);
    const held = { caseId: 'CLAIM-KEEP', reason: 'Collision', connectionId, truckId: 'TRUCK-7' };
    const { id } = await ask<{ id: string }>('POST', '/holds', { ...held, from: at(2), to: at(5) });
    await visit('retention');
    await page.getByRole('search', { name: 'Hauler' }).getByLabel('Hauler').selectOption({ label: owner });
    await region('Retention').getByText('for ever').first().waitFor();
    await page.getByLabel('Continuous recordings, days').fill('30');
    await page.getByRole('button', { name: 'Preview' }).click();
    const preview = region('Preview');
    await preview.getByText('7 recordings (7 KB) are deleted by it.').waitFor();
    expect(await text(preview)).toContain('TRUCK-7 7 7 KB 3');
    expect(await accessibilityFindings(page)).toEqual([]);
    await preview.getByRole('button', { name: 'Delete and set the retention' }).click();
    await preview.getByText('This cannot be undone.').waitFor();
    await preview.getByRole('button', { name: 'Delete and set the retention' }).click();
    await region('Retention').getByText('30 days').waitFor();
    expect(await ask('GET', `/haulers/${haulerId}/retention`)).toMatchObject({
      continuousDays: 30,
      changedBy: 'console',
    });
    await ask('POST', `/holds/${id}/release`, { reason: 'Settled' });
  });

  it('previews an erasure, confirms it, has a receipt, and is refused where a hold stands', async () => {
    const { page, region, visit, expectErrors } = scene;
    const { connectionId, haulerId } = await fleet();
    const held = { caseId: 'CLAIM-STOP', reason: 'Collision', connectionId, truckId: 'TRUCK-7' };
    const { id } = await ask<{ id: string }>('POST', '/holds', { ...held, from: at(2), to: at(5) });
    await visit(`retention?haulerId=${haulerId}`);
    await page.getByRole('link', { name: 'New erasure' }).click();
    const form = page.getByRole('form', { name: 'New erasure' });
    await form.getByLabel('Partner who records the truck').selectOption(connectionId);
    await form.getByLabel('Truck').last().fill('TRUCK-7');
    // The machine of the tests and the browser have the time zone UTC.
    await form.getByLabel('From', { exact: false }).last().fill(at(0).slice(0, 16));
    await form.getByLabel('To', { exact: false }).last().fill(at(10).slice(0, 16));
    await form.getByRole('button', { name: 'Preview the erasure' }).click();
    await page.getByRole('alert').getByText('held for CLAIM-STOP').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await ask('POST', `/holds/${id}/release`, { reason: 'Settled' });
    await form.getByRole('button', { name: 'Preview the erasure' }).click();
    const details = region('Erasure');
    await details.getByText('previewed').waitFor();
    expect(await text(details)).toContain('Recordings, with their files 10');
    expect(await accessibilityFindings(page)).toEqual([]);
    expectErrors('409');
    await details.getByRole('button', { name: 'Erase for ever' }).click();
    await details.getByText('done', { exact: true }).waitFor({ timeout: 45_000 });
    expect(await text(details)).toContain('Recordings, with their files 10');
    await page.getByRole('link', { name: 'All erasures' }).click();
    await region('Erasures').getByText('TRUCK-7, all cameras').waitFor();
  });
});

/** Yesterday a truck recorded an hour with two cameras. The links of one of them were dead; its partner is never called. */
async function fleetWithDeadLinks() {
  const other = await newHauler();
  const connectionId = await other.connect({ interface: 'vision', baseUrl: 'https://partner.invalid', enabled: false });
  const ids = { haulerId: other.id, connectionId };
  const chunk = { truck: 'T-WEST', at: at(0), seconds: 3_600 };
  await insertChunks(database, ids, [
    { ...chunk, camera: 'front', status: 'failed', code: 'linkRefused' },
    { ...chunk, camera: 'rear', status: 'stored' },
  ]);
  return nameOf(other);
}

describe('an admin with the footage of tickets', () => {
  let disputed: string;
  beforeAll(async () => {
    const demo = `haulerId=${DEMO.haulerId}`;
    const [connection] = await list<{ id: string }>(`/connections?interface=vision&${demo}`);
    const setting = { truckField: 'truckNumber', connectionId: connection?.id };
    await ask('PUT', `/haulers/${DEMO.haulerId}/ticket-footage`, setting);
    const stored = await eventually(async () => {
      const all = await list<{ startTime: string }>(
        `/recordings?status=stored&source=continuous&connectionId=${connection?.id}`,
      );
      expect(all.length).toBeGreaterThanOrEqual(20);
      return all.map(({ startTime }) => Date.parse(startTime));
    });
    // The truck was recorded from a minute before its weighing on; the time before is missing.
    const updatedAt = new Date(Math.min(...stored) + 70_000).toISOString();
    const { body } = await call<{ disposalTicketId: string } & ErrorBody>(
      'POST',
      '/platform-api/v1/tickets',
      {
        headers: { 'PLATFORM-API-KEY': target.keys.platform },
        body: {
          siteId: DEMO.siteId,
          materials: [{ id: DEMO.materialId, name: 'Debris', unitOfMeasure: 'Ton', quantity: 31.5 }],
          outboundFlow: { ticketNumber: 'OUT-DISPUTE', updatedAt },
          customFields: { truckNumber: DEMO.truckId },
        },
      },
      target,
    );
    disputed = body.disposalTicketId;
    expect(disputed).toEqual(expect.any(String));
  }, 90_000);

  task('sets up where the footage of tickets is', async (page) => {
    // The list has the newest haulers first.
    await scene.visit(`haulers?id=${DEMO.haulerId}`);
    const form = page.getByRole('form', { name: 'Footage of tickets' });
    await form.getByText('custom fields of the newest tickets: truckNumber').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await form.getByLabel('Cameras').fill('front, rear');
    await form.getByRole('button', { name: 'Save' }).click();
    await eventually(async () => {
      const setting = await ask('GET', `/haulers/${DEMO.haulerId}/ticket-footage`);
      expect(setting).toMatchObject({ truckField: 'truckNumber', cameras: ['front', 'rear'] });
    });
  });

  /** Counted from the page of the ticket: it is named in a letter, and opened by its address. */
  task('settles a dispute from the ticket: plays, requests what is missing, and shares a link,', async (page) => {
    await scene.visit(`tickets?id=${disputed}`);
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    const time = page.getByRole('slider', { name: 'Time' });
    const start = Number(await time.inputValue());
    await eventually(async () => expect(Number(await time.inputValue())).toBeGreaterThan(start));
    expect(await page.locator('video').count()).toBe(2);
    await page.getByRole('button', { name: 'Request the missing clips' }).click();
    await part(page, 'Footage')
      .getByText(/^\d+ clip requests?:/)
      .waitFor();
    await page.getByRole('button', { name: 'Share by a link' }).click();
    await page.getByLabel('Reason').fill('Dispute 4711');
    await page.getByRole('button', { name: 'Create the link' }).click();
    const url = await part(page, 'Share').locator('.secret code').innerText();
    const stranger = await scene.visitor();
    await stranger.goto(url);
    await stranger.getByRole('button', { name: 'Show the recording' }).click();
    await stranger.getByRole('heading', { name: 'Ticket OUT-DISPUTE' }).waitFor();
    await stranger.getByText('31.5 Ton').waitFor();
    await stranger.evaluate(
      '(async (video) => { video.muted = true; await video.play(); })(document.querySelector("video"))',
    );
    const shown = 'document.querySelector("video").currentTime';
    await eventually(async () => expect(Number(await stranger.evaluate(shown))).toBeGreaterThan(0));
    // The policy of the page refuses the styles of axe, and accepts its own.
    scene.expectErrors('Applying inline style violates');
    expect(await stranger.evaluate('getComputedStyle(document.querySelector("main")).maxWidth')).toBe('960px');
    expect(await accessibilityFindings(stranger)).toEqual([]);
    expect(await stranger.evaluate('document.scripts.length')).toBe(0);
    await part(page, 'Links')
      .getByRole('row', { name: /Dispute 4711 active 1/ })
      .waitFor();
  });
});
