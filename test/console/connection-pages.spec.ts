import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createHauler, issueConnectionKey } from '../support/api-keys.js';
import { sampleVideo } from '../support/sample-video.js';
import { html, refuses } from '../support/scripted-partner.js';
import { site } from '../support/site-data.js';
import { answer, PARTNER_KEY, SITES_ROUTE } from '../support/site-scene.js';
import { eventually } from '../support/eventually.js';
import {
  CONTINUOUS,
  element,
  inHours,
  lists,
  startVisionPartner,
  type VisionPartner,
} from '../support/scripted-vision.js';
import { hurryVideo } from '../support/time.js';
import { accessibilityFindings, type ConsoleScene, signIn, startConsole } from './console-pages.js';

let scene: ConsoleScene;
let partner: VisionPartner;
let haulerId: string;
beforeAll(async () => {
  [scene, partner] = await Promise.all([startConsole(), startVisionPartner()]);
  haulerId = await createHauler(scene.service);
}, 90_000);
afterAll(async () => {
  await scene.close();
  await partner.stop();
});
afterEach(async () => expect(await scene.endCase()).toEqual([]));

async function connect(kind: 'site' | 'vision'): Promise<string> {
  const { body } = await scene.service.admin<{ id: string }>('POST', '/connections', {
    haulerId,
    interface: kind,
    baseUrl: partner.url,
    apiKey: PARTNER_KEY,
    enabled: kind === 'vision',
  });
  return body.id;
}

/** As an admin does: the form of the console issues the key. */
async function issueInConsole(connectionId: string): Promise<string> {
  const { page, visit, region: part } = scene;
  await visit('keys?new=1');
  await page.getByLabel('Name', { exact: false }).first().fill('Camera vendor');
  await page.locator('select[name=connectionId]').selectOption(connectionId);
  await page.getByRole('button', { name: 'Issue the key' }).click();
  const key = await part('New key').locator('.secret code').innerText();
  await part('API keys')
    .getByText(/^partner of .+, (site|vision)$/)
    .waitFor();
  return key;
}

/** A page of the partner of a connection, who has signed in with its key. */
async function partnerPage(key: string): Promise<Page> {
  const page = await scene.visitor();
  await signIn(page, key, 'API key of a partner');
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  return page;
}

const names = (page: Page) => page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts();
const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

describe('the key of a Site connection', () => {
  it('opens a home page: the last synchronisation, records in quarantine and calls that failed', async () => {
    const { service } = scene;
    const connectionId = await connect('site');
    partner.on(SITES_ROUTE, answer({ sites: [site('north'), site('bad', { name: 7 })], kiosks: [], materials: [] }));
    await service.admin('POST', `/connections/${connectionId}/sync`);
    const ended = await eventually(async () => {
      const { body } = await service.admin<{ data: { finishedAt: string | null }[] }>(
        'GET',
        `/sync-runs?connectionId=${connectionId}`,
      );
      expect(body.data[0]?.finishedAt).toEqual(expect.any(String));
      return body.data[0]?.finishedAt;
    });
    partner.on(SITES_ROUTE, refuses(403, 'UNAUTHORIZED', 'closed on Sundays'), html());
    for (let n = 0; n < 2; n++) await service.admin('POST', `/connections/${connectionId}/check`);

    const page = await partnerPage(await issueInConsole(connectionId));
    expect(await names(page)).toEqual(['Home', 'Exchanges', 'Synchronisation']);
    const state = region(page, 'Connection');
    await state.locator(`time[datetime="${ended}"]`).waitFor();
    await state.getByText(partner.url).waitFor();
    const quarantine = region(page, 'Records in quarantine');
    await quarantine.getByText('sites[1].name').first().waitFor();
    const calls = region(page, 'Calls that failed, last day');
    await calls.getByText('not-json').first().waitFor();
    await calls.getByText('The response says: closed on Sundays').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);

    await calls.getByRole('link', { name: 'GET getSites' }).last().click();
    await page.getByText('closed on Sundays').first().waitFor();
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await quarantine.getByRole('link').first().click();
    await region(page, 'Quarantine').getByText('sites[1].name').first().waitFor();
    await region(page, 'Changes').getByText('Site north').first().waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'All runs' }).click();
    await region(page, 'Runs').getByText('succeeded').waitFor();
  }, 60_000);
});

describe('the key of a Vision connection', () => {
  it('opens a home page: unread times, errors in its lists, and failed recordings to try again', async () => {
    const { service } = scene;
    const connectionId = await connect('vision');
    const follow = (truckId: string) =>
      service.admin('POST', '/video-subscriptions', { connectionId, truckId, startTime: inHours(-4) });
    const times = { startTime: inHours(-2), endTime: inHours(-1.9) };
    const listed = lists('recordings', () => [
      element({ id: 'whole', ...times, downloadUrl: partner.link(sampleVideo()) }),
      element({ id: 'no-start', startTime: 'yesterday' }),
    ]);
    const refused = refuses(400, 'INVALID_PAYLOAD', 'no such truck today');
    partner.on(CONTINUOUS, (response, request) =>
      (request.query.get('truckId') === 'TRUCK-8' ? refused : listed)(response, request),
    );
    for (const truckId of ['TRUCK-7', 'TRUCK-8']) await follow(truckId);
    const { dataSource } = service;
    await eventually(async () => {
      await hurryVideo(service);
      const of = 'WHERE connection_id = $1';
      const found = await Promise.all([
        dataSource.query(`SELECT FROM recordings ${of} AND status = 'stored'`, [connectionId]),
        dataSource.query(`SELECT FROM video_windows ${of} AND reread_day IS NULL`, [connectionId]),
      ]);
      expect(found.map((rows: unknown[]) => rows.length)).toEqual([1, 1]);
    }, 20_000);
    // Another list would revive the recording.
    await service.admin('PATCH', `/connections/${connectionId}`, { enabled: false });
    await eventually(async () => {
      const reading = (table: string) => `SELECT FROM ${table} WHERE connection_id = $1 AND started_at IS NOT NULL`;
      const sql = `${reading('video_subscriptions')} UNION ALL ${reading('video_windows')}`;
      expect(await dataSource.query(sql, [connectionId])).toEqual([]);
    });
    await dataSource.query(
      `UPDATE recordings SET status = 'failed', reason = 'The file is not a valid MP4.', reason_code = 'invalidFile'
        WHERE connection_id = $1`,
      [connectionId],
    );

    const page = await partnerPage((await issueConnectionKey(service, connectionId)).key);
    expect(await names(page)).toEqual(['Home', 'Exchanges', 'Recordings']);
    await region(page, 'Times that were not read').getByText('no such truck today').waitFor();
    await region(page, 'Errors in your lists').getByText('data.recordings[1].startTime').waitFor();
    await region(page, 'Calls that failed, last day').getByText('400').first().waitFor();
    const failed = region(page, 'Recordings that failed');
    await failed.getByText('The file is not a valid MP4.').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await failed.getByRole('button', { name: 'Fetch this recording again' }).click();
    await failed.waitFor({ state: 'detached' });

    await page.getByRole('link', { name: 'Recordings', exact: true }).click();
    await region(page, 'Recordings').getByText('TRUCK-7, front').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  }, 60_000);
});
