import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { DEMO, DEMO_SITE_DATA } from '../../src/demo/demo-data.js';
import { createHauler } from '../support/api-keys.js';
import { eventually } from '../support/eventually.js';
import { accessibilityFindings, type ConsoleScene, signIn, startConsole } from './console-pages.js';

const MAX_CLICKS = 4;
const READ_TOKEN = 'read-only-token-0123456789';

let scene: ConsoleScene;
/** Presses of the mouse since the task began. */
let clicks = 0;
beforeAll(async () => {
  scene = await startConsole({ ADMIN_READ_TOKEN: READ_TOKEN });
  await count(scene.page);
  await seed();
}, 120_000);
afterAll(() => scene.close());
afterEach(async () => expect(await scene.endCase()).toEqual([]));

const list = async <T>(path: string): Promise<T[]> => (await scene.service.admin<{ data: T[] }>('GET', path)).body.data;
const push = (path: string, body: object) =>
  scene.service.call('POST', `/platform-api/v1${path}`, {
    headers: { 'PLATFORM-API-KEY': scene.demo.keys.platform },
    body,
  });
const pushTicket = (
  ticketNumber: string,
  quantity: number,
  unitOfMeasure = 'Ton',
  updatedAt = '2026-01-31T08:01:00Z',
) =>
  push('/tickets', {
    siteId: DEMO.siteId,
    materials: [{ id: DEMO.materialId, name: 'Mixed construction debris', unitOfMeasure, quantity }],
    inboundFlow: { ticketNumber, updatedAt },
  });

/** A morning: tickets, one of them corrected and one refused, an account, a second hauler, and footage of a truck. */
async function seed(): Promise<void> {
  for (let n = 0; n < 30; n++) await pushTicket(`IN-2048${10 + n}`, 8 + n);
  await pushTicket('IN-204817', 12.48, 'Ton', '2026-01-31T08:05:00Z');
  expect((await pushTicket('IN-204990', 9, 'Tons')).status).toBe(400);
  await push('/accounts', { accountName: 'Lone Star Demolition LLC', primaryContact: { email: 'dana@example.com' } });
  await createHauler(scene.service, 'Red Mesa Hauling');
  await loseFootage();
  await eventually(async () => {
    const stored = await list('/recordings?status=stored&source=continuous&pageSize=100');
    expect(stored.length).toBeGreaterThanOrEqual(20);
  });
  await pushDisputedTicket();
}

/** The last load of the day in dispute. The truck was recorded from a minute before its weighing on; the time before is missing. */
let disputed: string;
async function pushDisputedTicket(): Promise<void> {
  const [connection] = await list<{ id: string }>(`/connections?interface=vision&haulerId=${DEMO.haulerId}`);
  await scene.service.admin('PUT', `/haulers/${DEMO.haulerId}/ticket-footage`, {
    truckField: 'truckNumber',
    connectionId: connection?.id,
  });
  const stored = await list<{ startTime: string }>(`/recordings?status=stored&truckId=${DEMO.truckId}&pageSize=100`);
  const first = Math.min(...stored.map(({ startTime }) => Date.parse(startTime)));
  const { body } = await push('/tickets', {
    siteId: DEMO.siteId,
    materials: [{ id: DEMO.materialId, name: 'Mixed construction debris', unitOfMeasure: 'Ton', quantity: 31.5 }],
    outboundFlow: { ticketNumber: 'OUT-DISPUTE', updatedAt: new Date(first + 70_000).toISOString() },
    customFields: { truckNumber: DEMO.truckId },
  });
  disputed = (body as { disposalTicketId?: string }).disposalTicketId ?? '';
}

const HOUR_MS = 3_600_000;

/** Yesterday a truck recorded an hour with two cameras. The links of one of them were dead; its partner is never called. */
async function loseFootage(): Promise<void> {
  const haulerId = await createHauler(scene.service, 'West Hauling');
  const { body } = await scene.service.admin<{ id: string }>('POST', '/connections', {
    haulerId,
    interface: 'vision',
    baseUrl: 'https://partner.invalid',
    apiKey: 'k',
    enabled: false,
  });
  const start = new Date(Math.floor(Date.now() / (24 * HOUR_MS)) * 24 * HOUR_MS - 12 * HOUR_MS);
  await scene.service.dataSource.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, reason_code, fetch_by, created_at, updated_at)
     SELECT $1, gen_random_uuid(), $2, 'continuous', gen_random_uuid(), 'c', 'T-WEST', camera, $3::timestamptz,
       $3::timestamptz + interval '1 hour', 3600, status, code, now(), now(), now()
     FROM (VALUES ('front', 'failed', 'linkRefused'), ('rear', 'stored', NULL)) AS chunks (camera, status, code)`,
    [haulerId, body.id, start],
  );
}

/**
 * Counts what a person presses. Typing, keys and addresses are no clicks, nor is what Playwright stops at the window, because the
 * target has moved, and then repeats.
 */
async function count(page: Page): Promise<void> {
  await page.exposeFunction('countClick', () => (clicks += 1));
  await page.addInitScript({ content: "document.addEventListener('pointerdown', () => countClick(), true)" });
}

/** A task of an admin: begins on the first page, takes few clicks, and ends on a page without a serious finding of axe-core. */
function task(title: string, work: (page: Page) => Promise<Page | void>): void {
  it(`${title} in at most ${MAX_CLICKS} clicks`, async () => {
    await scene.visit('');
    await scene.page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    clicks = 0;
    const page = (await work(scene.page)) ?? scene.page;
    expect(clicks).toBeGreaterThan(0);
    expect(clicks).toBeLessThanOrEqual(MAX_CLICKS);
    expect(await accessibilityFindings(page)).toEqual([]);
  }, 60_000);
}

const to = (page: Page, title: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: title, exact: true }).click();
const part = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true });

task('sees what needs attention, and opens the first item', async (page) => {
  const items = part(page, 'Needs attention').getByRole('listitem');
  await items.first().waitFor();
  await items.filter({ hasText: 'Refused pushes' }).getByRole('link').first().click();
  await page.getByRole('link', { name: 'POST createTicket' }).first().waitFor();
});

const truckOf = (page: Page, truck: string) =>
  part(page, 'Fleet coverage').getByRole('link', { name: new RegExp(`^${truck}, .* stored`) });

task('finds out why footage is missing, and whose part it is', async (page) => {
  await to(page, 'Coverage');
  await part(page, 'Fleet coverage')
    .getByRole('link', { name: /^T-WEST, .*: 50% stored/ })
    .click();
  const front = page.getByRole('list', { name: 'Cameras' }).getByRole('listitem').filter({ hasText: 'Front' });
  await front.getByText('60 min missing; 60 dead links').waitFor();
  await front.getByText('Whose part: the partner').waitFor();
});

task('saves the missing footage of a truck as CSV', async (page) => {
  await to(page, 'Coverage');
  await part(page, 'Fleet coverage')
    .getByRole('link', { name: /^T-WEST, .*: 50% stored/ })
    .click();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Missing footage (CSV)' }).click();
  const csv = await readFile(await (await download).path(), 'utf8');
  expect(csv).toMatch(/^truck,camera,start,end,[^]*\r\nT-WEST,front,\S+,3600,missing,[^\r]*,partner\r\n/);
});

task('watches footage of two cameras across two files', async (page) => {
  await to(page, 'Recordings');
  await page
    .getByRole('link', { name: new RegExp(`Play ${DEMO.truckId}, front`, 'i') })
    .nth(3)
    .click();
  await page.getByRole('checkbox', { name: /rear/i }).click();
  const time = page.getByRole('slider', { name: 'Time' });
  await page.locator('video').nth(1).waitFor();
  const start = Number(await time.inputValue());
  await time.fill(String(start + 58_500));
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await eventually(async () => expect(Number(await time.inputValue())).toBeGreaterThan(start + 60_500));
  await page.keyboard.press(' ');
  await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
});

task('requests a clip by dragging over the time', async (page) => {
  await to(page, 'Coverage');
  // Just after midnight the last hour is a part of yesterday.
  const minutes = await page.evaluate<number>('new Date().getHours() * 60 + new Date().getMinutes()');
  await truckOf(page, DEMO.truckId)
    .nth(minutes < 60 ? -2 : -1)
    .click();
  await page.locator('.lane-stored').first().waitFor();
  const lane = (await page.locator('.lane-frame').first().boundingBox())!;
  const end = lane.x + lane.width * (minutes < 60 ? 0.995 : minutes / 1_440) - 2;
  const y = lane.y + lane.height / 2;
  await page.mouse.move(end - 20, y);
  await page.mouse.down();
  await page.mouse.move(end, y, { steps: 4 });
  await page.mouse.up();
  await page.getByRole('button', { name: 'Request the clip' }).click();
  const panel = page.getByRole('group', { name: 'Clip of the selected range' });
  await panel.getByText(/^The clip:/).waitFor();
  await part(page, 'Clip requests').waitFor();
});

task('sets up where the footage of tickets is', async (page) => {
  await to(page, 'Haulers');
  await page.getByRole('link', { name: 'Demo Hauling' }).click();
  const form = page.getByRole('form', { name: 'Footage of tickets' });
  await form.getByText('custom fields of the newest tickets: truckNumber').waitFor();
  await form.getByLabel('Cameras').fill('front, rear');
  await form.getByRole('button', { name: 'Save' }).click();
  await eventually(async () => {
    const { body } = await scene.service.admin('GET', `/haulers/${DEMO.haulerId}/ticket-footage`);
    expect(body).toMatchObject({ truckField: 'truckNumber', cameras: ['front', 'rear'] });
  });
});

/** Counted from the page of the ticket: it is named in a letter, and opened by its address. */
task('settles a dispute from the ticket', async (page) => {
  await scene.visit(`tickets?id=${disputed}`);
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  const time = page.getByRole('slider', { name: 'Time' });
  const start = Number(await time.inputValue());
  await eventually(async () => expect(Number(await time.inputValue())).toBeGreaterThan(start));
  expect(await page.locator('video').count()).toBe(2);
  await page.getByRole('button', { name: 'Request the missing clips' }).click();
  await part(page, 'Clip requests').waitFor();
  await page.getByRole('button', { name: 'Share by a link' }).click();
  await page.getByLabel('Reason').fill('Dispute 4711');
  await page.getByRole('button', { name: 'Create the link' }).click();
  const url = await part(page, 'Share').locator('.secret code').innerText();
  const stranger = await scene.visitor();
  await stranger.goto(url);
  await stranger.getByRole('button', { name: 'Show the recording' }).click();
  await stranger.getByRole('heading', { name: 'Ticket OUT-DISPUTE' }).waitFor();
  await stranger.getByText('31.5 Ton').waitFor();
  const at = 'document.querySelector("video").currentTime';
  const begin = Number(
    await stranger.evaluate(
      '(async (video) => { video.muted = true; await video.play(); return video.currentTime; })(document.querySelector("video"))',
    ),
  );
  await eventually(async () => expect(Number(await stranger.evaluate(at))).toBeGreaterThan(begin));
  // The policy of the page refuses the styles of axe, and accepts its own.
  scene.expectErrors('Applying inline style violates');
  expect(await stranger.evaluate('getComputedStyle(document.querySelector("main")).maxWidth')).toBe('960px');
  expect(await accessibilityFindings(stranger)).toEqual([]);
  expect(await stranger.evaluate('document.scripts.length')).toBe(0);
  await part(page, 'Links')
    .getByRole('row', { name: /Dispute 4711 active 1/ })
    .waitFor({ timeout: 20_000 });
});

task('decides on a held run', async (page) => {
  const { service } = scene;
  const [connection] = await list<{ id: string }>('/connections?interface=site');
  await service.admin('PUT', `/hosted/haulers/${DEMO.haulerId}/site-data`, { ...DEMO_SITE_DATA, materials: [] });
  const { body } = await service.admin<{ runId: string }>('POST', `/connections/${connection?.id}/sync`);
  await page.getByRole('link', { name: /The removal of 5 of 5 materials waits/ }).click({ timeout: 20_000 });
  await page.getByLabel('Note, if you keep the stored data').fill('The export was empty');
  await page.getByRole('button', { name: 'Keep the stored data' }).click();
  await eventually(async () => {
    const { body: run } = await service.admin<{ status: string }>('GET', `/sync-runs/${body.runId}`);
    expect(run.status).toBe('rejected');
  });
  await service.admin('PUT', `/hosted/haulers/${DEMO.haulerId}/site-data`, DEMO_SITE_DATA);
});

task("reads a ticket's story", async (page) => {
  await to(page, 'Tickets');
  await page.getByLabel('Ticket number').fill('204817');
  await page.getByRole('link', { name: 'IN-204817' }).click();
  await part(page, 'Steps').getByText('Weight corrected from 15 to 12.48 t').waitFor();
});

task('finds why pushes are refused', async (page) => {
  await part(page, 'Needs attention')
    .getByRole('link', { name: /refused: 400/ })
    .first()
    .click();
  await page.getByRole('link', { name: 'POST createTicket' }).first().click();
  await part(page, 'Exchange').getByText('POST /platform-api/v1/tickets received 400').waitFor();
  await part(page, 'Request body').getByText('"Tons"').waitFor();
});

task('rotates a key', async (page) => {
  await to(page, 'API keys');
  await page
    .getByRole('row', { name: /Demo: platform/ })
    .getByRole('button', { name: 'Rotate this key' })
    .click();
  await page.getByRole('button', { name: 'Rotate the key' }).click();
  await part(page, 'New key').getByRole('button', { name: 'Copy the key' }).click();
  expect(await part(page, 'New key').locator('.secret code').innerText()).toMatch(/^hb_/);
});

task('creates a connection, which is checked', async (page) => {
  await to(page, 'Connections');
  await page.getByRole('link', { name: 'New connection' }).click();
  // A person chooses by typing the first letters.
  await page.getByLabel('Hauler').selectOption({ label: 'Red Mesa Hauling' });
  await page.getByLabel('Address of the partner').fill(scene.service.url);
  await page.getByLabel('Key that the partner issued').fill(scene.demo.keys.partner);
  await page.getByRole('button', { name: 'Create and check the connection' }).click();
  await part(page, 'Result of the check').getByText('Reachable').waitFor();
  expect((await list<{ haulerId: string }>('/connections?pageSize=1'))[0]?.haulerId).not.toBe(DEMO.haulerId);
});

task('finds an account', async (page) => {
  await to(page, 'Accounts');
  await page.getByLabel('Name, number or e-mail').fill('lone star');
  await page.getByRole('link', { name: 'Lone Star Demolition LLC' }).click();
  await part(page, 'Account').getByText('dana@example.com').waitFor();
});

task('replays a push', async (page) => {
  await part(page, 'Needs attention')
    .getByRole('link', { name: /refused: 400/ })
    .first()
    .click();
  await page.getByRole('link', { name: 'POST createTicket' }).first().click();
  await page.getByRole('button', { name: 'Replay' }).click();
  await page
    .getByRole('group', { name: /^Replay/ })
    .getByRole('button', { name: /^Replay/ })
    .click();
  await page.getByText(/The response was 400 and is now 400/).waitFor();
});

task('simulates a fault, and ends it', async (page) => {
  await to(page, 'Sandbox');
  await page.getByRole('switch', { name: 'server-error' }).click();
  await part(page, 'Simulated faults').getByText('server-error for Demo Hauling').waitFor();
  await part(page, 'Simulated faults').getByRole('button', { name: 'End server-error' }).click();
  await part(page, 'Simulated faults').waitFor({ state: 'detached' });
});

task('checks a connection with the read-only token, and can change nothing', async () => {
  const page = await scene.visitor();
  await count(page);
  await signIn(page, READ_TOKEN);
  await part(page, 'Needs attention').waitFor();
  clicks = 0;
  await to(page, 'Connections');
  await page.getByRole('link', { name: 'Demo Hauling, site' }).click();
  await page.getByRole('button', { name: 'Check this partner now' }).click();
  await part(page, 'Result of the check').waitFor();
  expect(await page.getByRole('button', { name: 'Delete this connection' }).isDisabled()).toBe(true);
  return page;
});

task('sees as a partner what became of a push', async () => {
  const page = await scene.visitor();
  await count(page);
  await signIn(page, scene.demo.keys.platform, 'API key of a partner');
  await page.getByRole('link', { name: 'POST createTicket' }).first().waitFor();
  clicks = 0;
  await page.getByRole('link', { name: 'POST createTicket' }).first().click();
  await part(page, 'Request body').waitFor();
  return page;
});

task('shares an address that shows the same to a colleague', async (page) => {
  await to(page, 'Tickets');
  await page.getByLabel('Ticket number').fill('20481');
  await page.waitForURL(/search=20481/);
  await page.getByText('10 records', { exact: true }).waitFor();
  const colleague = await scene.visitor();
  await signIn(colleague, READ_TOKEN);
  await colleague.goto(page.url());
  await colleague.getByText('10 records', { exact: true }).waitFor();
  expect(await colleague.getByLabel('Ticket number').inputValue()).toBe('20481');
  return colleague;
});
