import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DEMO, DEMO_SITE_DATA } from '../../src/demo/demo-data.js';
import { accessibilityFindings, type ConsoleScene, startConsole } from '../support/console.js';
import { eventually } from '../support/eventually.js';

const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=1</script>';

let scene: ConsoleScene;
beforeAll(async () => {
  scene = await startConsole();
  await seed();
}, 90_000);
afterAll(() => scene.close());
afterEach(() => expect(scene.complaints.splice(0)).toEqual([]));

/** Tickets with several pushes, accounts, and one text that tries to become markup. */
async function seed(): Promise<void> {
  const { service, demo } = scene;
  const headers = { 'PLATFORM-API-KEY': demo.keys.platform };
  const material = { id: DEMO.materialId, name: 'Mixed construction debris', unitOfMeasure: 'Ton' };
  const push = (ticketNumber: string, quantity: number, driver: string, minute: number) =>
    service.call('POST', '/platform-api/v1/tickets', {
      headers,
      body: {
        siteId: DEMO.siteId,
        materials: [{ ...material, quantity }],
        inboundFlow: { ticketNumber, updatedAt: `2026-01-31T08:${String(minute).padStart(2, '0')}:00Z` },
        customFields: { driver },
      },
    });
  for (let i = 10; i < 35; i++) await push(`IN-2048${i}`, 10 + i, 'Dana Reyes', 1);
  await push('IN-204817', 13.5, HOSTILE, 2);
  for (const accountName of ['Lone Star Demolition LLC', `${HOSTILE} & Sons`]) {
    await service.call('POST', '/platform-api/v1/accounts', {
      headers,
      body: { accountName, primaryContact: { firstName: 'Dana', lastName: 'Reyes', email: 'dana@example.com' } },
    });
  }
}

describe('the tickets page', () => {
  it('finds a ticket by a part of its number and shows its story in two clicks', async () => {
    const { page, region } = scene;
    await page.getByRole('link', { name: 'Tickets' }).click();
    await page.getByLabel('Ticket number').fill('204817');
    await page.waitForURL(/search=204817/);
    await page.getByRole('link', { name: 'IN-204817' }).click();
    const contents = region('Contents');
    await contents.getByText('Onion Creek Transfer Station').waitFor();
    expect(await contents.getByText(HOSTILE).count()).toBe(1);
    const differences = region('Differences');
    expect(await differences.getByRole('row').allInnerTexts()).toEqual(
      expect.arrayContaining([expect.stringMatching(/materials\[0\]\.quantity\s+27\s+13\.5/)]),
    );
    expect(await page.title()).toBe('Tickets · haulbridge console');
    expect(await accessibilityFindings(page)).toEqual([]);
  }, 30_000);

  it('keeps its state in the address: a reload and the way back show the same', async () => {
    const { page, visit } = scene;
    await visit('tickets?page=2');
    await page.getByText('page 2 of 2').waitFor();
    await page.getByLabel('Ticket number').fill('204812');
    await page.getByText('1 record', { exact: true }).waitFor();
    await page.reload();
    await page.getByText('1 record', { exact: true }).waitFor();
    expect(await page.getByLabel('Ticket number').inputValue()).toBe('204812');
    expect(await accessibilityFindings(page)).toEqual([]);
  }, 30_000);

  it('says what to do where nothing matches, and where an id does not exist', async () => {
    const { page, visit } = scene;
    await visit('tickets?search=nothing');
    await page.getByText('Nothing matches these filters.').waitFor();
    await visit('tickets?id=0197a1d0-51aa-7e20-b1c4-3a5c7e9f1b24');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toMatch(/the record was deleted/);
    // The browser reports the 404 itself.
    expect(scene.complaints.splice(0).filter((each) => !each.includes('404'))).toEqual([]);
  }, 30_000);
});

describe('the accounts page', () => {
  it('finds an account by a part of its name, and shows a hostile name as text', async () => {
    const { page, region, visit } = scene;
    await visit('accounts');
    await page.getByRole('link', { name: HOSTILE }).waitFor();
    await page.getByLabel('Name, number or e-mail').fill('lone star');
    await page.getByText('1 record', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Lone Star Demolition LLC' }).click();
    await region('Account').getByText('dana@example.com').waitFor();
    expect(await page.title()).toBe('Accounts · haulbridge console');
    expect(await accessibilityFindings(page)).toEqual([]);
  }, 30_000);
});

describe('the home page', () => {
  it('leads to a held run, which is confirmed in two clicks', async () => {
    const { page, service, region, visit } = scene;
    await service.admin('PUT', `/hosted/haulers/${DEMO.haulerId}/site-data`, { ...DEMO_SITE_DATA, materials: [] });
    const connections = await service.admin<{ data: { id: string }[] }>('GET', '/connections?interface=site');
    await service.admin('POST', `/connections/${connections.body.data[0]?.id}/sync`);
    const runs = () => service.admin<{ data: { status: string }[] }>('GET', '/sync-runs?pageSize=1');
    await eventually(async () => expect((await runs()).body.data[0]?.status).toBe('held'));
    await visit('');
    await region('Held synchronisations').getByText('would remove 5 records').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);

    await region('Held synchronisations').getByRole('link', { name: 'Demo Hauling' }).click();
    await region('Held removals').getByText('lacks 5 of 5 active materials (100 %)').waitFor();
    await region('Records that would be removed').getByRole('cell', { name: 'Municipal solid waste' }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Confirm the removals' }).click();
    await region('Run').getByText('succeeded').waitFor();
    expect((await runs()).body.data[0]?.status).toBe('succeeded');
  }, 40_000);

  it('counts refused pushes by reason, and leads to the exchange that explains it', async () => {
    const { page, service, demo, region, visit } = scene;
    const body = { siteId: DEMO.siteId, materials: [], inboundFlow: { ticketNumber: 'IN-99', updatedAt: 'yesterday' } };
    const headers = { 'PLATFORM-API-KEY': demo.keys.platform };
    expect((await service.call('POST', '/platform-api/v1/tickets', { headers, body })).status).toBe(400);
    await visit('');
    const refused = region('Refused pushes by reason, last day');
    await refused.getByText('INVALID_PAYLOAD').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await refused.getByRole('link', { name: '400 INVALID_PAYLOAD' }).click();
    await page.getByRole('link', { name: 'POST createTicket' }).first().click();
    await region('Exchange').getByText('POST /platform-api/v1/tickets received 400').waitFor();
    await region('Request body').getByText('"IN-99"').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  }, 40_000);
});

describe('the home page, below', () => {
  it('shows the day in pictures; an hour leads to its exchanges', async () => {
    const { page, visit } = scene;
    await visit('');
    const tickets = page.getByRole('group', { name: 'Pushed tickets' });
    for (const total of ['created 25', 'updated 1', 'unchanged 0', 'refused 1']) {
      await tickets.getByRole('listitem').filter({ hasText: total }).waitFor();
    }
    expect(await tickets.getByRole('link').count()).toBe(24);
    await tickets
      .getByRole('link', { name: /: \d+ created/ })
      .last()
      .click();
    await page.waitForURL(/interface=scale.*from=/);
    await page.getByRole('link', { name: 'POST createTicket' }).first().waitFor();
  }, 30_000);
});

describe('the synchronisation page', () => {
  it('rejects a held run with a note, and compares it with the run before', async () => {
    const { page, service, region, visit } = scene;
    await service.admin('PUT', `/hosted/haulers/${DEMO.haulerId}/site-data`, {
      ...DEMO_SITE_DATA,
      kiosks: [],
      materials: [],
    });
    const connections = await service.admin<{ data: { id: string }[] }>('GET', '/connections?interface=site');
    const { body } = await service.admin<{ runId: string }>(
      'POST',
      `/connections/${connections.body.data[0]?.id}/sync`,
    );
    await visit(`sync?run=${body.runId}`);
    await page.getByLabel('Note for a rejection').fill('The export was empty');
    await page.getByRole('button', { name: 'Reject' }).click();
    await region('Run').getByText('Rejected: The export was empty').waitFor();
    await region('Changes').getByRole('cell', { name: 'Inbound scale' }).waitFor();
    await page.getByLabel('Other run').selectOption({ index: 1 });
    await region('Compared records')
      .getByRole('row', { name: /Municipal solid waste/ })
      .waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  }, 40_000);

  it('shows the runs as bars, and one run with its counts', async () => {
    const { page, region } = scene;
    await page.getByRole('link', { name: 'Synchronisation' }).click();
    const bars = page.getByRole('link', { name: /succeeded, \d+ created/ });
    await bars.first().waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await bars.first().click();
    await region('Counts')
      .getByRole('row', { name: /^created 2 3 5/ })
      .waitFor();
    await page.getByText('None: every record was valid.').waitFor();
  }, 30_000);
});

describe('the exchanges page', () => {
  it('finds the pushes of a ticket, and shows what changed since the attempt before', async () => {
    const { page, region, visit } = scene;
    await visit('exchanges');
    await page.getByLabel('Reference').fill('ticketNumber:IN-204817');
    await page.waitForURL(/reference=/);
    await page.getByRole('link', { name: 'POST createTicket' }).first().waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'POST createTicket' }).first().click();
    const changed = region('Earlier attempt').getByRole('row', { name: /materials\[0\]\.quantity/ });
    expect(await changed.innerText()).toMatch(/27\s+13\.5/);
    await region('Request')
      .getByText(/^Headers/)
      .click();
    await region('Request').getByText('[redacted]').first().waitFor();
  }, 30_000);

  it('replays a refused push after its cause is gone, one or all of a filter', async () => {
    const { page, service, demo, region, visit } = scene;
    const headers = { 'PLATFORM-API-KEY': demo.keys.platform };
    const id = 'f2a1c3d4-5b6e-4f70-8a91-b2c3d4e5f607';
    const body = {
      siteId: DEMO.siteId,
      materials: [{ id, name: 'Asphalt', unitOfMeasure: 'Ton', quantity: 1 }],
      inboundFlow: { ticketNumber: 'IN-7001', updatedAt: '2026-01-31T08:00:00Z' },
    };
    expect((await service.call('POST', '/platform-api/v1/tickets', { headers, body })).status).toBe(422);
    const [first, ...others] = DEMO_SITE_DATA.materials;
    const materials = [first, ...others, { ...first, id, materialType: 'Asphalt' }];
    await service.admin('PUT', `/hosted/haulers/${DEMO.haulerId}/site-data`, { ...DEMO_SITE_DATA, materials });
    const connections = await service.admin<{ data: { id: string }[] }>('GET', '/connections?interface=site');
    await service.admin('POST', `/connections/${connections.body.data[0]?.id}/sync`);
    await eventually(async () => {
      const found = await service.admin<{ data: { externalId: string }[] }>('GET', '/materials?active=true&pageSize=1');
      expect(found.body.data[0]?.externalId).toBe(id);
    });

    await visit('exchanges?reference=ticketNumber:IN-7001');
    await page.getByRole('link', { name: 'POST createTicket' }).click();
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('The push is processed again').waitFor();
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText(/The response was 422 and is now 200/).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'open the new exchange' }).click();
    await region('Exchange').getByText('the exchange before').waitFor();

    await visit('exchanges?reference=ticketNumber:IN-7001&status=422');
    await page.getByRole('button', { name: 'Replay all of these …' }).click();
    await page.getByText('1 of 1 exchanges are sent again as they were.').waitFor();
    await page.getByRole('button', { name: 'Replay all', exact: true }).click();
    await page.getByText('1 of 1 exchanges were replayed.').waitFor();
  }, 40_000);
});
