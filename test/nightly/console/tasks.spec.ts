import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { flow, type Hauler, SITES_ROUTE, TICKET } from '../../acceptance/support/hauler.js';
import { startOwnService } from '../../acceptance/support/service.js';
import { call } from '../../acceptance/support/target.js';
import { VisionScene } from '../../acceptance/support/vision.js';
import { eventually } from '../../support/eventually.js';
import { failRecording } from '../../support/rows.js';
import { sampleVideo } from '../../support/sample-video.js';
import { html, refuses } from '../../support/scripted-partner.js';
import { CONTINUOUS, element, inHours, lists } from '../../support/scripted-vision.js';
import { idOf, kiosk, material, site } from '../../support/site-data.js';
import {
  ask,
  type ConsoleScene,
  database,
  exchanges,
  list,
  nameOf,
  newHauler,
  part,
  startConsole,
  target,
} from '../../console/support/console.js';
import { DEMO, VIEWER_TOKEN } from '../../console/support/demo.js';
import { accessibilityFindings } from '../../console/support/page-checks.js';
import { savedCsv } from '../../console/support/saved.js';

let scene: ConsoleScene;
beforeAll(async () => void (scene = await startConsole()));
afterAll(() => scene.close());
afterEach(async () => expect(await scene.endCase()).toEqual([]));

const YARD = {
  sites: [site('yard', { name: 'Onion Creek' })],
  kiosks: [kiosk('north', 'yard')],
  materials: ['debris', 'concrete'].map((each) =>
    material(each, { siteId: idOf('yard'), materialType: `Type ${each}` }),
  ),
};

describe('an admin with reports', () => {
  let other: Hauler;
  beforeAll(async () => {
    other = await newHauler({ sites: YARD });
    for (const [i, unitOfMeasure] of ['Ton', 'Pound', 'Cubic Yard'].entries()) {
      const quantity = unitOfMeasure === 'Pound' ? 3_000 : 12.5;
      const materials = [{ ...TICKET.materials[0], unitOfMeasure, quantity }];
      const customFields = i === 0 ? { truck: 'T-7' } : {};
      await other.push({ materials, inboundFlow: flow(`REPORT-${i}`), customFields });
    }
    await other.createAccount({ accountName: '=Sum & Sons' });
    await exchanges(`haulerId=${other.id}`);
  });

  it('sums the tons of this month by site, with units without a weight apart, and saves the same as CSV', async () => {
    const { page, follow, region } = scene;
    await follow('Reports');
    const report = region('Tonnage');
    await page.getByLabel(/^Hauler/).selectOption(other.id);
    await report.getByText('14 tons').first().waitFor();
    const total = await report.getByRole('status').innerText();
    expect(total).toMatch(/^14 tons on \d+ tickets and without a weight: 12\.5 Cubic Yard$/);
    const rows = await report.getByRole('row').allInnerTexts();
    expect(rows.map((row) => row.split(/\s*\t\s*/).map((cell) => cell.trim()))).toEqual([
      ['Name', 'Tons', 'Tickets', 'Cubic Yard'],
      ['Onion Creek', '14', '3', '12.5'],
    ]);
    const csv = await savedCsv(page, report.getByRole('button', { name: 'Save as CSV' }));
    expect(csv).toMatchObject({
      hasMark: true,
      rows: [{ name: 'Onion Creek', tons: '14', 'other.Cubic Yard': '12.5' }],
    });
    expect(csv.name).toMatch(/^reports-tonnage-\d{4}-\d\d-\d\d\.csv$/);
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('groups by material, day and custom field, and by own days', async () => {
    const { page, visit, region } = scene;
    await visit(`reports?haulerId=${other.id}`);
    const report = region('Tonnage');
    const shows = (...expected: unknown[]) =>
      eventually(async () => expect(await report.locator('tbody th').allInnerTexts()).toEqual(expected));
    await page.getByLabel(/^By/).selectOption('Material');
    await shows('Debris');
    await page.getByLabel(/^By/).selectOption('Day');
    await shows(expect.stringMatching(/^\d{4}-\d\d-\d\d$/));
    await page.getByLabel(/^By/).selectOption('Custom field');
    await page.getByText('Type the name of a custom field.').waitFor();
    await page.getByLabel('Name of the custom field').fill('truck');
    await shows('T-7', 'without the field');
    await page.getByLabel(/^Time(?! zone)/).selectOption('Own days');
    await page.getByLabel('First day').fill('2020-01-01');
    await page.getByLabel('Last day').fill('2020-01-31');
    await report.getByText('No ticket in this time.').waitFor();
    await page.getByLabel('Last day').fill('2019-01-31');
    await page.getByText('Choose a first and a last day.').waitFor();
  });

  it('saves the list of each page with its filters as CSV', async () => {
    const { page, visit } = scene;
    const [run] = await list<{ id: string }>(`/sync-runs?haulerId=${other.id}`);
    const demo = `haulerId=${DEMO.haulerId}`;
    const [vision] = await list<{ id: string }>(`/connections?interface=vision&${demo}`);
    const day = 'from=2026-01-31T00:00:00.000Z&to=2026-02-01T00:00:00.000Z&zone=UTC';
    const PAGES: readonly [address: string, name: RegExp, column: string, count?: number][] = [
      [`tickets?haulerId=${other.id}&search=REPORT-1`, /^tickets-/, 'materials.name', 1],
      [`accounts?haulerId=${other.id}`, /^accounts-/, 'accountName', 1],
      [`recordings?view=list&${demo}`, /^recordings-/, 'cameraId'],
      [`coverage?connectionId=${vision?.id}&truckId=${DEMO.truckId}&${day}`, /^coverage-/, 'state'],
      [`coverage?${day}`, /^coverage-fleet-/, 'truckId'],
      [`exchanges?haulerId=${other.id}&direction=inbound&interface=account`, /^exchanges-/, 'route', 1],
      [`sync?run=${run?.id}`, /^sync-runs-.*-changes-/, 'externalId', 4],
    ];
    for (const [address, file, column, rows] of PAGES) {
      await visit(address);
      const csv = await savedCsv(page, page.getByRole('button', { name: 'Save as CSV' }).first());
      expect([address, csv.name, csv.hasMark]).toEqual([address, expect.stringMatching(file), true]);
      expect([address, csv.rows.length]).toEqual([address, rows ?? expect.any(Number)]);
      expect([address, csv.text.split('\r\n')[0]]).toEqual([address, expect.stringContaining(column)]);
    }
  });
});

describe('a partner with the key of a connection', () => {
  const keyOf = async (connectionId: string) =>
    (await ask<{ key: string }>('POST', '/api-keys', { connectionId, name: 'partner' })).key;
  const pageOf = async (apiKey: string) => {
    const page = await scene.visitor({ apiKey });
    await page.goto('/console');
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    return page;
  };
  const pages = (page: Page) => page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts();

  it('of Site sees what needs attention, records in quarantine and calls that failed', async () => {
    const other = await newHauler({ sites: { sites: [site('north'), site('bad', { name: 7 })] } });
    const { connectionId, partner } = await other.siteConnection();
    partner.on(SITES_ROUTE, refuses(403, 'UNAUTHORIZED', 'closed on Sundays'), html());
    for (let n = 0; n < 2; n++) await ask('POST', `/connections/${connectionId}/check`);
    await exchanges(`connectionId=${connectionId}`);
    const page = await pageOf(await keyOf(connectionId));
    expect(await pages(page)).toEqual(['Home', 'Exchanges', 'Synchronisation']);
    await part(page, 'Connection').getByText(partner.url).waitFor();
    const items = part(page, 'Needs attention');
    await items.getByRole('link', { name: '1 of 2 records could not be stored as sent.' }).waitFor();
    await page.getByText(/^\d checks passed$/).waitFor();
    expect(await items.getByText(await nameOf(other)).count()).toBe(0);
    expect(await accessibilityFindings(page)).toEqual([]);

    await page.goto('/console/exchanges?status=4xx');
    await page.getByRole('link', { name: 'List of the sites' }).first().click();
    await page.getByText('closed on Sundays').first().waitFor();
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await items.getByRole('link', { name: '1 of 2 records could not be stored as sent.' }).click();
    await part(page, 'Quarantine').getByText('sites[1].name').first().waitFor();
    await part(page, 'Changes').getByText('Site north').first().waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'All runs' }).click();
    await part(page, 'Runs').getByText('succeeded').waitFor();
  });

  it('of Vision sees unread times, errors in its lists, and failed recordings to try again', async () => {
    const vision = await VisionScene.create({ service: target });
    const { connectionId, partner } = vision;
    const times = { startTime: inHours(-2), endTime: inHours(-1.9), durationSeconds: 360 };
    const listed = lists('recordings', () => [
      element({ id: 'whole', ...times, downloadUrl: partner.link(sampleVideo()) }),
      element({ id: 'no-start', startTime: 'yesterday' }),
    ]);
    const refused = refuses(400, 'INVALID_PAYLOAD', 'no such truck today');
    partner.on(CONTINUOUS, (response, request) =>
      (request.query.get('truckId') === 'TRUCK-8' ? refused : listed)(response, request),
    );
    for (const truckId of ['TRUCK-7', 'TRUCK-8']) await vision.follow({ truckId, startTime: inHours(-4) });
    const [recording] = await vision.recordingsBecome([{ status: 'stored' }]);
    const page = await pageOf(await keyOf(connectionId));
    expect(await pages(page)).toEqual(['Home', 'Exchanges', 'Recordings']);
    // A change of the key, as `nudge` makes, would forget the failures after which a time is put aside.
    const headers = { 'API-KEY': vision.connectionKey };
    await eventually(
      async () => {
        await call('POST', '/partner/v1/pokes', { headers, body: { truckId: 'TRUCK-8' } }, target);
        const unread = part(page, 'Times that were not read').getByText('no such truck today');
        expect(await unread.count()).toBeGreaterThan(0);
      },
      undefined,
      1_000,
    );
    // Another list would revive the recording.
    await ask('PATCH', `/connections/${connectionId}`, { enabled: false });
    await failRecording(database, recording?.id ?? '');
    await page.reload();
    await part(page, 'Times that were not read').getByText('no such truck today').first().waitFor();
    await part(page, 'Errors in your lists').getByText('data.recordings[1].startTime').first().waitFor();
    const items = part(page, 'Needs attention');
    await items.getByText('The lists of TRUCK-8 could not be read').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await items.getByRole('link', { name: '1 recording of TRUCK-7 failed: 1 no whole MP4.' }).click();
    const failed = part(page, 'Recordings');
    await failed.getByText('The file is not a valid MP4.').waitFor();
    await failed.getByRole('button', { name: 'Fetch this recording again' }).click();
    await page.getByLabel('State').selectOption('');
    await failed.getByText('TRUCK-7, front').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });
});

describe('an empty service', () => {
  it('leads step by step to its first hauler, its keys, its partners and its trucks, and shows the day', async () => {
    const empty = await startOwnService({ env: { ADMIN_TOKENS: `eye:${VIEWER_TOKEN}:viewer` } });
    const reader = await scene.visitor({ token: VIEWER_TOKEN }, empty.url);
    await reader.goto('/console');
    await reader.getByText('an admin creates the first one').waitFor();
    expect(await reader.getByRole('button', { name: 'Create the hauler' }).count()).toBe(0);

    const page = await scene.visitor({ token: empty.adminToken }, empty.url);
    await page.goto('/console');
    await page.getByLabel('Name of the hauler').fill('Green Valley Hauling');
    const id = page.getByRole('textbox', { name: /^Id/ });
    await id.fill('not-a-uuid');
    await page.getByRole('button', { name: 'Create the hauler' }).click();
    // What the service refuses stands beside its field, which has the focus, and what was typed stays.
    await page.getByRole('alert').getByText('Must be a UUID').waitFor();
    expect(await id.getAttribute('aria-describedby')).toBe(await page.getByRole('alert').getAttribute('id'));
    expect(await page.locator(':focus').inputValue()).toBe('not-a-uuid');
    expect(await accessibilityFindings(page)).toEqual([]);
    await id.fill(DEMO.haulerId);
    await page.getByRole('button', { name: 'Create the hauler' }).click();
    await page.getByRole('link', { name: 'Next: issue a key' }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    // The browser also reports the 404 of a setting that does not exist yet.
    scene.expectErrors('400', '/ticket-footage');

    await page.getByRole('link', { name: 'Next: issue a key for the partner' }).click();
    await page.getByLabel('Name', { exact: false }).first().fill('Weighbridge north');
    await page.getByRole('button', { name: 'Issue the key' }).click();
    const key = (await part(page, 'New key').locator('.secret code').innerText()).trim();
    const next = async (step: string) => {
      await page.getByRole('link', { name: 'Next step of this hauler' }).click();
      await page.getByRole('link', { name: `Next: ${step}` }).click();
    };
    await next('connect the partner who lists disposal sites (Site)');
    await connectToDemo(page);
    await next('connect the partner who records videos (Vision)');
    await connectToDemo(page);
    await page.getByRole('link', { name: 'Follow the cameras of a truck' }).click();
    await page.getByRole('textbox', { name: /^Truck/ }).fill(DEMO.truckId);
    await page.getByRole('button', { name: 'Follow this truck' }).click();
    await part(page, 'Followed trucks').getByRole('cell', { name: 'all cameras' }).waitFor();
    await eventually(async () => {
      const { body } = await empty.admin<{ data: unknown[] }>('GET', '/recordings?status=stored');
      expect(body.data.length).toBeGreaterThan(0);
    });
    await pushDay(empty.url, key);
    await page.getByRole('link', { name: 'Haulers', exact: true }).click();
    await page.getByRole('link', { name: 'Green Valley Hauling' }).click();
    await part(page, 'Set up')
      .getByText(/^Key last used/)
      .waitFor();
    expect(await part(page, 'Set up').getByRole('link', { name: /^Next/ }).count()).toBe(0);
    await showsTheDay(page);
    expect(await part(page, 'Set up').count()).toBe(0);
    await page.close();
    await reader.close();
    await empty.end();
  }, 120_000);

  async function connectToDemo(page: Page): Promise<void> {
    expect(await page.getByLabel('Hauler').locator('option:checked').innerText()).toBe('Green Valley Hauling');
    await page.getByLabel('Address of the partner').fill(target.url);
    await page.getByLabel('Key that the partner issued').fill(target.keys.partner);
    await page.getByRole('button', { name: 'Create and check the connection' }).click();
    const answers = part(page, 'Result of the check').getByRole('listitem');
    await answers.first().waitFor();
    expect((await answers.allInnerTexts()).slice(0, 2)).toEqual(['yes Reachable', 'yes Accepts the key']);
  }

  /** With the first use of the key the hauler is live. */
  async function pushDay(url: string, key: string): Promise<void> {
    const push = (quantity: number, updatedAt = '2026-01-31T08:01:00Z') =>
      fetch(`${url}/platform-api/v1/tickets`, {
        method: 'POST',
        headers: { 'PLATFORM-API-KEY': key, 'Content-Type': 'application/json' },
        body: JSON.stringify({
          siteId: DEMO.siteId,
          materials: [{ id: DEMO.materialId, name: 'Debris', unitOfMeasure: 'Ton', quantity }],
          inboundFlow: { ticketNumber: 'IN-1', updatedAt },
        }),
      });
    const answers = [await push(1), await push(2), await push(2), await push(3, 'yesterday')];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 400]);
  }

  /** The first page has what came in today, and its checks. */
  async function showsTheDay(page: Page): Promise<void> {
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    const number = (name: string) => page.getByRole('group', { name, exact: true }).getByRole('paragraph').first();
    await number('Tickets').getByText('1', { exact: true }).waitFor();
    await number('Refused calls').getByRole('link', { name: '1', exact: true }).click();
    await page.getByRole('link', { name: 'Push of a ticket' }).first().waitFor();
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await page.getByText(/^\d+ checks passed$/).waitFor();
  }
});
