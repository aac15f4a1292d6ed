import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import type { Request } from 'playwright-core';
import { DEMO } from '../../src/demo/demo-data.js';
import { WorkService } from '../../src/work/work.service.js';
import { accessibilityFindings, type ConsoleScene, signIn, startConsole } from './console-pages.js';
import { startTestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';

let scene: ConsoleScene;
beforeAll(async () => {
  scene = await startConsole({ ADMIN_READ_TOKEN: 'read-only-token-0123456789' });
}, 90_000);
afterAll(() => scene.close());
afterEach(async () => expect(await scene.endCase()).toEqual([]));

/** The times that a browser reports of its own loading. */
interface Loading {
  readonly shownAt: number;
  readonly lastByteAt: number;
}

/** Run in the browser: marks the time at which the first page is on the screen. */
const MARK_SHOWN = `
  const observer = new MutationObserver(() => {
    if (document.querySelector('main h1') === null) return;
    observer.disconnect();
    requestAnimationFrame(() => performance.mark('shown'));
  });
  observer.observe(document, { childList: true, subtree: true });`;

/** Run in the browser: that time, and the last byte before it. */
const MEASURED = `(() => {
  const shownAt = performance.getEntriesByName('shown')[0].startTime;
  const ends = performance.getEntriesByType('resource').map(({ responseEnd }) => responseEnd);
  return { shownAt, lastByteAt: Math.max(...ends.filter((end) => end <= shownAt)) };
})()`;

const UNKNOWN = '0197a1d0-51aa-7e20-b1c4-3a5c7e9f1b24';

describe('every page', () => {
  test.each([
    ['', 'Home'],
    ['coverage', 'Coverage'],
    ['recordings', 'Recordings'],
    ['sync', 'Synchronisation'],
    ['tickets', 'Tickets'],
    ['accounts', 'Accounts'],
    ['exchanges', 'Exchanges'],
    ['haulers', 'Haulers'],
    ['haulers?new=1', 'Haulers'],
    ['connections', 'Connections'],
    ['connections?new=1', 'Connections'],
    ['keys', 'API keys'],
    ['keys?new=1', 'API keys'],
    ['sandbox', 'Sandbox'],
    ['actions', 'Actions'],
  ])(
    '/console/%s has no serious finding of axe-core, and fits a phone',
    async (path, title) => {
      const { page, visit } = scene;
      await visit(path);
      await page.getByRole('heading', { name: title, level: 1 }).waitFor();
      expect(await page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current]').innerText()).toBe(title);
      await eventually(async () => expect(await page.getByText('Loading …').count()).toBe(0));
      expect(await accessibilityFindings(page)).toEqual([]);
    },
    30_000,
  );

  test.each([
    [`tickets?id=${UNKNOWN}`],
    [`accounts?id=${UNKNOWN}`],
    [`exchanges?id=${UNKNOWN}`],
    [`connections?id=${UNKNOWN}`],
    [`sync?run=${UNKNOWN}`],
    [`recordings?play=${UNKNOWN}`],
  ])(
    '/console/%s says that nothing has this id, and leads to the list',
    async (path) => {
      const { page, visit } = scene;
      await visit(path);
      await page.getByText('The address may be old, or the record was deleted.').first().waitFor();
      await page.getByRole('link', { name: /^All / }).waitFor();
      scene.expectErrors('404');
    },
    30_000,
  );

  it('is used with the keyboard alone', async () => {
    const { page, visit } = scene;
    await visit('');
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').innerText()).toBe('Skip to the content');
    await page.getByRole('link', { name: 'Tickets', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Tickets', level: 1 }).waitFor();
    expect(await page.locator(':focus').getAttribute('id')).toBe('main');
    await page.getByPlaceholder('a part is enough').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').getAttribute('placeholder')).toBe('a part is enough');
    await page.keyboard.type('IN-1');
    await page.waitForURL(/search=IN-1/);
  });
});

describe('the first page', () => {
  it('is shown within 200 ms of the last byte', async () => {
    const page = await scene.visitor();
    await page.addInitScript({ content: MARK_SHOWN });
    await signIn(page, scene.service.env.ADMIN_TOKEN);
    const delays: number[] = [];
    // The machine that runs the tests may be busy: the best of several loads counts.
    for (let load = 0; load < 5; load++) {
      await page.goto('/console/');
      const { shownAt, lastByteAt } = await eventually(() => page.evaluate<Loading>(MEASURED));
      delays.push(shownAt - lastByteAt);
    }
    expect(Math.min(...delays)).toBeLessThan(200);
  });
});

describe('a session with the read-only token', () => {
  it('sees all pages, and has no button that changes something', async () => {
    const page = await scene.visitor();
    await signIn(page, 'read-only-token-0123456789');
    await page.getByText('Read-only').waitFor();
    await page.getByRole('link', { name: 'Connections' }).click();
    await page.getByRole('link', { name: 'Demo Hauling, site' }).click();
    await page.getByRole('button', { name: 'Check this partner now' }).click();
    await page.getByRole('region', { name: 'Result of the check' }).waitFor();
    for (const name of ['Pause this connection', 'Delete this connection', 'Synchronise its sites now']) {
      expect(await page.getByRole('button', { name }).isDisabled()).toBe(true);
    }
    await page.getByRole('button', { name: 'Change' }).click();
    expect(await page.getByRole('button', { name: 'Store' }).isDisabled()).toBe(true);
  });
});

describe('footage that was given up', () => {
  const CONNECTION = () => recordings[0]!.connectionId;
  const fails = () =>
    scene.service.dataSource.query(
      `UPDATE recordings SET status = 'failed', reason = 'The file is not a valid MP4.', reason_code = 'invalidFile'
       WHERE id = $1`,
      [recordings[0]!.id],
    );

  /** While partners are not called, no listing revives what has failed. */
  const callPartners = async (enabled: boolean) => {
    await scene.service.admin('PUT', '/outbound', { enabled });
    const running = () => [...scene.service.app.get(WorkService).running().values()];
    if (!enabled) await eventually(() => expect(Math.max(0, ...running())).toBe(0));
  };

  it('is tried again: one recording, and all of a filter', async () => {
    const { page, visit } = scene;
    await callPartners(false);
    await fails();
    await visit(`recordings?play=${recordings[0]!.id}`);
    await page.getByText('This recording is not stored').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Fetch this recording again' }).click();
    await callPartners(true);
    await page.getByText('This recording is not stored').waitFor({ state: 'detached' });

    await callPartners(false);
    await fails();
    await visit(`recordings?connectionId=${CONNECTION()}&status=failed`);
    await page.getByRole('button', { name: 'Fetch all of these again' }).click();
    await page.getByText('All failed and expired recordings of Demo Hauling, vision are fetched again.').waitFor();
    await page.getByRole('button', { name: 'Fetch all of these again' }).click();
    await page.getByText('Fetched again: 1').waitFor();
    await callPartners(true);
    // A retry does not know cameras: it would fetch more than is shown.
    await visit(`recordings?connectionId=${CONNECTION()}&status=failed&cameraId=front`);
    await page.getByRole('region', { name: 'Recordings' }).or(page.getByText('Nothing matches')).first().waitFor();
    expect(await page.getByRole('button', { name: 'Fetch all of these again' }).count()).toBe(0);
  });

  it('is tried again: a clip request', async () => {
    const { page, visit } = scene;
    const { startTime, endTime } = recordings[0]!;
    const { truckId } = DEMO;
    const order = { connectionId: CONNECTION(), truckId, cameraId: 'roof', startTime, endTime };
    const { body } = await scene.service.admin<{ id: string }>('POST', '/video-requests', order);
    const statusOf = async () =>
      (await scene.service.admin<{ status: string }>('GET', `/video-requests/${body.id}`)).body.status;
    await eventually(async () => expect(await statusOf()).toBe('failed'));
    const truck = `coverage?connectionId=${CONNECTION()}&truckId=${truckId}&from=${startTime}&to=${endTime}`;
    await visit(truck);
    const failed = page.getByRole('region', { name: 'Clip requests' });
    await failed.getByText('roof').first().waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    const asked = page.waitForResponse((response) => response.url().endsWith(`/video-requests/${body.id}/retry`));
    await page.getByRole('button', { name: 'Ask again for the clip of roof' }).click();
    expect((await asked).status()).toBe(202);

    await eventually(async () => expect(await statusOf()).toBe('failed'));
    const reader = await scene.visitor();
    await signIn(reader, 'read-only-token-0123456789');
    await reader.goto(`/console/${truck}`);
    await reader.getByRole('region', { name: 'Clip requests' }).waitFor();
    expect(await reader.getByRole('button', { name: /again/i }).count()).toBe(0);
  });
});

describe('a service with the partner side alone', () => {
  it('has the pages of that side, and none of their calls fails', async () => {
    const service = await startTestApp({ env: { SIDES: new Set(['partner']), SANDBOX: true } });
    const page = await scene.visitor(service.url);
    const failed: string[] = [];
    await service.admin('POST', '/haulers', { name: 'Partner Hauling' });
    await signIn(page, service.env.ADMIN_TOKEN);
    const running = new Set<Request>();
    page.on('request', (request) => running.add(request));
    page.on('requestfinished', (request) => running.delete(request));
    page.on('requestfailed', (request) => running.delete(request));
    page.on('response', (response) => !response.ok() && failed.push(`${response.status()} ${response.url()}`));
    const pages = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    expect(await pages.allInnerTexts()).toEqual([
      'Home',
      'Exchanges',
      'Haulers',
      'API keys',
      'Sandbox',
      'Actions',
      'Sessions',
    ]);
    for (const link of await pages.all()) {
      await link.click();
      await page.getByRole('heading', { name: await link.innerText(), level: 1 }).waitFor();
      await eventually(() => expect(running.size).toBe(0));
    }
    expect(failed).toEqual([]);
    await page.close();
    await service.close();
  });
});

describe('a service that does not answer', () => {
  it('is named, while the page keeps what it shows, and the page continues by itself', async () => {
    const { page, visit } = scene;
    await visit('connections');
    const row = page.getByRole('link', { name: 'Demo Hauling, site' });
    await row.waitFor();
    await page.route('**/admin/v1/**', (route) => route.abort());
    const alert = page.getByText('The service does not answer.');
    await alert.first().waitFor({ timeout: 15_000 });
    expect(await row.count()).toBe(1);
    await page.unroute('**/admin/v1/**');
    await alert.first().waitFor({ state: 'detached', timeout: 15_000 });
    // The browser reports each failed call itself.
    scene.expectErrors('ERR_FAILED');
  });

  it('is asked again by itself after a 503 of an overloaded service', async () => {
    const { page, visit } = scene;
    const json = { error: { code: 'SERVICE_UNAVAILABLE', message: 'too many reads are running; try again shortly' } };
    await page.route('**/admin/v1/haulers?*', (route) => route.fulfill({ status: 503, json }), { times: 1 });
    await visit('connections?new=1');
    await page.getByRole('alert').getByText('Too many reads are running').waitFor();
    await page.getByLabel('Hauler').getByRole('option', { name: 'Demo Hauling' }).waitFor({ state: 'attached' });
    expect(await page.getByRole('alert').count()).toBe(0);
    scene.expectErrors('503');
  });

  it('is waited for if an answer takes longer than the page asks again', async () => {
    const { page, region, visit } = scene;
    await visit('');
    let [asked, untilAnswered] = [0, 0];
    await page.route('**/admin/v1/sync-runs?*', async (route) => {
      asked += 1;
      // The page asks every 3 s.
      await delay(5_000);
      untilAnswered ||= asked;
      await route.continue();
    });
    await visit('sync');
    await region('Runs').getByRole('row').nth(1).waitFor({ timeout: 15_000 });
    expect(untilAnswered).toBe(1);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it('loses nothing that was typed', async () => {
    const { page, visit } = scene;
    await visit('connections?new=1');
    await page.getByLabel('Address of the partner').fill('https://typed.example');
    await page.getByLabel('Key that the partner issued').fill('some-key');
    await page.route('**/admin/v1/**', (route) => route.abort());
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('The service does not answer.').first().waitFor();
    expect(await page.getByLabel('Address of the partner').inputValue()).toBe('https://typed.example');
    await page.unroute('**/admin/v1/**');
    scene.expectErrors('ERR_FAILED');
  });
});

interface Recording {
  readonly id: string;
  readonly connectionId: string;
  readonly cameraId: string;
  readonly startTime: string;
  readonly endTime: string;
}
let recordings: Recording[];
beforeAll(async () => {
  recordings = await eventually(async () => {
    const path = '/recordings?status=stored&source=continuous&pageSize=100';
    const { body } = await scene.service.admin<{ data: Recording[] }>('GET', path);
    if (body.data.length < 20) throw new Error(`${body.data.length} recordings are stored`);
    return body.data;
  });
}, 120_000);

/** Seconds into the file that a camera shows. */
const shownSecond = (camera: string) =>
  scene.page
    .locator(`video[aria-label="Camera ${camera}"]`)
    .evaluate((video) => (video as unknown as { readonly currentTime: number }).currentTime);

describe('the recordings page', () => {
  it('plays a recording in three clicks', async () => {
    const { page, follow } = scene;
    await follow('Recordings');
    await page
      .getByRole('link', { name: `Play ${DEMO.truckId}, front` })
      .last()
      .click();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await eventually(async () => expect(await shownSecond('front')).toBeGreaterThan(0.3));
    await page.getByRole('button', { name: 'Pause' }).click();
  });

  it('shows two cameras in step, steps by frames, and goes on with the next file', async () => {
    const { page, visit } = scene;
    const first = recordings.filter(({ cameraId }) => cameraId === 'front').at(-1)!;
    await visit(`recordings?play=${first.id}`);
    await page.getByLabel('rear').check();
    await page.waitForURL(/cameras=/);
    const slider = page.getByRole('slider', { name: 'Time' });
    await slider.fill(String(Date.parse(first.startTime) + 58_000));
    await eventually(async () => expect(await shownSecond('rear')).toBeCloseTo(58, 0));
    await page.getByRole('button', { name: 'Next frame' }).click();
    await eventually(async () => expect(await shownSecond('front')).toBeCloseTo(58.04, 1));
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByLabel('Speed').selectOption('2');
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await eventually(async () => {
      const second = await shownSecond('front');
      expect(second).toBeLessThan(50);
      expect(Math.abs(second - (await shownSecond('rear')))).toBeLessThan(0.8);
    });
  });

  it('names a codec that the browser cannot play, and offers the file', async () => {
    const { page, visit } = scene;
    const one = recordings[0]!;
    // The same file, with another name of its codec.
    await page.route(`**/recordings/${one.id}/content`, async (route) => {
      const whole = await scene.service.call('GET', `/admin/v1/recordings/${one.id}/content`, {
        headers: { Authorization: `Bearer ${scene.service.env.ADMIN_TOKEN}` },
      });
      expect(whole.status).toBe(200);
      const file = await fileOf(one.id);
      const [, start = '0', end = ''] = /bytes=(\d+)-(\d*)/.exec(route.request().headers()['range'] ?? '') ?? [];
      const body = file.subarray(Number(start), end === '' ? undefined : Number(end) + 1);
      const headers = { 'Content-Range': `bytes ${start}-${Number(start) + body.length - 1}/${file.length}` };
      await route.fulfill({ status: 206, contentType: 'video/mp4', headers, body });
    });
    await visit(`recordings?play=${one.id}`);
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('This browser cannot play H.265 (HEVC).');
    await page.getByRole('link', { name: 'Download' }).waitFor();
    await page.unroute('**/recordings/*/content');
  });
});

async function fileOf(id: string): Promise<Buffer> {
  const response = await fetch(`${scene.service.url}/admin/v1/recordings/${id}/content`, {
    headers: { Authorization: `Bearer ${scene.service.env.ADMIN_TOKEN}` },
  });
  const file = Buffer.from(await response.arrayBuffer());
  for (let at = file.indexOf('avc1'); at >= 0; at = file.indexOf('avc1', at + 1)) file.write('hvc1', at, 'latin1');
  return file;
}

describe('the coverage page', () => {
  it('leads from the fleet to a truck, zooms by wheel and keys, and asks for a dragged range', async () => {
    const { page, visit } = scene;
    await visit('coverage');
    await page
      .getByRole('link', { name: new RegExp(`${DEMO.truckId}, .* stored`) })
      .last()
      .click();
    await page.getByRole('slider').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Last hour' }).click();
    const lanes = page.locator('.lanes svg');
    await page.locator('.lane-stored').first().waitFor();
    const before = page.url();
    const box = (await lanes.boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.9, box.y + 50);
    await page.mouse.wheel(0, -200);
    await page.waitForURL((url) => url.href !== before);
    await page.getByRole('slider').focus();
    await page.keyboard.press('-');
    await page.keyboard.press('ArrowRight');
    expect(await page.getByRole('slider').getAttribute('aria-valuetext')).toMatch(/^front, .*: \w+/);

    await page.mouse.move(box.x + 200, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + 300, box.y + 50, { steps: 4 });
    await page.mouse.up();
    await page.getByRole('button', { name: 'List its recordings again' }).click();
    await page.getByText(/^The partner is asked again/).waitFor();
    await page.getByRole('button', { name: 'Request the clip' }).click();
    await page
      .getByRole('group', { name: 'Clip of the selected range' })
      .getByText(/^The clip:/)
      .waitFor();
    const { body } = await scene.service.admin<{ data: { cameraId: string }[] }>('GET', '/video-requests');
    expect(body.data.filter(({ cameraId }) => cameraId === 'front')).toHaveLength(2);
  });

  it('shows its times in a chosen zone, and reports missing footage as CSV', async () => {
    const { page, visit } = scene;
    const { connectionId } = recordings[0]!;
    const range = 'from=2026-03-08T06:00:00.000Z&to=2026-03-08T10:00:00.000Z';
    await visit(`coverage?connectionId=${connectionId}&truckId=${DEMO.truckId}&${range}&zone=America/Chicago`);
    await page.locator('.tick-label', { hasText: '03:00' }).waitFor();
    expect(await page.locator('.tick-label', { hasText: '02:00' }).count()).toBe(0);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Missing footage (CSV)' }).click(),
    ]);
    const csv = await readFile(await download.path(), 'utf8');
    expect(csv).toMatch(/^truck,camera,start,end,seconds,state,cause,side\r\nTRUCK-7,.*,2026-03-08T06:00:00/);
  });
});
