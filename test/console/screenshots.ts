import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { call } from '../acceptance/support/target.js';
import { eventually } from '../support/eventually.js';
import { failRecording } from '../support/rows.js';
import { testServer } from '../support/test-run.js';
import { ask, type ConsoleScene, database, exchanges, list, startConsole, target } from './support/console.js';
import { DEMO } from './support/demo.js';

/** `npm run screenshots` takes the pictures of the documents from the running demo. It is no part of the tests. */
const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'docs/pictures');
const KIT = join(ROOT, 'dist/conformance/haulbridge-conformance.mjs');
const SIZE = { width: 1280, height: 800 };
const MAX_BYTES = 150_000;
const MINUTE_MS = 60_000;
const LATE_MS = 120_000;

interface Recording {
  readonly id: string;
  readonly connectionId: string;
  readonly cameraId: string;
  readonly startTime: string;
}

let scene: ConsoleScene;
/** What the partner of the demo lists. */
let demoData: Readonly<Record<string, unknown>>;
const putSiteData = (data: object) => ask('PUT', `/hosted/haulers/${DEMO.haulerId}/site-data`, data);
beforeAll(async () => {
  const headers = { 'API-KEY': target.keys.partner };
  const path = `/scale-platform/v1/sites?haulerId=${DEMO.haulerId}`;
  demoData = (await call<{ data: typeof demoData }>('GET', path, { headers }, target)).body.data;
  mkdirSync(FOLDER, { recursive: true });
  scene = await startConsole();
  await scene.page.setViewportSize(SIZE);
  await pushTickets();
}, LATE_MS);
afterAll(() => scene.close());

function push(ticketNumber: string, minutesAgo: number, material: object) {
  const headers = { 'PLATFORM-API-KEY': target.keys.platform };
  const body = {
    siteId: DEMO.siteId,
    materials: [{ id: DEMO.materialId, name: 'Mixed construction debris', unitOfMeasure: 'Ton', ...material }],
    inboundFlow: { ticketNumber, updatedAt: new Date(Date.now() - minutesAgo * MINUTE_MS).toISOString() },
  };
  return call('POST', '/platform-api/v1/tickets', { headers, body }, target);
}

/** A morning at a scale house whose new software sends a wrong unit for some loads. */
async function pushTickets(): Promise<void> {
  for (let n = 0; n < 40; n++) await push(`IN-2048${10 + n}`, 60 - n, { quantity: 8 + ((n * 37) % 90) / 10 });
  await push('IN-204817', 5, { quantity: 12.48 });
  for (let n = 0; n < 4; n++) await push(`IN-2049${10 + n}`, 4 - n, { quantity: 9.2 + n, unitOfMeasure: 'Tons' });
  await exchanges('pageSize=1');
}

/** The demo partner lists no material any more: the removals are held. */
async function holdRun(): Promise<string> {
  const [connection] = await list<{ id: string }>('/connections?interface=site');
  await putSiteData({ ...demoData, materials: [] });
  const { runId } = await ask<{ runId: string }>('POST', `/connections/${connection?.id}/sync`);
  await eventually(async () => {
    expect(await ask('GET', `/sync-runs/${runId}`)).toMatchObject({ status: 'held' });
  });
  return runId;
}

async function storedRecordings(): Promise<Recording[]> {
  return eventually(async () => {
    const stored = await list<Recording>('/recordings?status=stored&source=continuous');
    expect(stored.length).toBeGreaterThanOrEqual(20);
    return [...stored].sort((one, other) => (one.startTime < other.startTime ? -1 : 1));
  }, LATE_MS);
}

/** The links of two recordings expired before they were fetched, and the file of a third one is broken. */
async function loseFootage(recordings: readonly Recording[]): Promise<void> {
  const lost = [
    ['front', 2, 'expired', 'linkRefused', 'The link of the file was refused after it had expired.'],
    ['front', 3, 'expired', 'linkRefused', 'The link of the file was refused after it had expired.'],
    ['rear', 6, 'failed', 'invalidFile', 'The file is not a valid MP4.'],
  ] as const;
  for (const [camera, index, status, code, reason] of lost) {
    const { id } = recordings.filter(({ cameraId }) => cameraId === camera)[index] ?? {};
    await failRecording(database, id ?? '', [status, code, reason]);
  }
}

/** The upper part of the page, when nothing on it is being loaded. */
async function take(name: string, height = SIZE.height): Promise<void> {
  const { page } = scene;
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
  await page.setViewportSize({ ...SIZE, height });
  const path = join(FOLDER, `${name}.png`);
  await page.screenshot({ path, animations: 'disabled', scale: 'css' });
  await page.setViewportSize(SIZE);
  expect(statSync(path).size).toBeLessThan(MAX_BYTES);
}

test(
  'the player and the truck page',
  async () => {
    const { page, visit } = scene;
    const stored = await storedRecordings();
    const [first, last, middle] = [stored[0], stored.at(-1), stored[10]];
    if (first === undefined || last === undefined || middle === undefined)
      throw new Error('the demo has no recordings');
    const at = (time: string, minutes: number) => new Date(Date.parse(time) + minutes * MINUTE_MS).toISOString();
    await visit(`recordings?play=${middle.id}&cameras=front,rear&at=${at(middle.startTime, 0.4)}`);
    await page.getByRole('region', { name: 'Player' }).getByRole('link', { name: 'Download' }).nth(1).waitFor();
    // Both pictures are drawn.
    await eventually(async () => {
      const states = await page
        .locator('video')
        .evaluateAll((all) => all.map((each) => (each as unknown as { readyState: number }).readyState));
      expect(Math.min(...states)).toBeGreaterThan(1);
    });
    await take('player', 760);
    await loseFootage(stored);
    const range = `from=${at(first.startTime, -2)}&to=${at(last.startTime, 3)}`;
    await visit(`coverage?connectionId=${first.connectionId}&truckId=${DEMO.truckId}&${range}`);
    await page.getByRole('slider').waitFor();
    await take('truck');
  },
  LATE_MS,
);

test(
  'the exchange, the held run and the home page',
  async () => {
    const { page, visit } = scene;
    await visit('exchanges?reference=ticketNumber:IN-204910');
    await page.getByRole('link', { name: 'Push of a ticket' }).first().click();
    await page.getByRole('region', { name: 'Request body' }).waitFor();
    await take('exchange', 900);
    const run = await holdRun();
    await visit(`sync?run=${run}`);
    await page.getByRole('region', { name: 'Held removals' }).waitFor();
    await take('held-run');
    await visit('');
    await page.getByRole('region', { name: 'Needs attention' }).waitFor();
    await take('home', 812);
  },
  LATE_MS,
);

test(
  'the report of the conformance kit about a partner who sends a material without a site',
  async () => {
    const { page } = scene;
    const file = join(mkdtempSync(join(testServer().folder, 'report-')), 'report.html');
    const scenario = `/sandbox/haulers/${DEMO.haulerId}/scenarios/material-without-parent`;
    await putSiteData(demoData);
    await ask('PUT', scenario, { forSeconds: 600 });
    const kit = ['--role', 'site-server', '--url', target.url, '--hauler-id', DEMO.haulerId];
    // Exit code 1: a rule is broken.
    await promisify(execFile)(process.execPath, [
      KIT,
      ...kit,
      '--api-key',
      target.keys.partner,
      '--format',
      'html',
      '--out',
      file,
    ]).catch((error: unknown) => expect(error).toMatchObject({ code: 1 }));
    await ask('DELETE', scenario);
    await page.goto(pathToFileURL(file).href);
    await take('kit-report', 620);
  },
  LATE_MS,
);
