import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DEMO, demoRecording } from '../../src/demo/demo-data.js';
import { demoClient } from '../../src/demo/seed.js';
import { eventually } from '../support/eventually.js';
import { accessibilityFindings, type ConsoleScene, startConsole } from './console-pages.js';

let scene: ConsoleScene;
beforeAll(async () => {
  scene = await startConsole();
}, 90_000);
afterAll(() => scene.close());
afterEach(async () => expect(await scene.endCase()).toEqual([]));

const HOUR_MS = 3_600_000;

interface Fleet {
  readonly haulerId: string;
  readonly connectionId: string;
}

/** A hauler with a partner that is never called. */
async function addHauler(name: string): Promise<Fleet> {
  const { body: hauler } = await scene.service.admin<{ id: string }>('POST', '/haulers', { name });
  const body = {
    haulerId: hauler.id,
    interface: 'vision',
    baseUrl: 'https://partner.invalid',
    apiKey: 'k',
    enabled: false,
  };
  const { body: connection } = await scene.service.admin<{ id: string }>('POST', '/connections', body);
  return { haulerId: hauler.id, connectionId: connection.id };
}

interface Chunk {
  readonly truck: string;
  readonly camera: string;
  readonly at: string;
  readonly seconds: number;
  readonly status: string;
  readonly code?: string;
}

const addRecordings = ({ haulerId, connectionId }: Fleet, chunks: readonly Chunk[]) =>
  scene.service.dataSource.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, reason_code, fetch_by, created_at, updated_at)
     SELECT $1, gen_random_uuid(), $2, 'continuous', gen_random_uuid(), 'c', truck, camera, at,
       at + seconds * interval '1 second', seconds, status, code, now(), now(), now()
     FROM json_to_recordset($3) AS chunks
       (truck text, camera text, at timestamptz, seconds integer, status text, code text)`,
    [haulerId, connectionId, JSON.stringify(chunks)],
  );

/** Noon of a day before today, in UTC. */
const noon = (daysAgo: number, hours = 0) =>
  new Date(
    Math.floor(Date.now() / (24 * HOUR_MS)) * 24 * HOUR_MS - (daysAgo * 24 - 12 - hours) * HOUR_MS,
  ).toISOString();

describe('the fleet', () => {
  it('shows the trucks of all haulers, the worst first, and a camera that is absent', async () => {
    const { page, region, visit } = scene;
    const [north, south] = [await addHauler('North Hauling'), await addHauler('South Hauling')];
    const hour = { camera: 'front', seconds: 3600, status: 'stored' };
    await addRecordings(north, [
      { ...hour, truck: 'T-GOOD', at: noon(2) },
      { ...hour, truck: 'T-BLIND', at: noon(2) },
      { ...hour, truck: 'T-BLIND', camera: '2', at: noon(20) },
    ]);
    await addRecordings(south, [
      { ...hour, truck: 'T-BAD', at: noon(2) },
      { ...hour, truck: 'T-BAD', at: noon(2, 1), status: 'failed', code: 'linkRefused' },
    ]);
    await visit('coverage?zone=UTC');
    const fleet = region('Fleet coverage');
    await fleet.getByText('T-GOOD').waitFor();
    const rows = (await fleet.getByRole('row').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
    const place = (pattern: RegExp) => rows.findIndex((text) => pattern.test(text));
    expect(place(/^T-BAD South Hauling/)).toBe(1);
    expect(place(/^T-BLIND North Hauling/)).toBe(2);
    expect(rows[3]).toMatch(/^Camera 2: nothing recorded in this time; its last recording began .+\./);
    expect(place(/^T-GOOD North Hauling/)).toBeGreaterThan(3);
    expect(rows[1]).toContain('50%');
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByLabel('Hauler').selectOption({ label: 'North Hauling' });
    await fleet.getByText('T-BAD').waitFor({ state: 'detached' });
  });

  it('has the days of the zone that is shown', async () => {
    const { page, region, visit } = scene;
    const fleet = await addHauler('Island Hauling');
    // 22:00 to 23:00 in UTC is noon of the next day on this island.
    const at = new Date(Date.parse(noon(3)) + 10 * HOUR_MS);
    await addRecordings(fleet, [
      { truck: 'T-ISLE', camera: 'front', at: at.toISOString(), seconds: 3600, status: 'stored' },
    ]);
    const day = (zone: string) => at.toLocaleDateString('en-CA', { timeZone: zone });
    for (const zone of ['UTC', 'Pacific/Kiritimati']) {
      await visit(`coverage?zone=${zone}&haulerId=${fleet.haulerId}`);
      await region('Fleet coverage')
        .getByRole('link', { name: `T-ISLE, ${day(zone)}: 100% stored` })
        .waitFor();
    }
    expect(day('UTC')).not.toBe(day('Pacific/Kiritimati'));
    await page.getByRole('link', { name: /100% stored/ }).click();
    await page.waitForURL(/zone=Pacific%2FKiritimati.*from=.*T10%3A00/);
  });
});

describe('the page of a truck', () => {
  it('begins with a sentence for each camera: what is missing, why and whose part it is', async () => {
    const { page, visit } = scene;
    const fleet = await addHauler('West Hauling');
    const chunk = { truck: 'T1', seconds: 1200, status: 'failed' };
    await addRecordings(fleet, [
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
        /^Front: 60 min missing; 20 (dead links|broken files|not listed by the partner), 20 .*, 20 .*\..*Whose part: the partner/s,
      );
      expect(texts.find((text) => text.startsWith('Rear'))).toMatch(/^Rear: nothing missing of 20 min recorded\./);
      expect(texts.find((text) => text.startsWith('Side'))).toMatch(
        /^Side: nothing recorded in this time; its last recording began/,
      );
    }
    expect(await accessibilityFindings(page)).toEqual([]);
  });
});

const MINUTE_MS = 60_000;
const TRUCK = 'TRUCK-9';
const LATE_MS = 120_000;

interface Recording {
  readonly id: string;
  readonly connectionId: string;
  readonly cameraId: string;
  readonly startTime: string;
}

const list = async <T>(path: string): Promise<T[]> => (await scene.service.admin<{ data: T[] }>('GET', path)).body.data;

/** What a partner recorded: 25 min of the front camera, nothing for 10 min, and then 3 min of both cameras. */
async function record(): Promise<{ first: Recording; gap: number; later: number; connectionId: string }> {
  const admin = demoClient(scene.service.url, scene.service.env);
  const start = (Math.floor(Date.now() / MINUTE_MS) - 45) * MINUTE_MS;
  const upload = async (cameraId: string, minute: number) => {
    const at = start + minute * MINUTE_MS;
    const file = demoRecording('front', new Date(at));
    const [startTime, endTime] = [at, at + MINUTE_MS].map((time) => new Date(time).toISOString()) as [string, string];
    const query = { customerId: DEMO.haulerId, truckId: TRUCK, cameraId, startTime, endTime };
    const content = { content: createReadStream(file), sizeBytes: (await stat(file)).size };
    await admin.call('uploadHostedRecording', { query, upload: content });
  };
  for (let minute = 0; minute < 25; minute++) await upload('front', minute);
  for (let minute = 35; minute < 38; minute++) for (const camera of ['front', '2']) await upload(camera, minute);
  const connectionId = (await list<{ id: string }>('/connections?interface=vision')).at(-1)?.id ?? '';
  const subscription = { connectionId, truckId: TRUCK, intervalSeconds: 30 };
  const startTime = new Date(start - MINUTE_MS).toISOString();
  await scene.service.admin('POST', '/video-subscriptions', { ...subscription, startTime });
  await scene.service.dataSource.query("INSERT INTO partner_camera_names VALUES ($1, $2, $3, 'rear', '2')", [
    DEMO.haulerId,
    connectionId,
    TRUCK,
  ]);
  const recordings = await eventually(async () => {
    const all = await list<Recording>(`/recordings?status=stored&truckId=${TRUCK}&pageSize=100`);
    expect(all).toHaveLength(31);
    return all;
  }, LATE_MS);
  const first = recordings.find(({ startTime: at }) => Date.parse(at) === start)!;
  return { first, connectionId, gap: start + 25 * MINUTE_MS, later: start + 35 * MINUTE_MS };
}

describe('footage that can be played', () => {
  let footage: Awaited<ReturnType<typeof record>>;
  beforeAll(async () => void (footage = await record()), LATE_MS);
  const truck = (from: number, to: number) =>
    `coverage?connectionId=${footage.connectionId}&truckId=${TRUCK}&from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;
  const player = (at: number, cameras: string) =>
    `recordings?play=${footage.first.id}&at=${new Date(at).toISOString()}&cameras=${cameras}`;
  const time = (at: number) => new Date(at).toISOString().slice(11, 16);

  it('a click on a lane plays all cameras at that moment, which the address keeps', async () => {
    const { page, visit } = scene;
    const { later } = footage;
    await visit(truck(later - 3 * MINUTE_MS, later + 3 * MINUTE_MS));
    await page.locator('.lane-stored').first().waitFor();
    const lane = (await page.locator('.lane-frame').nth(1).boundingBox())!;
    await page.mouse.click(lane.x + lane.width * 0.75, lane.y + lane.height / 2);
    await page.waitForURL(/cameras=front%2C2|cameras=2%2Cfront/);
    for (const camera of ['front', '2']) await page.locator(`video[aria-label="Camera ${camera}"]`).waitFor();
    const shown = () => page.getByRole('slider', { name: 'Time' }).inputValue();
    const at = Number(await shown());
    expect(Math.abs(at - (later + 1.5 * MINUTE_MS))).toBeLessThan(10_000);
    await page.reload();
    await page.getByRole('slider', { name: 'Time' }).waitFor();
    expect(Number(await shown())).toBe(at);
    // A jump to another file is in the address too.
    const end = async () => Number(await page.getByRole('slider', { name: 'Time' }).getAttribute('max'));
    await eventually(async () => expect(await end()).toBe(later + 3 * MINUTE_MS));
    await page.getByRole('slider', { name: 'Time' }).fill(String(later + 150_000));
    await page.waitForURL((url) => Date.parse(url.searchParams.get('at') ?? '') === later + 150_000);
  });

  it('a selected time is zoomed or requested, by mouse and by keyboard; what is to come is not requested', async () => {
    const { page, visit } = scene;
    const { later } = footage;
    const panel = page.getByRole('group', { name: 'Clip of the selected range' });
    await visit(truck(later - 10 * MINUTE_MS, later + 10 * MINUTE_MS));
    await page.locator('.lane-stored').first().waitFor();
    const lane = (await page.locator('.lane-frame').first().boundingBox())!;
    const y = lane.y + lane.height / 2;
    await page.mouse.move(lane.x + lane.width * 0.5, y);
    await page.mouse.down();
    await page.mouse.move(lane.x + lane.width * 0.6, y, { steps: 4 });
    await page.mouse.up();
    await panel.getByRole('button', { name: 'Request the clip' }).waitFor();
    expect(await panel.innerText()).toMatch(/Camera 2, .+:\d\d:\d\d .+ to .+:\d\d:\d\d .+\(/);
    expect(await accessibilityFindings(page)).toEqual([]);
    await panel.getByRole('button', { name: 'Zoom to this time' }).click();
    const rangeOf = (url: URL) => ['from', 'to'].map((name) => Date.parse(url.searchParams.get(name) ?? ''));
    await page.waitForURL((url) => Math.abs(rangeOf(url)[1]! - rangeOf(url)[0]! - 2 * MINUTE_MS) < 10_000);

    await page.getByRole('slider').focus();
    await page.keyboard.press('ArrowRight');
    for (let i = 0; i < 3; i++) await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('Enter');
    await panel.getByRole('button', { name: 'Zoom to this time' }).waitFor();
    await eventually(async () =>
      expect(await page.evaluate('document.activeElement.innerText')).toBe('Zoom to this time'),
    );
    const before = page.url();
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.href !== before);

    await visit(truck(Date.now() + 10 * MINUTE_MS, Date.now() + 20 * MINUTE_MS));
    await page.getByRole('slider').focus();
    await page.keyboard.press('Enter');
    await panel.getByText('This time is still to come: no camera has recorded it yet.').waitFor();
    expect(await panel.getByRole('button', { name: 'Request the clip' }).count()).toBe(0);
  }, 40_000);

  it.each([
    [1280, 720],
    [390, 844],
  ])(
    'its controls are on the screen of %d × %d without scrolling, with a scale and the names of cameras',
    async (width, height) => {
      const { page, visit } = scene;
      await page.setViewportSize({ width, height });
      await visit(player(footage.later, 'front,2'));
      await page.locator('video').nth(1).waitFor();
      await page.getByText('Rear (2)').first().waitFor();
      for (const control of [
        page.getByRole('slider', { name: 'Time' }),
        page.getByRole('button', { name: 'Play', exact: true }),
        page.getByLabel('Speed'),
        page.locator('.clock'),
      ]) {
        const box = (await control.boundingBox())!;
        expect(box.y + box.height).toBeLessThanOrEqual(height);
      }
      expect(await page.locator('.time-scale span').allInnerTexts()).toContainEqual(
        expect.stringMatching(/^\d\d:\d0$/),
      );
      await page.setViewportSize({ width: 1280, height: 800 });
    },
  );

  it('stops at a gap, says why nothing is there, and goes on after it', async () => {
    const { page, visit } = scene;
    const { gap, later } = footage;
    await visit(player(gap - 1_000, 'front'));
    await page.locator('video').waitFor();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    const onward = page.getByRole('button', { name: `Continue at ${time(later)}` });
    await onward.waitFor();
    await page.getByText(/^No recording at this time: The partner lists no recording/).waitFor();
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await onward.click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    expect(Number(await page.getByRole('slider', { name: 'Time' }).inputValue())).toBeGreaterThanOrEqual(later);
  });

  it('sends no flood of requests when it plays on for more than 15 minutes', async () => {
    const { page, visit } = scene;
    await visit(player(Date.parse(footage.first.startTime), 'front'));
    await page.locator('video').waitFor();
    let calls = 0;
    page.on('request', (request) => {
      const url = request.url();
      if (url.includes('/admin/v1/') && !url.includes('content')) calls += 1;
    });
    const slider = page.getByRole('slider', { name: 'Time' });
    const later = Date.parse(footage.first.startTime) + 15 * MINUTE_MS;
    // Until the other recordings are listed, the scale ends with the first one.
    await eventually(async () => expect(Number(await slider.getAttribute('max'))).toBeGreaterThan(later));
    await slider.fill(String(later - 3_000));
    await page.getByLabel('Speed').selectOption('2');
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await eventually(async () => {
      expect(Number(await slider.inputValue())).toBeGreaterThan(later + 6_000);
    }, 30_000);
    // The recording, the facts around it and the next recordings; ten a second before.
    expect(calls).toBeLessThan(12);
  }, 45_000);
});

describe('the recordings', () => {
  it('are a gallery by truck and hour; pictures are drawn as they come into view, few at once, and only once', async () => {
    const { page, follow } = scene;
    const [asked, open] = [new Set<string>(), new Map<string, number>()];
    let most = 0;
    const count = (url: string, change: number) => {
      if (!url.endsWith('/content')) return;
      if (change > 0) asked.add(url);
      open.set(url, (open.get(url) ?? 0) + change);
      most = Math.max(most, [...open.values()].filter((requests) => requests > 0).length);
    };
    page.on('request', (request) => count(request.url(), 1));
    page.on('requestfinished', (request) => count(request.url(), -1));
    page.on('requestfailed', (request) => count(request.url(), -1));
    await follow('Recordings');
    await page.locator('.poster.drawn').nth(2).waitFor();
    const tiles = await page.locator('.gallery li').count();
    expect(tiles).toBeGreaterThan(40);
    expect(asked.size).toBeLessThan(tiles);
    expect(most).toBeLessThanOrEqual(3);
    // A part of a picture may have one colour.
    const colours = `((canvas) => [...new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data)])(
      document.querySelector('.poster.drawn'))`;
    expect((await page.evaluate<number[]>(colours)).length).toBeGreaterThan(2);
    expect(await page.getByRole('heading', { level: 2 }).first().innerText()).toMatch(/TRUCK-\d .+:00 Demo Hauling/);
    expect(await accessibilityFindings(page)).toEqual([]);

    const idsOf =
      "[...document.querySelectorAll('.gallery a:has(.drawn)')].map((link) => new URL(link.href).searchParams.get('play'))";
    const drawn = await page.evaluate<string[]>(idsOf);
    const go = (name: string) => page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
    await go('Tickets');
    asked.clear();
    await go('Recordings');
    await page.locator('.poster.drawn').nth(2).waitFor();
    expect(drawn.filter((id) => [...asked].some((url) => url.includes(id)))).toEqual([]);
    await page.getByRole('link', { name: 'List', exact: true }).click();
    await page.getByRole('region', { name: 'Recordings' }).waitFor();
  });
});
