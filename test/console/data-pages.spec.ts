import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DEMO, DEMO_SITE_DATA } from '../../src/demo/demo-data.js';
import { accessibilityFindings, type ConsoleScene, press, signIn, startConsole } from './console-pages.js';
import { eventually } from '../support/eventually.js';

const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=1</script>';

let scene: ConsoleScene;
/** The id of the demo's site connection. */
let connectionId: string;
/** The pushed tickets by result before the first case. */
let seeded: number[];
beforeAll(async () => {
  scene = await startConsole();
  connectionId = (await list<{ id: string }>('/connections?interface=site'))[0]?.id ?? '';
  await seed();
  seeded = await ticketCounts();
}, 90_000);
afterAll(() => scene.close());
afterEach(async () => expect(await scene.endCase()).toEqual([]));

const ticketOf = (ticketNumber: string, quantity: number) => ({
  materials: [{ id: DEMO.materialId, name: 'Mixed construction debris', unitOfMeasure: 'Ton', quantity }],
  inboundFlow: { ticketNumber, updatedAt: '2026-01-31T08:01:00Z' },
  customFields: { driver: 'Dana Reyes' },
});

/** Tickets with several pushes, accounts, and one text that tries to become markup. */
async function seed(): Promise<void> {
  for (let i = 10; i < 35; i++) await pushTicket(ticketOf(`IN-2048${i}`, 10 + i));
  const flow = { ticketNumber: 'IN-204817', updatedAt: '2026-01-31T08:02:00Z' };
  await pushTicket({ ...ticketOf('IN-204817', 13.5), inboundFlow: flow, customFields: { driver: HOSTILE } });
  for (const accountName of ['Lone Star Demolition LLC', `${HOSTILE} & Sons`]) {
    await scene.service.call('POST', '/platform-api/v1/accounts', {
      headers: { 'PLATFORM-API-KEY': scene.demo.keys.platform },
      body: { accountName, primaryContact: { firstName: 'Dana', lastName: 'Reyes', email: 'dana@example.com' } },
    });
  }
}

const list = async <T>(path: string): Promise<T[]> => (await scene.service.admin<{ data: T[] }>('GET', path)).body.data;

interface Run {
  readonly id: string;
  readonly status: string;
}

/** Changes the partner's data, synchronises it, and returns the finished run. By default the data of the demo. */
async function synchronise(data: object = {}): Promise<Run> {
  const { service } = scene;
  await service.admin('PUT', `/hosted/haulers/${DEMO.haulerId}/site-data`, { ...DEMO_SITE_DATA, ...data });
  const { body } = await service.admin<{ runId: string }>('POST', `/connections/${connectionId}/sync`);
  return eventually(async () => {
    const run = await runOf(body.runId);
    expect(['queued', 'running']).not.toContain(run.status);
    return run;
  });
}

const runOf = async (id: string): Promise<Run> => (await scene.service.admin<Run>('GET', `/sync-runs/${id}`)).body;

const pushTicket = (body: object) =>
  scene.service.call('POST', '/platform-api/v1/tickets', {
    headers: { 'PLATFORM-API-KEY': scene.demo.keys.platform },
    body: { siteId: DEMO.siteId, ...body },
  });

/** A push that the service refuses because of its time. */
async function pushWrongTime(): Promise<void> {
  const { status } = await pushTicket({
    materials: [],
    inboundFlow: { ticketNumber: 'IN-99', updatedAt: 'yesterday' },
  });
  expect(status).toBe(400);
}

const TICKET_RESULTS = ['created', 'updated', 'unchanged', 'refused'] as const;

/** The pushed tickets of the last day by result. */
async function ticketCounts(): Promise<number[]> {
  await writtenExchanges();
  const { body } = await scene.service.admin<{ hours: { tickets: Record<string, number> }[] }>('GET', '/overview');
  return TICKET_RESULTS.map((name) => body.hours.reduce((sum, { tickets }) => sum + (tickets[name] ?? 0), 0));
}

/** A reader of the log waits until it has written what it holds. */
const writtenExchanges = () => list('/exchanges?pageSize=1');

describe('the tickets page', () => {
  it('finds a ticket by a part of its number and shows its story in two clicks', async () => {
    const { page, follow, region } = scene;
    await follow('Tickets');
    await page.getByLabel('Ticket number').fill('204817');
    await page.waitForURL(/search=204817/);
    await page.getByRole('link', { name: 'IN-204817' }).click();
    const contents = region('Contents');
    await contents.getByText('Onion Creek Transfer Station').waitFor();
    expect(await contents.getByText(HOSTILE).count()).toBe(1);
    const steps = region('Steps');
    await steps.getByText('Weight corrected from 27 to 13.5 t').waitFor();
    expect(await steps.getByRole('row').nth(1).innerText()).toMatch(
      /custom field driver changed .+\s+updated\s+push 2/s,
    );
    await page.getByText('Compare two pushes').click();
    const differences = region('Differences');
    await differences.waitFor();
    expect(await differences.getByRole('row').allInnerTexts()).toEqual(
      expect.arrayContaining([expect.stringMatching(/materials\[0\]\.quantity\s+27\s+13\.5/)]),
    );
    expect(await page.title()).toBe('Tickets · haulbridge console');
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('shows the story of a ticket: stale and refused pushes, newest first, each with its exchange', async () => {
    const { page, visit, region } = scene;
    const inboundFlow = { ticketNumber: 'IN-8101', updatedAt: '2026-01-31T07:00:00Z' };
    const pushed = await pushTicket(ticketOf('IN-8101', 14.9));
    await pushTicket({ ...ticketOf('IN-8101', 99), inboundFlow });
    await pushTicket({ ...ticketOf('IN-8101', 12), siteId: DEMO.materialId });
    await pushTicket(ticketOf('IN-8101', 12.48));
    await visit(`tickets?id=${String((pushed.body as Record<string, unknown>)['disposalTicketId'])}`);
    const steps = region('Steps').getByRole('row');
    await steps.nth(4).waitFor();
    expect((await steps.allInnerTexts()).slice(1)).toEqual([
      expect.stringMatching(
        /Weight corrected from 14\.9 to 12\.48 t\s+updated\s+push 3\s+hb_\S+ Demo: platform\s+open/,
      ),
      expect.stringMatching(/Refused \(422 siteExists\): site \S+ is unknown\s+refused\s+hb_\S+ Demo: platform\s+open/),
      expect.stringMatching(/Older than what is stored: nothing changed\s+stale\s+push 2/),
      expect.stringMatching(/Created with 14\.9 t of Mixed construction debris; inbound flow IN-8101\s+created/),
    ]);
    expect(await accessibilityFindings(page)).toEqual([]);
    await steps.nth(2).getByRole('link', { name: 'open' }).click();
    await region('Exchange').getByText('POST /platform-api/v1/tickets received 422').waitFor();
  });

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
  });

  it('says what to do where nothing matches, and where an id does not exist', async () => {
    const { page, visit } = scene;
    await visit('tickets?search=nothing');
    await page.getByText('Nothing matches these filters.').waitFor();
    await visit('tickets?id=0197a1d0-51aa-7e20-b1c4-3a5c7e9f1b24');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toMatch(/the record was deleted/);
    // The browser reports the 404 itself.
    scene.expectErrors('404');
  });
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
  });
});

describe('the home page', () => {
  it('leads to a held run, which is confirmed in two clicks', async () => {
    const { page, region, visit } = scene;
    await synchronise();
    const { id, status } = await synchronise({ materials: [] });
    expect(status).toBe('held');
    await visit('');
    const held = region('Needs attention').getByRole('listitem').filter({ hasText: 'Held synchronisation' });
    await held.getByText('Demo Hauling').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);

    await held.getByRole('link', { name: /The removal of 5 of 5 materials waits/ }).click();
    await region('Held removals').getByText('lacks 5 of 5 active materials (100 %)').waitFor();
    const site = region('Held removals').getByRole('listitem').filter({ hasText: 'Municipal solid waste' }).last();
    await site.getByText('would be removed').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove 5 materials' }).click();
    await region('Run').getByText('succeeded').waitFor();
    expect((await runOf(id)).status).toBe('succeeded');
  });

  it('shows a run with quarantined records as a matter of attention, and not as a plain success', async () => {
    const { region, service, visit } = scene;
    const { id } = await synchronise();
    await service.dataSource.query(
      `UPDATE sync_runs SET counts = jsonb_set(counts, '{materials,quarantined}', '135') WHERE id = $1`,
      [id],
    );
    const sentence = /^135 of \d+ records are in quarantine/;
    await visit('');
    await region('Needs attention')
      .getByRole('link', { name: /^135 of \d+ records could not be stored/ })
      .click();
    await region('Run').getByText(sentence).waitFor();
    expect(await region('Run').getByText('succeeded', { exact: true }).getAttribute('class')).toBe('badge warn');
    await visit('sync');
    expect(
      await scene.page
        .getByRole('row', { name: /135 of/ })
        .getByText('succeeded', { exact: true })
        .getAttribute('class'),
    ).toBe('badge warn');
  }, 40_000);

  it('counts refused pushes by reason, and leads to the exchange that explains it', async () => {
    const { page, region, visit } = scene;
    await pushWrongTime();
    await writtenExchanges();
    await visit('');
    const refused = region('Needs attention').getByRole('listitem').filter({ hasText: 'Refused pushes' });
    await refused.first().waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    // The link of each reason leads to all exchanges with the code, the newest first.
    await refused
      .getByRole('link', { name: /refused: 400/ })
      .first()
      .click();
    await page.getByRole('link', { name: 'POST createTicket' }).first().click();
    await region('Exchange').getByText('POST /platform-api/v1/tickets received 400').waitFor();
    await region('Request body').getByText('"IN-99"').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('shows the day in pictures; an hour leads to its exchanges', async () => {
    const { page, visit } = scene;
    const before = await ticketCounts();
    expect(seeded).toEqual([25, 1, 0, 0]);
    for (const quantity of [1, 2, 2]) expect((await pushTicket(ticketOf('IN-5001', quantity))).status).toBe(200);
    await pushWrongTime();
    const counts = await ticketCounts();
    expect(counts).toEqual(before.map((count) => count + 1));
    await visit('');
    const tickets = page.getByRole('group', { name: 'Pushed tickets' });
    for (const [index, name] of TICKET_RESULTS.entries()) {
      await tickets
        .getByRole('listitem')
        .filter({ hasText: `${name} ${counts[index]}` })
        .waitFor();
    }
    expect(await tickets.getByRole('link').count()).toBe(24);
    await tickets
      .getByRole('link', { name: /: \d+ created/ })
      .last()
      .click();
    await page.waitForURL(/interface=scale.*from=/);
    await page.getByRole('link', { name: 'POST createTicket' }).first().waitFor();
  });
});

describe('the synchronisation page', () => {
  it('rejects a held run with a note, and compares it with the run before', async () => {
    const { page, service, region, visit } = scene;
    await synchronise();
    const before = await synchronise({ materials: [] });
    await service.admin('POST', `/sync-runs/${before.id}/confirm`);
    await eventually(async () => expect((await runOf(before.id)).status).toBe('succeeded'));
    const { id } = await synchronise({ kiosks: [], materials: [] });
    await visit(`sync?run=${id}`);
    await page.getByLabel('Note, if you keep the stored data').fill('The export was empty');
    await page.getByRole('button', { name: 'Keep the stored data' }).click();
    await region('Run').getByText('Rejected: The export was empty').waitFor();
    await region('Changes').getByRole('cell', { name: 'Inbound scale' }).waitFor();
    await page.getByLabel('Other run').selectOption({ index: 1 });
    await region('Compared records')
      .getByRole('row', { name: /Municipal solid waste/ })
      .waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('shows the runs as bars, and one run with its counts', async () => {
    const { page, follow, region } = scene;
    await follow('Synchronisation');
    const bars = page.getByRole('link', { name: /succeeded, \d+ created/ });
    await bars.first().waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await bars.first().click();
    await region('Counts')
      .getByRole('row', { name: /^created 2 3 5/ })
      .waitFor();
    await page.getByText('None: every record was valid.').waitFor();
  });
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
  });

  it('replays a refused push after its cause is gone, one or all of a filter', async () => {
    const { page, region, visit } = scene;
    const id = 'f2a1c3d4-5b6e-4f70-8a91-b2c3d4e5f607';
    const materials = [{ id, name: 'Asphalt', unitOfMeasure: 'Ton', quantity: 1 }];
    expect((await pushTicket({ ...ticketOf('IN-7001', 1), materials })).status).toBe(422);
    const [first, ...others] = DEMO_SITE_DATA.materials;
    await synchronise({ materials: [first, ...others, { ...first, id, materialType: 'Asphalt' }] });
    expect((await list<{ externalId: string }>('/materials?active=true&pageSize=1'))[0]?.externalId).toBe(id);

    await visit('exchanges?reference=ticketNumber:IN-7001');
    await page.getByRole('link', { name: 'POST createTicket' }).click();
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('The push is processed again').waitFor();
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText(/The response was 422 and is now 200/).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'open the new exchange' }).click();
    await region('Exchange').getByText('the original exchange').waitFor();

    await visit('exchanges?reference=ticketNumber:IN-7001&status=422');
    await page.getByRole('button', { name: 'Count what can be replayed' }).click();
    await page.getByText('1 of 1 exchanges are sent again as they were.').waitFor();
    await page.getByRole('button', { name: 'Replay 1 exchange again' }).click();
    await page.getByText('1 of 1 exchanges were replayed.').waitFor();
  });
});

describe('the connections page', () => {
  it('creates a connection, checks it, and shows what the partner answered', async () => {
    const { page, service, follow, region } = scene;
    await follow('Connections');
    await page.getByRole('link', { name: 'New connection' }).click();
    await page.getByLabel('Hauler').selectOption({ label: 'Demo Hauling' });
    await page.getByLabel('Address of the partner').fill(service.url);
    await page.getByLabel('Key that the partner issued').fill('not-the-key');
    await page.getByRole('button', { name: 'Create' }).click();
    await region('Connection').getByText(service.url).waitFor();
    const answers = region('Result of the check').getByRole('listitem');
    await answers.first().waitFor();
    expect((await answers.allInnerTexts()).slice(0, 2)).toEqual(['yes Reachable', 'no Accepts the key']);
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('keeps what was typed where the service refuses it', async () => {
    const { page, visit } = scene;
    await visit('connections?new=1');
    await page.getByLabel('Hauler').selectOption({ label: 'Demo Hauling' });
    await page.getByLabel('Address of the partner').fill('ftp://partner.example');
    await page.getByLabel('Key that the partner issued').fill('some-key');
    await page.getByRole('button', { name: 'Create' }).click();
    const address = page.getByLabel('Address of the partner');
    await page.getByRole('alert').getByText(/http/).waitFor();
    expect(await address.getAttribute('aria-invalid')).toBe('true');
    expect(await address.inputValue()).toBe('ftp://partner.example');
    scene.expectErrors('400');
  });

  it('asks for the key of another host, and sends nothing without it', async () => {
    const { page, service, visit } = scene;
    await visit(`connections?id=${connectionId}`);
    await page.getByRole('button', { name: 'Change this connection' }).click();
    await page.getByLabel('Another key').waitFor();
    await page.getByLabel('Address of the partner').fill('http://127.0.0.1:1/moved');
    await page.getByRole('button', { name: 'Store the changes' }).click();
    // The browser refuses the empty field before a call.
    const key = page.getByLabel('Key for this address');
    const isMissing = (input: unknown) => (input as { validity: { valueMissing: boolean } }).validity.valueMissing;
    expect(await key.evaluate(isMissing)).toBe(true);
    await page.getByLabel('Address of the partner').fill(`${service.url}/`);
    await page.getByLabel('Another key').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
  });

  it('stores the next key, with the overlap as a picture, and pauses', async () => {
    const { page, service, visit, demo } = scene;
    // The partner accepts its current key: the next key waits.
    await visit(`connections?id=${connectionId}`);
    await page.getByRole('button', { name: 'Rotate the key' }).click();
    await page.getByRole('img', { name: /tries the next key/ }).waitFor();
    await page.getByLabel('Next key of the partner').fill(demo.keys.partner);
    await page.getByRole('button', { name: 'Store the next key' }).click();
    await page.getByText('tried when the current key is refused').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    const after = await list<{ id: string; enabled: boolean }>('/connections?interface=site');
    expect(after.find(({ id }) => id === connectionId)?.enabled).toBe(false);
    await service.admin('PATCH', `/connections/${connectionId}`, { enabled: true });
  });
});

describe('the keys page', () => {
  it('issues a key, shows it once with a copy button, rotates and revokes it', async () => {
    const { page, follow, region } = scene;
    await follow('API keys');
    await page.getByRole('link', { name: 'New key' }).click();
    await page.getByLabel('Name', { exact: false }).first().fill('Weighbridge north');
    await page.getByLabel('scale', { exact: true }).check();
    await page.locator('select[name=haulerId]').selectOption({ label: 'Demo Hauling' });
    await page.getByRole('button', { name: 'Issue the key' }).click();
    const card = region('New key');
    const key = (await card.locator('.secret code').innerText()).trim();
    expect(key).toMatch(/^hb_/);
    await card.getByRole('button', { name: 'Copy the key' }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    const push = await scene.service.call('POST', '/platform-api/v1/tickets', {
      headers: { 'PLATFORM-API-KEY': key },
      body: {},
    });
    expect(push.status).toBe(400);
    await card.getByRole('button', { name: 'I have stored the key' }).click();
    expect(await page.getByText(key).count()).toBe(0);

    const row = page.getByRole('row', { name: /Weighbridge north/ }).first();
    await row.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('img', { name: /works until the new one is first used/ }).waitFor();
    await page.getByLabel('Overlap after the first use').selectOption({ label: '1 hour' });
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Rotate the key' }).click();
    await region('New key').getByRole('img').waitFor();
    await page.getByRole('button', { name: 'I have stored the key' }).click();
    // The list has been read again: the new key is the first one.
    await page
      .getByRole('row', { name: /Weighbridge north/ })
      .nth(1)
      .waitFor();
    await row.getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('fail within 5 s').waitFor();
    await row.getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('revoked').waitFor();
  });
});

describe('the sandbox page', () => {
  it('switches a scenario on and off, and moves the clock', async () => {
    const { page, service, demo, follow } = scene;
    await follow('Sandbox');
    await page.getByLabel('Scenarios of').selectOption({ label: 'Hauler Demo Hauling' });
    const toggle = page.getByRole('switch', { name: 'server-error' });
    const row = page.getByRole('listitem').filter({ has: toggle });
    const pressed = Date.now();
    await toggle.click();
    const countdown = await row.getByText(/ends in \d+:\d\d/).innerText();
    const [, minutes, seconds] = /ends in (\d+):(\d\d)/.exec(countdown) ?? [];
    const left = Number(minutes) * 60 + Number(seconds);
    expect(left).toBeLessThanOrEqual(600);
    expect(left).toBeGreaterThanOrEqual(598 - (Date.now() - pressed) / 1_000);
    expect(await accessibilityFindings(page)).toEqual([]);
    const call = () =>
      service.call('GET', `/scale-platform/v1/sites?haulerId=${DEMO.haulerId}`, {
        headers: { 'API-KEY': demo.keys.partner },
      });
    expect((await call()).status).toBe(500);
    await toggle.click();
    await row.getByLabel('For').waitFor();
    await eventually(async () => expect((await call()).status).toBe(200));

    await page.getByLabel('Scenarios of').selectOption({ label: 'Customer Demo Hauling' });
    await page.getByRole('button', { name: 'Move it on by 1 hour' }).click();
    await page.getByText(/^It is now/).waitFor();
  });
});

describe('the actions page', () => {
  it('lists who changed what, and finds the changes of one resource', async () => {
    const { page, service, follow, region, visit } = scene;
    const key = await service.admin<{ id: string }>('POST', '/api-keys', { interfaces: ['site'] });
    await service.admin('DELETE', `/api-keys/${key.body.id}`);
    await visit(`connections?id=${connectionId}`);
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByRole('button', { name: 'Store' }).click();
    await page.getByRole('button', { name: 'Store' }).waitFor({ state: 'detached' });
    await follow('Actions');
    const sentence = 'An admin in the console changed the site connection of Demo Hauling.';
    const row = page.getByRole('row', { name: sentence }).first();
    await row.waitFor();
    await row.getByText(connectionId).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    const revoked = region('Actions').getByRole('row', { name: /An admin with the token revoked the key hb_/ });
    expect(await revoked.count()).toBeGreaterThan(0);
    await row.getByRole('link', { name: 'all actions on it' }).click();
    await page.waitForURL(/resource=connection/);
    await revoked.first().waitFor({ state: 'detached' });
  });

  it('goes on after row 10,000 of a list, and back', async () => {
    const { page, service, visit } = scene;
    await service.dataSource.query(
      `INSERT INTO actions (id, at, actor, action, resource)
       SELECT gen_random_uuid(), now() - n * interval '1 minute', 'admin', 'action ' || n, 'many' FROM generate_series(1, 10045) AS n`,
    );
    await visit('actions?resource=many&page=500');
    const position = page.locator('.pager').getByRole('status');
    const shows = async (text: string, firstAction: string) => {
      await page.getByText(text, { exact: true }).waitFor();
      await page.getByText(firstAction, { exact: true }).waitFor();
      expect(await position.innerText()).toBe(text);
    };
    await shows('10,000+ records, page 500 of 500+', 'action 9981');
    const next = page.getByRole('button', { name: 'Next', exact: true });
    for (const [number, first] of [
      [501, 'action 10001'],
      [502, 'action 10021'],
      [503, 'action 10041'],
    ] as const) {
      await next.click();
      await shows(`10,000+ records, page ${number}`, first);
    }
    expect(await next.isDisabled()).toBe(true);
    await page.goBack();
    await shows('10,000+ records, page 502', 'action 10021');
    await page.getByRole('button', { name: 'First page' }).click();
    await shows('10,000+ records, page 1 of 500+', 'action 1');
  });

  it('pages through the trucks of a large fleet', async () => {
    const { page, service, visit } = scene;
    await service.dataSource.query(
      `INSERT INTO video_subscriptions (hauler_id, id, connection_id, customer_id, truck_id, start_time, interval_seconds, enabled,
         read_until, created_at, updated_at)
       SELECT $1, gen_random_uuid(), gen_random_uuid(), 'c', 'many ' || lpad(n::text, 3, '0'), now() - interval '1 hour', 300, false, now(), now(), now()
       FROM generate_series(1, 360) AS n`,
      [DEMO.haulerId],
    );
    await visit(`coverage?haulerId=${DEMO.haulerId}&days=31&page=14`);
    await page.getByText('Trucks 313 to 336 of 361, the worst first').waitFor();
    await page.getByRole('button', { name: 'Next', exact: true }).click();
    await page.getByText('Trucks 337 to 360 of 361, the worst first').waitFor();
    await page.getByRole('rowheader', { name: 'many 350' }).waitFor();
    await service.dataSource.query("DELETE FROM video_subscriptions WHERE truck_id LIKE 'many %'");
  });
});

describe('the sign-in', () => {
  it('refuses a wrong token with a sentence, and ends with the sign-out', async () => {
    const { service, visitor } = scene;
    const page = await visitor();
    await page.goto('/console/tickets?page=2');
    await page.locator('input[name=secret]').fill('wrong-token-0123456789');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This is no token of the admin API.').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.locator('input[name=secret]').fill(service.env.ADMIN_TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Tickets', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
  });

  it('asks again when the session has ended, and keeps what was typed', async () => {
    const { page, visit, service } = scene;
    await visit('connections?new=1');
    await page.getByLabel('Address of the partner').fill('https://typed.example');
    await page.getByLabel('Hauler').getByRole('option', { name: 'Demo Hauling' }).waitFor({ state: 'attached' });
    await page.getByLabel('Key that the partner issued').fill('some-key');
    await page.context().clearCookies();
    await press(page.getByRole('button', { name: 'Create' }));
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.locator('input[name=secret]').fill(service.env.ADMIN_TOKEN);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Address of the partner').inputValue()).toBe('https://typed.example');
    scene.expectErrors('401');
  });

  it('with a key shows the pages of a partner: exchanges and sandbox', async () => {
    const { service, demo, visitor } = scene;
    const page = await visitor();
    await service.call('GET', `/scale-platform/v1/sites?haulerId=${DEMO.haulerId}`, {
      headers: { 'API-KEY': demo.keys.partner },
    });
    await signIn(page, demo.keys.partner, 'API key of a partner');
    const names = await page.getByRole('navigation').getByRole('link').allInnerTexts();
    expect(names).toEqual(['Exchanges', 'Sandbox']);
    await page.getByRole('link', { name: 'GET getSites' }).first().click();
    await page.getByText(/^The call GET \/scale-platform\/v1\/sites/).waitFor();
  });
});
