import { afterAll, afterEach, beforeAll, describe, expect, it, test } from '@jest/globals';
import type { Request } from 'playwright-core';
import { PARTNER_KEY } from '../../acceptance/support/hauler.js';
import { VisionScene } from '../../acceptance/support/vision.js';
import { eventually } from '../../support/eventually.js';
import { failRecording, type Fleet, insertCameraName, insertChunks, insertTrucks } from '../../support/rows.js';
import { sampleVideo } from '../../support/sample-video.js';
import { CONTINUOUS, element, inHours, lists, POST } from '../../support/scripted-vision.js';
import { refuses } from '../../support/scripted-partner.js';
import {
  ask,
  type ConsoleScene,
  database,
  list,
  nameOf,
  newHauler,
  part,
  startConsole,
  target,
} from '../../console/support/console.js';
import { demoVideo } from '../../console/support/demo.js';
import { accessibilityFindings } from '../../console/support/page-checks.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const TRUCK = 'TRUCK-9';

interface Recording {
  readonly id: string;
  readonly cameraId: string;
  readonly startTime: string;
}

let scene: ConsoleScene;
let footage: Awaited<ReturnType<typeof record>>;
beforeAll(async () => {
  scene = await startConsole();
  footage = await record();
}, 120_000);
afterAll(() => scene.close());
afterEach(async () => expect(await scene.endCase()).toEqual([]));

const iso = (time: number) => new Date(time).toISOString();

/** What a partner recorded: 20 min of the front camera, nothing for 10 min, and then 4 min of both cameras. */
async function record() {
  const hauler = await newHauler();
  const customer = { interfaces: ['vision'], customerId: hauler.id };
  const { key } = await ask<{ key: string }>('POST', '/api-keys', customer);
  const start = (Math.floor(Date.now() / MINUTE_MS) - 45) * MINUTE_MS;
  const upload = async (cameraId: string, minute: number) => {
    const [startTime, endTime] = [iso(start + minute * MINUTE_MS), iso(start + (minute + 1) * MINUTE_MS)];
    const query = new URLSearchParams({ customerId: hauler.id, truckId: TRUCK, cameraId, startTime, endTime });
    const response = await fetch(`${target.url}/admin/v1/hosted/recordings?${query.toString()}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${target.adminToken}`, 'Content-Type': 'video/mp4' },
      body: new Uint8Array(await demoVideo('front', minute)),
    });
    expect(response.status).toBe(201);
  };
  for (let minute = 0; minute < 20; minute++) await upload('front', minute);
  for (let minute = 30; minute < 34; minute++) for (const camera of ['front', '2']) await upload(camera, minute);
  const connectionId = await hauler.connect({ interface: 'vision', baseUrl: target.url, apiKey: key });
  const fleet = { haulerId: hauler.id, connectionId };
  await ask('POST', '/video-subscriptions', { connectionId, truckId: TRUCK, startTime: iso(start - MINUTE_MS) });
  await insertCameraName(database, fleet, TRUCK, 'rear', '2');
  const stored = await eventually(async () => {
    const all = await list<Recording>(`/recordings?status=stored&connectionId=${connectionId}`);
    expect(all).toHaveLength(28);
    return all;
  }, 90_000);
  const first = stored.find(({ startTime }) => Date.parse(startTime) === start)!;
  return { ...fleet, first, start, gap: start + 20 * MINUTE_MS, later: start + 30 * MINUTE_MS };
}

const truck = (from: number, to: number) =>
  `coverage?connectionId=${footage.connectionId}&truckId=${TRUCK}&from=${iso(from)}&to=${iso(to)}`;
const player = (at: number, cameras: string) => `recordings?play=${footage.first.id}&at=${iso(at)}&cameras=${cameras}`;

/** Seconds into the file that a camera shows. */
const shownSecond = (camera: string) =>
  scene.page
    .locator(`video[aria-label="Camera ${camera}"]`)
    .evaluate((video) => (video as unknown as { readonly currentTime: number }).currentTime);

/** In the browser, when the request began. */
const timeOf = (request: Request) => request.timing().startTime;

describe('the player', () => {
  const slider = () => scene.page.getByRole('slider', { name: 'Time' });
  const shown = async () => Number(await slider().inputValue());
  const play = () => scene.page.getByRole('button', { name: 'Play', exact: true });
  const pause = () => scene.page.getByRole('button', { name: 'Pause' });

  it('shows two cameras in step, steps by frames, goes on with the next file, and takes keys after a click', async () => {
    const { page, visit } = scene;
    const { later } = footage;
    await visit(player(later, 'front,2'));
    await page.locator('video').nth(1).waitFor();
    await eventually(async () => expect(Number(await slider().getAttribute('max'))).toBe(later + 4 * MINUTE_MS));
    await slider().fill(String(later + 58_000));
    await eventually(async () => expect(await shownSecond('2')).toBeCloseTo(58, 0));
    await page.getByRole('button', { name: 'Next frame' }).click();
    await eventually(async () => expect(await shownSecond('front')).toBeCloseTo(58.04, 1));
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByLabel('Speed').selectOption('2');
    await play().click();
    await eventually(async () => {
      const second = await shownSecond('front');
      expect(second).toBeLessThan(50);
      expect(Math.abs(second - (await shownSecond('2')))).toBeLessThan(0.8);
    });
    await page.keyboard.press('.');
    await play().waitFor();
    await page.keyboard.press(' ');
    await pause().waitFor();
  });

  it('says that the browser cannot play a file, and offers it', async () => {
    const { page, visit } = scene;
    // The same file, with another name of its codec.
    const file = await demoVideo('front', 0);
    for (let at = file.indexOf('avc1'); at >= 0; at = file.indexOf('avc1', at + 1)) file.write('hvc1', at, 'latin1');
    await page.route(`**/recordings/${footage.first.id}/content`, async (route) => {
      const [, start = '0', end = ''] = /bytes=(\d+)-(\d*)/.exec(route.request().headers()['range'] ?? '') ?? [];
      const body = file.subarray(Number(start), end === '' ? undefined : Number(end) + 1);
      const headers = { 'Content-Range': `bytes ${start}-${Number(start) + body.length - 1}/${file.length}` };
      await route.fulfill({ status: 206, contentType: 'video/mp4', headers, body });
    });
    await visit(`recordings?play=${footage.first.id}`);
    await page.getByRole('alert').getByText('This browser cannot play the file.').waitFor();
    await page.getByRole('link', { name: 'Download' }).waitFor();
  });

  test.each([
    [1280, 720],
    [390, 844],
  ])('has its controls on the screen of %d × %d without scrolling, and the names of cameras', async (width, height) => {
    const { page, visit } = scene;
    await page.setViewportSize({ width, height });
    await visit(player(footage.later, 'front,2'));
    await page.locator('video').nth(1).waitFor();
    await page.getByText('Rear (2)').first().waitFor();
    for (const control of [slider(), play(), page.getByLabel('Speed'), page.locator('.clock')]) {
      const box = (await control.boundingBox())!;
      expect(box.y + box.height).toBeLessThanOrEqual(height);
    }
    expect(await page.locator('.time-scale span').allInnerTexts()).toContainEqual(expect.stringMatching(/^\d\d:\d0$/));
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('stops at a gap, says why nothing is there, and goes on after it', async () => {
    const { page, visit } = scene;
    const { gap, later } = footage;
    await visit(player(gap - 1_000, 'front'));
    await page.locator('video').waitFor();
    await play().click();
    const onward = page.getByRole('button', { name: `Continue at ${iso(later).slice(11, 16)}` });
    await onward.waitFor();
    await page.getByText(/^No recording at this time: The partner lists no recording/).waitFor();
    await play().waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await onward.click();
    await pause().waitFor();
    expect(await shown()).toBeGreaterThanOrEqual(later);
  });

  it('sends no flood of requests when it plays on for more than 15 minutes', async () => {
    const { page, visit } = scene;
    const later = footage.start + 15 * MINUTE_MS;
    await visit(player(footage.start, 'front'));
    await page.locator('video').waitFor();
    // Until the other recordings are listed, the scale ends with the first one.
    await eventually(async () => expect(Number(await slider().getAttribute('max'))).toBeGreaterThan(later));
    await slider().fill(String(later - 2_000));
    await page.getByLabel('Speed').selectOption('2');
    const calls: Request[] = [];
    page.on('requestfinished', (request) => {
      if (/\/admin\/v1\/.*(?<!\/content)$/.test(request.url())) calls.push(request);
    });
    await play().click();
    await eventually(async () => expect(await shown()).toBeGreaterThan(later + 3_000));
    // It asks for the next recordings and the facts around them, and repeats no address sooner than any page does.
    const byAddress = Object.values(Object.groupBy(calls, (call) => call.url())).map((of = []) =>
      of.map(timeOf).sort((one, other) => one - other),
    );
    expect(byAddress.length).toBeLessThan(8);
    const pauses = byAddress.flatMap((times) => times.slice(1).map((time, i) => time - (times[i] ?? 0)));
    expect(pauses.filter((pause) => pause < 1_000)).toEqual([]);
  });
});

describe('the recordings', () => {
  it('are a gallery by truck and hour, with the first pictures of what is in view; the rest follows when it is scrolled to', async () => {
    const { page, visit } = scene;
    const asked = new Set<string>();
    page.on('request', (request) => request.url().includes('/content') && asked.add(request.url()));
    await page.setViewportSize({ width: 700, height: 500 });
    await visit(`recordings?connectionId=${footage.connectionId}`);
    const drawn = page.locator('.poster.drawn');
    await drawn.nth(2).waitFor();
    const tiles = page.locator('.gallery li');
    expect(await tiles.count()).toBe(28);
    expect(asked.size).toBeLessThan(28);
    expect([...asked].filter((url) => !url.includes('preview=true'))).toEqual([]);
    expect(await page.getByRole('heading', { level: 2 }).first().innerText()).toMatch(/TRUCK-9 .+:00 Hauler/);
    expect(await accessibilityFindings(page)).toEqual([]);
    await tiles.last().scrollIntoViewIfNeeded();
    await page.locator('.gallery li').last().locator('.poster.drawn').waitFor();
    // What was drawn stays, and a part of a picture may have one colour.
    const colours = `((canvas) => [...new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data)])(
      document.querySelector('.poster.drawn'))`;
    expect((await page.evaluate<number[]>(colours)).length).toBeGreaterThan(2);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('link', { name: 'List', exact: true }).click();
    await part(page, 'Recordings').waitFor();
  });

  it('keep a letter of a filter that is typed in the moment in which the letters before are applied', async () => {
    const { page, visit } = scene;
    await visit('recordings?view=list');
    const truckFilter = page.getByLabel('Truck', { exact: true });
    await truckFilter.waitFor();
    await page.evaluate(`
      const input = [...document.querySelectorAll('.filters label')].find((label) => label.innerText === 'Truck').control;
      const type = (text) => { input.value = text; input.dispatchEvent(new Event('input', { bubbles: true })); };
      addEventListener('addresschange', () => type('TR'), { once: true });
      type('T');`);
    await page.waitForURL(/truckId=TR$/);
    expect(await truckFilter.inputValue()).toBe('TR');
    await page.goBack();
  });

  it('that were given up are fetched again: one recording, and all of a filter', async () => {
    const { page, visit } = scene;
    const vision = await VisionScene.create({ service: target });
    const { connectionId, partner } = vision;
    const times = { startTime: inHours(-2), endTime: inHours(-1.9), durationSeconds: 360 };
    const one = element({ ...times, downloadUrl: partner.link(sampleVideo()) });
    partner.on(
      CONTINUOUS,
      lists('recordings', () => [one]),
    );
    await vision.follow({ startTime: inHours(-4) });
    const [recording] = await vision.recordingsBecome([{ status: 'stored' }]);
    const id = recording!.id;
    const name = await nameOf(vision.hauler);
    // While the connection is paused, no list revives the recording.
    const giveUp = async () => {
      await ask('PATCH', `/connections/${connectionId}`, { enabled: false });
      await failRecording(database, id);
    };
    await giveUp();
    await visit(`recordings?play=${id}`);
    await part(page, 'Recording').getByText('not stored').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Fetch this recording again' }).click();
    await ask('PATCH', `/connections/${connectionId}`, { enabled: true });
    await vision.recordingsBecome([{ status: 'stored' }]);
    await part(page, 'Recording').getByText('not stored').waitFor({ state: 'detached' });

    // The player there would go on to load the file.
    await visit('');
    await giveUp();
    await visit(`recordings?connectionId=${connectionId}&status=failed`);
    await page.getByRole('button', { name: 'Fetch all of these again' }).click();
    await page.getByText(`All failed and expired recordings of ${name}, vision are fetched again.`).waitFor();
    await page.getByRole('button', { name: 'Fetch all of these again' }).click();
    await page.getByText('Fetched again: 1').waitFor();
    // A retry does not know cameras: it would fetch more than is shown.
    await visit(`recordings?connectionId=${connectionId}&status=failed&cameraId=front`);
    await part(page, 'Recordings').or(page.getByText('Nothing matches')).first().waitFor();
    expect(await page.getByRole('button', { name: 'Fetch all of these again' }).count()).toBe(0);
  });
});

describe('the page of a truck', () => {
  const panel = () => scene.page.getByRole('group', { name: 'Clip of the selected range' });
  const trackBox = async (track: number) => {
    await scene.page.locator('.track-stored').first().waitFor();
    return (await scene.page.locator('.track-frame').nth(track).boundingBox())!;
  };

  test.each([
    ['six minutes', 3 * MINUTE_MS],
    ['a month', 15 * 24 * HOUR_MS],
  ])('plays all cameras at the moment of a click on a track, in the view of %s', async (_, half) => {
    const { page, visit } = scene;
    const middle = footage.later + MINUTE_MS;
    await visit(truck(middle - half, middle + half));
    const track = await trackBox(1);
    await page.mouse.click(track.x + track.width / 2 + 1, track.y + track.height / 2);
    await page.waitForURL(/cameras=front%2C2|cameras=2%2Cfront/);
    for (const camera of ['front', '2']) await page.locator(`video[aria-label="Camera ${camera}"]`).waitFor();
    // The address keeps the moment.
    const slider = page.getByRole('slider', { name: 'Time' });
    const at = Number(await slider.inputValue());
    await page.reload();
    await slider.waitFor();
    expect(Number(await slider.inputValue())).toBe(at);
  });

  it('plays a recording of 30 minutes at the second of a click, and the gallery shows it at that time', async () => {
    const { page, visit } = scene;
    const vision = await VisionScene.create({ service: target });
    const start = Math.floor(Date.now() / HOUR_MS - 3) * HOUR_MS;
    const times = { startTime: iso(start), endTime: iso(start + HOUR_MS / 2), durationSeconds: 1_800 };
    const chunk = element({ ...times, downloadUrl: vision.partner.link(await demoVideo('front', 0)) });
    vision.partner.on(
      CONTINUOUS,
      lists('recordings', () => [chunk]),
    );
    await vision.follow({ startTime: iso(start - HOUR_MS) });
    await vision.recordingsBecome([{ status: 'stored' }]);
    const range = { from: iso(start - HOUR_MS / 4), to: iso(start + (3 * HOUR_MS) / 4) };
    const query = { connectionId: vision.connectionId, truckId: 'TRUCK-7', ...range };
    await visit(`coverage?${new URLSearchParams(query).toString()}`);
    const track = await trackBox(0);
    await page.mouse.click(track.x + (track.width * 35) / 60, track.y + track.height / 2);
    await page.waitForURL(/play=/);
    const slider = page.getByRole('slider', { name: 'Time', exact: true });
    expect(Math.abs(Number(await slider.inputValue()) - start - 20 * MINUTE_MS)).toBeLessThan(10_000);
    const late = { connectionId: vision.connectionId, from: iso(start + HOUR_MS / 3), to: iso(start + HOUR_MS) };
    await visit(`recordings?view=gallery&${new URLSearchParams(late).toString()}`);
    await page.locator('.gallery a').waitFor();
  });

  it('zooms by keys, and requests a selected time by mouse and by keyboard, but not the future', async () => {
    const { page, visit } = scene;
    const { later } = footage;
    await visit(truck(later - 10 * MINUTE_MS, later + 10 * MINUTE_MS));
    const track = await trackBox(0);
    const y = track.y + track.height / 2;
    await page.mouse.move(track.x + track.width * 0.5, y);
    await page.mouse.down();
    await page.mouse.move(track.x + track.width * 0.6, y, { steps: 4 });
    await page.mouse.up();
    await panel().getByRole('button', { name: 'Request the clip' }).waitFor();
    expect(await panel().innerText()).toMatch(/, .+:\d\d:\d\d [A-Z].+ to .+:\d\d:\d\d [A-Z]/);
    expect(await accessibilityFindings(page)).toEqual([]);
    await panel().getByRole('button', { name: 'Zoom to this time' }).click();
    const widthOf = (url: URL) => Date.parse(url.searchParams.get('to')!) - Date.parse(url.searchParams.get('from')!);
    await page.waitForURL((url) => Math.abs(widthOf(url) - 2 * MINUTE_MS) < 10_000);
    await page.getByRole('slider').focus();
    await page.keyboard.press('+');
    await page.waitForURL((url) => widthOf(url) < 1.8 * MINUTE_MS);

    await page.getByRole('slider').focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.getByRole('slider').getAttribute('aria-valuetext')).toMatch(/^[\w ]+, .*: \w+/);
    for (let i = 0; i < 3; i++) await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('Enter');
    await eventually(async () =>
      expect(await page.evaluate('document.activeElement.innerText')).toBe('Zoom to this time'),
    );
    const before = page.url();
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.href !== before);

    await visit(truck(Date.now() + 10 * MINUTE_MS, Date.now() + 20 * MINUTE_MS));
    await page.getByRole('slider').focus();
    await page.keyboard.press('Enter');
    await panel().getByText('This time is still to come: no camera has recorded it yet.').waitFor();
    expect(await panel().getByRole('button', { name: 'Request the clip' }).count()).toBe(0);
  });

  it('follows a requested clip until it can be played', async () => {
    const { page, visit } = scene;
    await visit(truck(footage.later - 2 * MINUTE_MS, footage.later + 6 * MINUTE_MS));
    await trackBox(0);
    await page.getByRole('slider').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Request the clip' }).click();
    await page.waitForURL(/clips\?id=/);
    await page.getByRole('link', { name: 'Play' }).first().click({ timeout: 45_000 });
    await page.locator('video').first().waitFor();
  });

  it('asks again for a clip that the partner refused', async () => {
    const { page, visit } = scene;
    const vision = await VisionScene.create({ service: target });
    vision.partner.on(POST, refuses(400, 'INVALID_PAYLOAD', 'no such camera'));
    const id = await vision.order({ cameraId: 'roof' });
    await vision.becomes(id, { status: 'failed' });
    const range = 'from=2026-01-31T08:00:00Z&to=2026-01-31T09:00:00Z';
    await visit(`coverage?connectionId=${vision.connectionId}&truckId=TRUCK-7&${range}`);
    await page.getByRole('link', { name: 'Clip requests of this range' }).click();
    const asked = page.waitForResponse((response) => response.url().endsWith(`/video-requests/${id}/retry`));
    await page.getByRole('button', { name: /^Ask again TRUCK-7/ }).click();
    expect((await asked).status()).toBe(202);
    await vision.becomes(id, { status: 'failed' });
    await part(page, 'Clip requests').getByText('no such camera').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await part(page, 'Clip requests').getByRole('link', { name: 'TRUCK-7, roof' }).click();
    await page.getByRole('link', { name: 'Show this time of the truck' }).click();
    await page.waitForURL(/from=2026-01-31T08%3A30%3A00Z&to=2026-01-31T08%3A35%3A00Z/);
  });

  it('leaves out the hour that a day of summer time does not have', async () => {
    const range = 'from=2026-03-08T06:00:00.000Z&to=2026-03-08T10:00:00.000Z&zone=America/Chicago';
    await scene.visit(`coverage?connectionId=${footage.connectionId}&truckId=${TRUCK}&${range}`);
    await scene.page.locator('.tick-label', { hasText: '03:00' }).waitFor();
    expect(await scene.page.locator('.tick-label', { hasText: '02:00' }).count()).toBe(0);
  });
});

/** Noon of a day before today, in UTC. */
const noon = (daysAgo: number, hours = 0) =>
  iso(Math.floor(Date.now() / (24 * HOUR_MS)) * 24 * HOUR_MS - (daysAgo * 24 - 12 - hours) * HOUR_MS);

/** A hauler with a partner that is never called. */
async function newFleet(): Promise<Fleet & { name: string }> {
  const hauler = await newHauler();
  const body = { interface: 'vision', baseUrl: 'https://partner.invalid', apiKey: PARTNER_KEY, enabled: false };
  return { haulerId: hauler.id, connectionId: await hauler.connect(body), name: await nameOf(hauler) };
}

describe('the coverage of fleets', () => {
  const fleetTable = () => scene.region('Fleet coverage');

  it('lists the trucks, the worst first, with a camera that is absent, and those of one hauler alone', async () => {
    const { page, visit } = scene;
    const [north, south] = [await newFleet(), await newFleet()];
    const hour = { camera: 'front', seconds: 3600, status: 'stored' };
    await insertChunks(database, north, [
      { ...hour, truck: 'T-GOOD', at: noon(2) },
      { ...hour, truck: 'T-BLIND', at: noon(2) },
      { ...hour, truck: 'T-BLIND', camera: '2', at: noon(20) },
    ]);
    await insertChunks(database, south, [
      { ...hour, truck: 'T-BAD', at: noon(2) },
      { ...hour, truck: 'T-BAD', at: noon(2, 1), status: 'failed', code: 'linkRefused' },
    ]);
    await visit('coverage?zone=UTC');
    await fleetTable()
      .getByRole('rowheader', { name: /^T-GOOD/ })
      .waitFor();
    const rows = (await fleetTable().getByRole('row').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
    const place = (text: string) => rows.findIndex((row) => row.startsWith(text));
    const [bad, blind] = [place(`T-BAD ${south.name}`), place(`T-BLIND ${north.name}`)];
    expect(rows[bad]).toContain('50%');
    expect(blind).toBeGreaterThan(bad);
    expect(rows[blind + 1]).toMatch(/^Camera 2: nothing recorded in this time; its last recording began .+\./);
    expect(place(`T-GOOD ${north.name}`)).toBeGreaterThan(blind);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByLabel(/^Hauler/).selectOption({ label: north.name });
    await fleetTable()
      .getByRole('rowheader', { name: /^T-BAD/ })
      .waitFor({ state: 'detached' });
  });

  it('has the days of the zone that is shown', async () => {
    const { page, visit } = scene;
    const fleet = await newFleet();
    // 22:00 to 23:00 in UTC is noon of the next day on this island.
    const at = new Date(Date.parse(noon(3)) + 10 * HOUR_MS);
    const chunk = { truck: 'T-ISLE', camera: 'front', at: at.toISOString(), seconds: 3600, status: 'stored' };
    await insertChunks(database, fleet, [chunk]);
    const day = (zone: string) => at.toLocaleDateString('en-CA', { timeZone: zone });
    expect(day('UTC')).not.toBe(day('Pacific/Kiritimati'));
    for (const zone of ['UTC', 'Pacific/Kiritimati']) {
      await visit(`coverage?zone=${zone}&haulerId=${fleet.haulerId}`);
      await fleetTable()
        .getByRole('link', { name: `T-ISLE, ${day(zone)}: 100% stored` })
        .waitFor();
    }
    await page.getByRole('link', { name: /100% stored/ }).click();
    await page.waitForURL(/zone=Pacific%2FKiritimati.*from=.*T10%3A00/);
  });

  it('leads to a sentence for each camera: what is missing, why and whose part it is', async () => {
    const { page, visit } = scene;
    const fleet = await newFleet();
    const chunk = { truck: 'T1', seconds: 1200, status: 'failed' };
    await insertChunks(database, fleet, [
      { ...chunk, camera: 'front', at: noon(2), code: 'linkRefused' },
      { ...chunk, camera: 'front', at: noon(2, 1), code: 'invalidFile' },
      { ...chunk, camera: 'front', at: noon(2, 2), status: 'expired', code: 'notListed' },
      { ...chunk, camera: 'rear', at: noon(2), status: 'stored' },
      { ...chunk, camera: 'side', at: noon(9), status: 'stored' },
    ]);
    for (const days of [1, 7]) {
      const range = `from=${noon(2 + days / 2)}&to=${noon(2 - days / 2)}`;
      await visit(`coverage?connectionId=${fleet.connectionId}&truckId=T1&${range}`);
      const cameras = page.getByRole('list', { name: 'Cameras' }).getByRole('listitem');
      await cameras.first().waitFor();
      const texts = await cameras.allInnerTexts();
      expect(texts[0]).toMatch(
        /^Front: 60 min lost: 20 min (of dead links|of broken files|not listed by the partner), 20 min .*, 20 min .*\..*Whose part: the partner/s,
      );
      expect(texts).toContainEqual(expect.stringMatching(/^Rear: nothing lost of 20 min recorded\./));
      expect(texts).toContainEqual(
        expect.stringMatching(/^Side: nothing recorded in this time; its last recording began/),
      );
    }
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('pages through the trucks of a large fleet, and bounds the days of its address', async () => {
    const { page, visit } = scene;
    const fleet = await newFleet();
    await insertTrucks(database, fleet, 360);
    await visit(`coverage?haulerId=${fleet.haulerId}&days=31&page=14`);
    await page.getByText('360 records, page 14 of 15').waitFor();
    await page.getByRole('button', { name: 'Next', exact: true }).click();
    await page.getByText('360 records, page 15 of 15').waitFor();
    await page.getByRole('rowheader', { name: 'many 350' }).waitFor();
    for (const days of ['101', '-3', '1e9']) {
      await visit(`coverage?haulerId=${fleet.haulerId}&days=${days}`);
      await fleetTable().getByText('many 001').first().waitFor();
    }
  });
});
