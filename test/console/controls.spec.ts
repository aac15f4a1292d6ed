import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DEMO } from '../../src/demo/demo-data.js';
import { eventually } from '../support/eventually.js';
import { accessibilityFindings, type ConsoleScene, signIn, startConsole } from './console-pages.js';

let scene: ConsoleScene;
beforeAll(async () => {
  scene = await startConsole();
}, 90_000);
afterAll(() => scene.close());
afterEach(async () => expect(await scene.endCase()).toEqual([]));

const list = async <T>(path: string): Promise<T[]> => (await scene.service.admin<{ data: T[] }>('GET', path)).body.data;
const platform = (path: string, body: object) =>
  scene.service.call<{ disposalTicketId: string }>('POST', `/platform-api/v1${path}`, {
    headers: { 'PLATFORM-API-KEY': scene.demo.keys.platform },
    body,
  });
const pushTicket = (ticketNumber: string, quantity: number) =>
  platform('/tickets', {
    siteId: DEMO.siteId,
    materials: [{ id: DEMO.materialId, name: 'Debris', unitOfMeasure: 'Ton', quantity }],
    inboundFlow: { ticketNumber, updatedAt: '2026-01-31T08:01:00Z' },
  });

describe('filters', () => {
  it('keep a space between two words that are typed slowly', async () => {
    const { page, visit } = scene;
    await platform('/accounts', { accountName: 'Lone Star Demolition' });
    await platform('/accounts', { accountName: 'Lone Pine' });
    await visit('accounts');
    await page.getByLabel('Name, number or e-mail').pressSequentially('Lone ');
    await page.waitForURL(/search=Lone$/);
    await page.getByText('2 records', { exact: true }).waitFor();
    await page.getByLabel('Name, number or e-mail').pressSequentially('Star');
    await page.getByText('1 record', { exact: true }).waitFor();
    expect(await page.getByLabel('Name, number or e-mail').inputValue()).toBe('Lone Star');
  });

  it('of a list are kept while one of its records is read', async () => {
    const { page, visit } = scene;
    await pushTicket('IN-1', 1);
    await visit('exchanges?direction=inbound&status=2xx');
    await page.getByRole('link', { name: 'POST createTicket' }).first().click();
    await page.getByRole('link', { name: 'All exchanges' }).click();
    await page.waitForURL(/exchanges\?direction=inbound&status=2xx$/);
    await visit('tickets?search=IN-1');
    await page.getByRole('link', { name: 'IN-1', exact: true }).click();
    await page.getByRole('link', { name: 'All tickets' }).click();
    await page.waitForURL(/tickets\?search=IN-1$/);
  });

  it.each(['100', '101', '0', '-3', 'x', '1e9'])('of the fleet are bounded: days=%s', async (days) => {
    const { region, visit } = scene;
    await visit(`coverage?haulerId=${DEMO.haulerId}&days=${days}`);
    await region('Fleet coverage').getByText(DEMO.truckId).first().waitFor();
  });

  it('open a truck when its name is typed to its end, and not before', async () => {
    const { page, visit } = scene;
    await visit('coverage');
    const form = page.getByRole('form', { name: 'One truck' });
    await form.getByLabel('Truck').pressSequentially('TRUCK-7', { delay: 100 });
    expect(page.url()).not.toContain('truckId');
    await page.keyboard.press('Enter');
    await page.waitForURL(/truckId=TRUCK-7/);
    await page.getByRole('slider').waitFor();
  });
});

describe('long lists', () => {
  it('the second page of the quarantine of a run can be reached', async () => {
    const { page, region, service, visit } = scene;
    const [connection] = await list<{ id: string }>('/connections?interface=site');
    const { body } = await service.admin<{ runId: string }>('POST', `/connections/${connection?.id}/sync`);
    // The reference partner takes no faulty records: the issues are written.
    await eventually(async () => {
      const { body: run } = await service.admin<{ status: string }>('GET', `/sync-runs/${body.runId}`);
      expect(run.status).toBe('succeeded');
    });
    await service.dataSource.query(
      `INSERT INTO sync_issues (hauler_id, run_id, position, severity, kind, path, rule, reason, raw)
       SELECT $1, $2, n, 'quarantined', 'sites', 'sites[' || n || '].updatedAt', 'isInstant', 'must be a time', '{}'
       FROM generate_series(1, $3::int) AS n`,
      [DEMO.haulerId, body.runId, 130],
    );
    await visit(`sync?run=${body.runId}`);
    await region('Quarantine').getByText('130 records, page 1 of 2').waitFor();
    await region('Quarantine').getByRole('button', { name: 'Next' }).click();
    await region('Quarantine').getByText('sites[130].updatedAt').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('any two pushes of a ticket can be compared, also those beyond the first hundred', async () => {
    const { page, region, visit } = scene;
    let id = '';
    for (let n = 1; n <= 120; n++) ({ disposalTicketId: id } = (await pushTicket('IN-120', n)).body);
    await visit(`tickets?id=${id}`);
    await page.getByText('Compare two pushes').click();
    await page.getByRole('heading', { name: 'Push 119 and push 120' }).waitFor();
    await page.getByLabel('Show push 3 on the left').check();
    await region('History').getByRole('button', { name: 'Next' }).click();
    await page.getByLabel('Show push 110 on the right').check();
    await page.getByRole('heading', { name: 'Push 3 and push 110' }).waitFor();
    const changed = page.getByRole('row', { name: /materials\[0\]\.quantity/ });
    expect(await changed.innerText()).toMatch(/3\s+110/);
  });
});

describe('forms', () => {
  it('an emptied customer is the hauler', async () => {
    const { page, service, visit } = scene;
    const { body } = await service.admin<{ id: string }>('POST', '/connections', {
      haulerId: DEMO.haulerId,
      interface: 'vision',
      baseUrl: service.url,
      apiKey: 'some-key',
      customerId: 'green-valley',
      enabled: false,
    });
    await visit(`connections?id=${body.id}`);
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByLabel('Customer').fill('');
    await page.getByRole('button', { name: 'Store' }).click();
    await eventually(async () => {
      const { body: changed } = await service.admin<{ customerId: string }>('GET', `/connections/${body.id}`);
      expect(changed.customerId).toBe(DEMO.haulerId);
    });
    // The page of the connection would go on reading it.
    await visit('connections');
    await service.admin('DELETE', `/connections/${body.id}`);
  });

  it('the rotation of a key that expires asks for the new end, and shows how far it is', async () => {
    const { page, region, service, visit } = scene;
    const expiresAt = new Date(Date.now() + 5 * 86_400_000).toISOString();
    const request = { haulerId: DEMO.haulerId, interfaces: ['scale'], name: 'Front gate', expiresAt };
    await service.admin('POST', '/api-keys', request);
    await visit('keys');
    const row = page.getByRole('row', { name: /Front gate/ });
    await row.getByRole('button', { name: 'Rotate' }).click();
    await page.getByLabel('The new key expires').fill('2099-01-02T03:04');
    await page.getByRole('button', { name: 'Rotate the key' }).click();
    const key = await region('New key').locator('.secret code').innerText();
    await page.getByText('not used yet: send it').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await service.call('POST', '/platform-api/v1/tickets', { headers: { 'PLATFORM-API-KEY': key }, body: {} });
    await visit('keys');
    await page.getByText(/^first used/).waitFor();
    await page.getByText(/^the old key ends/).waitFor();
    const [successor] = await list<{ expiresAt: string }>('/api-keys?pageSize=1');
    expect(successor?.expiresAt).toMatch(/^2099-01-0/);
  });

  it('a mistyped address is a page that says so', async () => {
    const { page, visit } = scene;
    await visit('nonsense');
    await page.getByText('There is no page at this address.').waitFor();
    await page.getByRole('link', { name: 'Go to the first page' }).click();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    scene.expectErrors('404');
  });
});

describe('the sandbox of a partner', () => {
  it('shows a running scenario after a reload, and one that has ended as off', async () => {
    const page = await scene.visitor();
    await signIn(page, scene.demo.keys.platform, 'API key of a partner');
    await page.goto('/console/sandbox');
    const toggle = page.getByRole('switch', { name: 'server-error' });
    const row = page.getByRole('listitem').filter({ has: toggle });
    await row.getByLabel('For').selectOption({ label: '1 minute' });
    await toggle.click();
    await row.getByText(/^On:/).waitFor();
    await page.reload();
    await row.getByText(/^On:/).waitFor();
    await scene.service.dataSource.query("UPDATE sandbox_scenarios SET ends_at = now() + interval '2 seconds'");
    await row.getByText(/^On:/).waitFor({ state: 'detached' });
    expect(await toggle.getAttribute('aria-checked')).toBe('false');
  });
});

describe('footage', () => {
  interface Recording {
    readonly id: string;
    readonly cameraId: string;
    readonly connectionId: string;
    readonly startTime: string;
  }
  let recordings: Recording[];
  beforeAll(async () => {
    recordings = await eventually(async () => {
      const all = await list<Recording>('/recordings?status=stored&source=continuous&pageSize=100');
      expect(all.length).toBeGreaterThanOrEqual(20);
      return all;
    });
  }, 120_000);
  const truck = (around: string, minutes: number) => {
    const time = (sign: number) => new Date(Date.parse(around) + sign * minutes * 60_000).toISOString();
    return `coverage?connectionId=${recordings[0]?.connectionId}&truckId=${DEMO.truckId}&from=${time(-1)}&to=${time(1)}`;
  };

  it.each([
    ['an hour', 30],
    ['a month', 15 * 24 * 60],
  ])('a click on the lower lane plays that camera at that moment, in the view of %s', async (_, minutes) => {
    const { page, visit } = scene;
    const rear = recordings.filter(({ cameraId }) => cameraId === 'rear');
    const middle = rear[Math.floor(rear.length / 2)]!;
    await visit(truck(middle.startTime, minutes));
    await page.locator('.lane-stored').first().waitFor();
    const lane = (await page.locator('.lane-frame').nth(1).boundingBox())!;
    await page.mouse.click(lane.x + lane.width / 2 + 1, lane.y + lane.height / 2);
    await page.waitForURL(/play=.*at=/);
    await page.locator('video[aria-label="Camera rear"]').waitFor();
  });

  it('the keys work after a click on Play', async () => {
    const { page, visit } = scene;
    const front = recordings.find(({ cameraId }) => cameraId === 'front')!;
    await visit(`recordings?play=${front.id}`);
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.keyboard.press('.');
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
  });

  it('a requested clip is followed until it can be played, and listed', async () => {
    const { page, visit } = scene;
    const front = recordings.find(({ cameraId }) => cameraId === 'front')!;
    await visit(truck(front.startTime, 5));
    await page.locator('.lane-stored').first().waitFor();
    await page.getByRole('slider').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Request the clip' }).click();
    const panel = page.getByRole('group', { name: 'Clip of the selected range' });
    await panel.getByRole('link', { name: 'Play the clip' }).waitFor({ timeout: 45_000 });
    await page.getByRole('region', { name: 'Clip requests' }).getByRole('link', { name: 'Play' }).first().waitFor();
    await panel.getByRole('link', { name: 'Play the clip' }).click();
    await page.locator('video[aria-label="Camera front"]').waitFor();
  }, 90_000);
});
