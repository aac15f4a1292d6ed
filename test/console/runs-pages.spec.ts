import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DEMO } from '../../src/demo/demo-data.js';
import { createHauler } from '../support/api-keys.js';
import { eventually } from '../support/eventually.js';
import { type ScriptedPartner, startScriptedPartner } from '../support/scripted-partner.js';
import { idOf, kiosk, material, type PlainSiteData, site } from '../support/site-data.js';
import { answer, PARTNER_KEY, SITES_ROUTE } from '../support/site-scene.js';
import { accessibilityFindings, type ConsoleScene, startConsole } from './console-pages.js';

let scene: ConsoleScene;
let partner: ScriptedPartner;
let haulerId: string;
let connectionId: string;
beforeAll(async () => {
  [scene, partner] = await Promise.all([startConsole(), startScriptedPartner()]);
  haulerId = await createHauler(scene.service);
  const { body } = await scene.service.admin<{ id: string }>('POST', '/connections', {
    haulerId,
    interface: 'site',
    baseUrl: partner.url,
    apiKey: PARTNER_KEY,
    enabled: false,
  });
  connectionId = body.id;
}, 90_000);
afterAll(async () => {
  await scene.close();
  await partner.stop();
});
afterEach(async () => expect(await scene.endCase()).toEqual([]));

/** The id of a finished run over what the partner has now. */
async function synchronise(data: PlainSiteData): Promise<string> {
  partner.on(SITES_ROUTE, answer(data));
  const { body } = await scene.service.admin<{ runId: string }>('POST', `/connections/${connectionId}/sync`);
  await eventually(async () => {
    const { body: run } = await scene.service.admin<{ finishedAt: string | null }>('GET', `/sync-runs/${body.runId}`);
    expect(run.finishedAt).not.toBeNull();
  });
  return body.runId;
}

describe('the page of a run', () => {
  it('groups refused records by rule, each with a list of its own, and folds their JSON', async () => {
    const { page, region, visit } = scene;
    const wrong = (_: unknown, n: number) => material(`m${n}`, { siteId: idOf('a'), measureUnit: 'Gallon' });
    const materials = [...Array.from({ length: 143 }, wrong), material('p')];
    const id = await synchronise({ sites: [site('a')], kiosks: [kiosk('k', 'a')], materials });
    await visit(`sync?run=${id}`);
    const quarantine = region('Quarantine');
    await quarantine.getByText('144 records, page 1 of 8').waitFor();
    expect(await quarantine.getByRole('list', { name: 'By rule' }).getByRole('link').allInnerTexts()).toEqual([
      '143 × wrong unit',
      '1 × neither site nor kiosk',
    ]);
    await quarantine.getByRole('link', { name: '1 × neither site nor kiosk' }).click();
    await quarantine.getByText('1 record', { exact: true }).waitFor();
    await page.reload();
    await quarantine.getByText('1 record', { exact: true }).waitFor();
    const json = page.getByRole('region', { name: 'Record materials[143]' });
    expect(await json.isVisible()).toBe(false);
    await quarantine.getByText('Show', { exact: true }).click();
    await json.getByText('"measureUnit"').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });
});

describe('the exchanges page', () => {
  it('counts failed calls by reason, opens each, and keeps three views before many filters', async () => {
    const { page, region, service, demo, visit } = scene;
    const push = (body: object) =>
      service.call('POST', '/platform-api/v1/tickets', { headers: { 'PLATFORM-API-KEY': demo.keys.platform }, body });
    const unknown = {
      siteId: DEMO.siteId,
      materials: [{ id: idOf('nothing'), name: 'Debris', unitOfMeasure: 'Ton', quantity: 1 }],
      inboundFlow: { ticketNumber: 'IN-1', updatedAt: '2026-01-31T08:00:00Z' },
    };
    for (let n = 0; n < 3; n++) await push(unknown);
    await push({ ...unknown, siteId: 'nonsense' });
    await visit('exchanges');
    await page.getByRole('button', { name: 'Refused pushes' }).click();
    await page.waitForURL(/direction=inbound&failed=true/);
    expect(await page.getByLabel('Error code').isVisible()).toBe(false);
    const reasons = region('Reasons');
    await reasons.getByRole('link', { name: '3 × materialExists' }).click();
    await page.waitForURL(/reason=materialExists/);
    const rows = region('Exchanges').getByRole('row');
    await rows.nth(4).waitFor({ state: 'detached' });
    expect(await rows.count()).toBe(4);
    await rows.nth(1).getByText('The platform has no material with this id for your hauler.').waitFor();
    await page.reload();
    await rows.nth(3).waitFor();
    expect(await rows.count()).toBe(4);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByLabel('Error code').fill('NOT_A_CODE');
    await page.getByText('Nothing matches these filters.').waitFor();
    await page.getByRole('button', { name: 'Everything of the last hour' }).click();
    await rows.nth(4).waitFor();
  });
});
