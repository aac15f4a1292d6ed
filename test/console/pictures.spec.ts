import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { flow, TICKET } from '../acceptance/support/hauler.js';
import { VisionScene } from '../acceptance/support/vision.js';
import { eventually } from '../support/eventually.js';
import { CONTINUOUS, element, lists } from '../support/scripted-vision.js';
import { idOf, kiosk, material, site } from '../support/site-data.js';
import { ask, type ConsoleScene, list, newHauler, startConsole, target } from './support/console.js';
import { demoVideo } from './support/demo.js';
import { accessibilityFindings } from './support/page-checks.js';

const MINUTE_MS = 60_000;
const PREVIEW_BYTES = 512 * 1_024;

let scene: ConsoleScene;
beforeAll(async () => {
  scene = await startConsole();
}, 60_000);
afterAll(() => scene.close());
afterEach(async () => expect(await scene.endCase()).toEqual([]));

interface Box {
  readonly type: string;
  readonly bytes: Buffer;
}

/** The boxes of the top level. */
function boxesOf(file: Buffer): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at < file.length; at += file.readUInt32BE(at)) {
    boxes.push({ type: file.toString('latin1', at + 4, at + 8), bytes: file.subarray(at, at + file.readUInt32BE(at)) });
  }
  return boxes;
}

/** The same film with its boxes in another order: the offsets of its samples follow the place of `mdat`. */
function arranged(film: Buffer, order: readonly string[]): Buffer {
  const free = Buffer.alloc(2_000_000);
  free.writeUInt32BE(free.length, 0);
  free.write('free', 4, 'latin1');
  const boxes = boxesOf(film).map(({ type, bytes }) => ({ type, bytes: Buffer.from(bytes) }));
  const bytesOf = (type: string) => boxes.find((box) => box.type === type)?.bytes ?? free;
  const place = (types: readonly string[]) =>
    types.slice(0, types.indexOf('mdat')).reduce((sum, type) => sum + bytesOf(type).length, 0);
  const moved = place(order) - place(boxes.map(({ type }) => type));
  const moov = bytesOf('moov');
  for (let at = moov.indexOf('stco'); at >= 0; at = moov.indexOf('stco', at + 1)) {
    for (let i = 0; i < moov.readUInt32BE(at + 8); i++) {
      moov.writeUInt32BE(moov.readUInt32BE(at + 12 + i * 4) + moved, at + 12 + i * 4);
    }
  }
  return Buffer.concat(order.map(bytesOf));
}

describe('the gallery', () => {
  it('draws the first picture of each film from its ends alone, which is no view, and else says why there is none', async () => {
    const vision = await VisionScene.create({ service: target });
    const film = await demoVideo('front', 0);
    const h265 = Buffer.from(film);
    for (let at = h265.indexOf('avc1'); at >= 0; at = h265.indexOf('avc1')) h265.write('hvc1', at, 'latin1');
    const films: Readonly<Record<string, Buffer>> = {
      small: film,
      'moov at the end': arranged(film, ['ftyp', 'mdat', 'padding', 'moov']),
      'late picture': arranged(film, ['ftyp', 'moov', 'padding', 'mdat', 'padding']),
      h265,
      'no film': film,
      empty: film,
      gone: film,
    };
    const start = Math.floor(Date.now() / MINUTE_MS - 60) * MINUTE_MS;
    const iso = (minute: number) => new Date(start + minute * MINUTE_MS).toISOString();
    const chunks = Object.entries(films).map(([cameraId, file], minute) =>
      element({
        ...{ id: `film-${minute}`, cameraId, startTime: iso(minute), endTime: iso(minute + 1), durationSeconds: 60 },
        downloadUrl: vision.partner.link(file),
      }),
    );
    vision.partner.on(
      CONTINUOUS,
      lists('recordings', () => chunks),
    );
    await vision.follow({ startTime: iso(-10) });
    await vision.recordingsBecome(chunks.map(() => ({ status: 'stored' })));
    const stored = await list<{ id: string; cameraId: string }>(`/recordings?connectionId=${vision.connectionId}`);
    const idOfCamera = (camera: string) => stored.find(({ cameraId }) => cameraId === camera)?.id;

    const { page, visit } = scene;
    // The service stores no such file: it looks at each before.
    const served = { 'no film': [200, 'this is no film at all'], empty: [200, ''], gone: [404, '{}'] } as const;
    for (const [camera, [status, body]] of Object.entries(served)) {
      await page.route(`**/recordings/${idOfCamera(camera)}/content*`, (route) => route.fulfill({ status, body }));
    }
    scene.expectErrors('/content');
    const sent: (readonly [boolean, number])[] = [];
    const statuses = new Set<number>();
    page.on('response', (response) => {
      if (!response.url().includes('/content')) return;
      sent.push([response.url().includes('preview=true'), Number(response.headers()['content-length'] ?? 0)]);
      statuses.add(response.status());
    });
    await visit(`recordings?connectionId=${vision.connectionId}`);
    const tile = (camera: RegExp) => page.locator('.gallery li').filter({ hasText: camera });
    await eventually(async () => {
      expect(await page.locator('.poster.drawn').count()).toBe(2);
      expect(await tile(/late picture/i).innerText()).toContain('Its first picture is not within the preview.');
      expect(await tile(/h265/i).innerText()).toContain('H.265, which this browser does not show.');
      expect(
        await tile(/no film/i)
          .first()
          .innerText(),
      ).toContain('The file is no film.');
      expect(await tile(/empty/i).first().innerText()).toContain('The file is empty.');
      expect(await tile(/gone/i).first().innerText()).toContain('The file is gone;');
    }, 60_000);
    expect(
      await tile(/moov at the end/i)
        .locator('.drawn')
        .count(),
    ).toBe(1);
    // It asks for nothing that a preview does not have.
    expect([...statuses].toSorted()).toEqual([200, 206, 404]);
    expect(sent.filter(([isPreview, bytes]) => !isPreview || bytes > PREVIEW_BYTES)).toEqual([]);
    expect(await list(`/actions?resource=recording:${idOfCamera('small')}`)).toEqual([]);
    expect(await accessibilityFindings(page)).toEqual([]);

    // The page of one, which a hold keeps.
    const hold = {
      connectionId: vision.connectionId,
      truckId: 'TRUCK-7',
      from: iso(0),
      to: iso(1),
      caseId: 'CLAIM-2026-117',
      reason: 'a dispute',
    };
    const { id } = await ask<{ id: string }>('POST', '/holds', hold);
    await page.getByRole('link', { name: /^Play .*small/i }).click();
    const steps = page.getByRole('list', { name: 'Steps' });
    await steps.getByRole('link', { name: 'Hold 1' }).waitFor();
    expect(await steps.locator('.badge').allInnerTexts()).toEqual(['Listed', 'Stored', 'Held']);
    expect(await steps.getByRole('link', { name: 'Hold 1' }).getAttribute('href')).toContain(id);
    expect(await accessibilityFindings(page)).toEqual([]);

    // The month of the truck, with one request, and the day of the recordings.
    const day = iso(0).slice(0, 10);
    const months: string[] = [];
    page.on('request', (request) => request.url().includes('/coverage/fleet') && months.push(request.url()));
    await visit(`coverage?connectionId=${vision.connectionId}&truckId=TRUCK-7&zone=UTC&month=${day.slice(0, 7)}`);
    const square = page.getByRole('link', { name: new RegExp(`^${day}: 100% stored`) });
    await square.waitFor();
    expect(months).toHaveLength(1);
    await square.click();
    await page.waitForURL(new RegExp(`from=${day}T00`));
    expect(await square.getAttribute('aria-current')).toBe('date');
    expect(await accessibilityFindings(page)).toEqual([]);
  }, 120_000);
});

describe('a report', () => {
  it('has bars by day and shares by material, is printed without what surrounds it, and is no empty picture without tickets', async () => {
    const hauler = await newHauler({
      sites: {
        sites: [site('yard')],
        kiosks: [kiosk('north', 'yard')],
        materials: ['debris', 'clay'].map((each) => material(each, { siteId: idOf('yard') })),
      },
    });
    const push = (number: string, name: string, quantity: number) =>
      hauler.push({
        materials: [{ ...TICKET.materials[0], id: idOf(name), name, quantity }],
        inboundFlow: flow(number),
      });
    const { page, visit } = scene;
    await visit(`reports?haulerId=${hauler.id}`);
    await page.getByText('This hauler has no ticket yet.').waitFor();
    expect(await page.locator('.report svg').count()).toBe(0);
    await push('P-1', 'debris', 30);
    await push('P-2', 'clay', 10);
    await visit(`reports?haulerId=${hauler.id}&zone=UTC`);
    await page.getByRole('img', { name: /^1 day with tickets; the most was 40 tons/ }).waitFor();
    const shares = page.getByRole('list', { name: 'Shares by material' }).getByRole('listitem');
    await eventually(async () =>
      expect(await shares.allInnerTexts()).toEqual([
        expect.stringMatching(/debris\s+75 % 30 tons/),
        expect.stringMatching(/clay\s+25 % 10 tons/),
      ]),
    );
    expect(await page.locator('.tonnage title').count()).toBeGreaterThan(27);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.setViewportSize({ width: 700, height: 1_000 });
    for (const hidden of [page.locator('nav'), page.locator('header').first(), page.getByRole('button').first()]) {
      expect(await hidden.isVisible()).toBe(false);
    }
    const style = (selector: string) => `(({ display, color, backgroundColor }) => [display, color, backgroundColor])(
      getComputedStyle(document.querySelector(${JSON.stringify(selector)})))`;
    expect((await page.evaluate<string[]>(style('.report thead')))[0]).toBe('table-header-group');
    expect((await page.evaluate<string[]>(style('body'))).slice(1)).toEqual(['rgb(0, 0, 0)', 'rgb(255, 255, 255)']);
    await page.emulateMedia({ media: null, colorScheme: null });
  });
});
