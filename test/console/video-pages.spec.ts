import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DEMO } from '../../src/demo/demo-data.js';
import { accessibilityFindings, type ConsoleScene, startConsole } from '../support/console.js';
import { eventually } from '../support/eventually.js';

interface Recording {
  readonly id: string;
  readonly connectionId: string;
  readonly cameraId: string;
  readonly startTime: string;
  readonly endTime: string;
}

let scene: ConsoleScene;
let recordings: Recording[];
beforeAll(async () => {
  scene = await startConsole();
  recordings = await eventually(async () => {
    const path = '/recordings?status=stored&source=continuous&pageSize=100';
    const { body } = await scene.service.admin<{ data: Recording[] }>('GET', path);
    if (body.data.length < 20) throw new Error(`${body.data.length} recordings are stored`);
    return body.data;
  }, 30_000);
}, 120_000);
afterAll(() => scene.close());
afterEach(() => expect(scene.complaints.splice(0)).toEqual([]));

/** Seconds into the file that a camera shows. */
const shownSecond = (camera: string) =>
  scene.page
    .locator(`video[aria-label="Camera ${camera}"]`)
    .evaluate((video) => (video as unknown as { readonly currentTime: number }).currentTime);

describe('the recordings page', () => {
  it('plays a recording in three clicks', async () => {
    const { page } = scene;
    await page.getByRole('link', { name: 'Recordings' }).click();
    await page
      .getByRole('link', { name: `Play ${DEMO.truckId}, front` })
      .last()
      .click();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await eventually(async () => expect(await shownSecond('front')).toBeGreaterThan(0.3), 10_000);
    await page.getByRole('button', { name: 'Pause' }).click();
  }, 40_000);

  it('shows two cameras in step, steps by frames, and goes on with the next file', async () => {
    const { page, visit } = scene;
    const first = recordings.filter(({ cameraId }) => cameraId === 'front').at(-1)!;
    await visit(`recordings?play=${first.id}`);
    await page.getByLabel('rear').check();
    await page.waitForURL(/cameras=/);
    const slider = page.getByRole('slider', { name: 'Time' });
    await slider.fill(String(Date.parse(first.startTime) + 58_000));
    await eventually(async () => expect(await shownSecond('rear')).toBeCloseTo(58, 0), 10_000);
    await page.getByRole('button', { name: 'Frame on' }).click();
    await eventually(async () => expect(await shownSecond('front')).toBeCloseTo(58.04, 1));
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByLabel('Speed').selectOption('2');
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await eventually(async () => {
      const second = await shownSecond('front');
      expect(second).toBeLessThan(50);
      expect(Math.abs(second - (await shownSecond('rear')))).toBeLessThan(0.8);
    }, 15_000);
  }, 60_000);

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
  }, 30_000);
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
    await page.getByRole('button', { name: 'Request the clip' }).click();
    await page.getByText(/^Requested:/).waitFor();
    const { body } = await scene.service.admin<{ data: { cameraId: string }[] }>('GET', '/video-requests');
    expect(body.data).toHaveLength(2);
  }, 60_000);

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
  }, 40_000);
});
