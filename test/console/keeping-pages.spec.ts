import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Hold } from '../../src/contracts/admin/hold.dto.js';
import { insertFootage, videoConnection } from '../support/held-footage.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { testServer } from '../support/test-run.js';
import { extractZip } from '../support/zip.js';
import { accessibilityFindings, type ConsoleScene, signIn, startConsole } from './console-pages.js';

const VIEWER = 'token-of-a-viewer-of-the-console';

let scene: ConsoleScene;
let limited: TestApp;
beforeAll(async () => {
  scene = await startConsole();
  limited = await startTestApp({
    on: scene.service,
    env: { ADMIN_TOKENS: [{ name: 'eye', role: 'viewer', token: VIEWER }] },
  });
}, 90_000);
afterAll(async () => {
  await limited.close();
  await scene.close();
});
afterEach(async () => expect(await scene.endCase()).toEqual([]));

/** Of yesterday, in minutes after 10:00 UTC. */
const at = (minute: number): string => {
  const day = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 86_400_000;
  return new Date(day + 36_000_000 + minute * 60_000).toISOString();
};

/** A hauler with a truck that was recorded for ten minutes. */
async function fleet(fields: object = {}) {
  const ids = await videoConnection(scene.service);
  const minutes = Array.from({ length: 10 }, (_, i) => ({ ...ids, start: at(i), end: at(i + 1), ...fields }));
  await insertFootage(scene.service, minutes);
  return { ...ids, name: `Hauler ${ids.haulerId.slice(0, 8)}` };
}

const hold = async (connectionId: string, caseId: string): Promise<Hold> =>
  (
    await scene.service.admin<Hold>('POST', '/holds', {
      ...{ caseId, reason: 'Collision on Main St', connectionId, truckId: 'TRUCK-7', from: at(2), to: at(5) },
    })
  ).body;

async function viewer(path: string): Promise<Page> {
  const page = await scene.visitor(limited.url);
  await signIn(page, VIEWER);
  await page.goto(`/console/${path}`);
  return page;
}

describe('the holds', () => {
  it('are created from the page of a truck, shown with what they hold, downloaded and released', async () => {
    const { page, region, visit } = scene;
    const { connectionId } = await fleet();
    const { haulerId } = (await scene.service.admin<{ haulerId: string }>('GET', `/connections/${connectionId}`)).body;
    await insertFootage(scene.service, [
      { haulerId, connectionId, cameraId: 'rear', start: at(3), end: at(4), status: 'available' },
    ]);
    await visit(`coverage?connectionId=${connectionId}&truckId=TRUCK-7&from=${at(2.5)}&to=${at(4.2)}`);
    await page.getByRole('link', { name: 'Hold this range' }).click();
    const form = page.getByRole('form', { name: 'New hold' });
    expect(await form.getByLabel('Truck', { exact: false }).last().inputValue()).toBe('TRUCK-7');
    await form.getByLabel('Case').fill('CLAIM-2026-117');
    await form.getByLabel('Reason').fill('Letter of 3 February');
    await form.getByRole('button', { name: 'Hold the footage' }).click();

    const details = region('Hold');
    await details.getByText('Letter of 3 February').waitFor();
    const text = async () => (await details.innerText()).replace(/\s+/g, ' ');
    // The range of whole minutes around the shown one.
    expect(await text()).toContain('3 recordings, 3 KB');
    await region('At risk').getByText('available').waitFor();
    await region('Missing').getByText('no recording of it is known').first().waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download all of it (ZIP)' }).click(),
    ]);
    const folder = await mkdtemp(join(testServer().folder, 'bundle-'));
    await download.saveAs(join(folder, 'bundle.zip'));
    expect(download.suggestedFilename()).toMatch(/^hold-CLAIM-2026-117-.+\.zip$/);
    expect((await extractZip(join(folder, 'bundle.zip'), folder)).filter((name) => name.endsWith('.mp4'))).toHaveLength(
      3,
    );
    expect(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))).toMatchObject({ createdBy: 'console' });

    await page.getByRole('button', { name: 'Release …' }).click();
    await page.getByLabel('Why it is released').fill('Settled');
    await page.getByRole('button', { name: 'Release the hold' }).click();
    await details.getByText('by console: Settled').waitFor();
    expect(await page.getByRole('button', { name: 'Release …' }).count()).toBe(0);
    await page.getByRole('link', { name: 'All holds' }).click();
    await page.getByLabel('State').selectOption('active');
    await page.getByText('CLAIM-2026-117').waitFor({ state: 'detached' });
    await page.getByLabel('State').selectOption('released');
    await page.getByRole('link', { name: 'CLAIM-2026-117' }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('name what is wrong beside the field', async () => {
    const { page, visit, expectErrors } = scene;
    const { connectionId } = await fleet();
    expectErrors('400');
    await visit(`holds?new=1&connectionId=${connectionId}&truckId=TRUCK-77&from=${at(0)}&to=${at(5)}`);
    await page.getByLabel('Case').fill('CLAIM-1');
    await page.getByLabel('Reason').fill('Collision');
    await page.getByRole('button', { name: 'Hold the footage' }).click();
    await page.getByRole('alert').getByText('Must be a truck of which the connection has a recording').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('have no buttons for a viewer', async () => {
    const { connectionId } = await fleet();
    const { id, caseId } = await hold(connectionId, 'CLAIM-VIEW');
    const page = await viewer('holds');
    await page.getByRole('link', { name: caseId }).click();
    await page.getByText('Collision on Main St').waitFor();
    const buttons = page.getByRole('main').getByRole('button', { name: /Release|Hold/ });
    expect([await buttons.count(), await page.getByRole('link', { name: /ZIP|New hold/ }).count()]).toEqual([0, 0]);
    await page.goto(`/console/coverage?connectionId=${connectionId}&truckId=TRUCK-7&from=${at(0)}&to=${at(5)}`);
    await page.getByRole('button', { name: 'Zoom in' }).waitFor();
    expect(await page.getByRole('link', { name: 'Hold this range' }).count()).toBe(0);
    await page.goto(`/console/holds?id=${id}`);
    expect(await accessibilityFindings(page)).toEqual([]);
  });
});

describe('the retention', () => {
  it('shows what a shorter one deletes, and what a hold keeps, before it is set', async () => {
    const { page, region, visit } = scene;
    const { haulerId, connectionId, name } = await fleet({ storedDays: 60 });
    await hold(connectionId, 'CLAIM-KEEP');
    await visit('retention');
    await page.getByRole('search', { name: 'Hauler' }).getByLabel('Hauler').selectOption({ label: name });
    await region('Retention').getByText('for ever').first().waitFor();
    await page.getByLabel('Continuous recordings, days').fill('30');
    await page.getByRole('button', { name: 'Preview' }).click();
    const preview = region('Preview');
    await preview.getByText('7 recordings (7 KB) are deleted by it.').waitFor();
    expect((await preview.innerText()).replace(/\s+/g, ' ')).toContain('TRUCK-7 7 7 KB 3');
    expect(await accessibilityFindings(page)).toEqual([]);
    await preview.getByRole('button', { name: 'Delete and set the retention' }).click();
    await preview.getByText('This cannot be undone.').waitFor();
    await preview.getByRole('button', { name: 'Delete and set the retention' }).click();
    await region('Retention').getByText('30 days').waitFor();
    const { body } = await scene.service.admin('GET', `/haulers/${haulerId}/retention`);
    expect(body).toMatchObject({ continuousDays: 30, onDemandDays: null, changedBy: 'console' });
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('can only be read by a viewer', async () => {
    const { haulerId } = await fleet();
    const page = await viewer(`retention?haulerId=${haulerId}`);
    await page.getByRole('region', { name: 'Retention', exact: true }).getByText('for ever').first().waitFor();
    await page.getByRole('region', { name: 'Erasures', exact: true }).waitFor();
    const main = page.getByRole('main');
    expect([await main.getByRole('form').count(), await main.getByRole('button', { name: 'Preview' }).count()]).toEqual(
      [0, 0],
    );
    expect(await main.getByRole('link', { name: 'New erasure' }).count()).toBe(0);
    expect(await accessibilityFindings(page)).toEqual([]);
  });
});

describe('an erasure', () => {
  const fill = async (page: Page, connectionId: string) => {
    const form = page.getByRole('form', { name: 'New erasure' });
    await form.getByLabel('Partner who records the truck').selectOption(connectionId);
    await form.getByLabel('Truck').last().fill('TRUCK-7');
    for (const [name, time] of [
      ['From', at(0)],
      ['To', at(10)],
    ] as const) {
      const local = await page.evaluate((text: string) => {
        const date = new Date(text);
        return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
      }, time);
      await form.getByLabel(name, { exact: false }).last().fill(local);
    }
    await form.getByRole('button', { name: 'Preview the erasure' }).click();
  };

  it('is previewed, confirmed by its code, and has a receipt', async () => {
    const { page, region, visit, expectErrors } = scene;
    const { connectionId, haulerId } = await fleet();
    await visit(`retention?haulerId=${haulerId}`);
    await page.getByRole('link', { name: 'New erasure' }).click();
    await fill(page, connectionId);
    const details = region('Erasure');
    await details.getByText('previewed').waitFor();
    expect((await details.innerText()).replace(/\s+/g, ' ')).toContain('Recordings, with their files 10 –');
    expect(await accessibilityFindings(page)).toEqual([]);
    expectErrors('409');
    await page.getByLabel('Code').fill('WRONG1');
    await page.getByRole('button', { name: 'Erase for ever' }).click();
    await page.getByText('The confirmation code is not that of the preview').waitFor();
    await page.getByLabel('Code').fill(await details.locator('strong').innerText());
    await page.getByRole('button', { name: 'Erase for ever' }).click();
    await details.getByText('done', { exact: true }).waitFor({ timeout: 30_000 });
    expect((await details.innerText()).replace(/\s+/g, ' ')).toContain('Recordings, with their files 10 10');
    await page.getByRole('link', { name: 'All erasures' }).click();
    await region('Erasures').getByText('TRUCK-7, all cameras').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('of a held range is refused, and the hold is named', async () => {
    const { page, visit, expectErrors } = scene;
    const { connectionId, haulerId } = await fleet();
    await hold(connectionId, 'CLAIM-STOP');
    expectErrors('409');
    await visit(`retention?haulerId=${haulerId}&new=erasure`);
    await fill(page, connectionId);
    await page.getByRole('alert').getByText('held for CLAIM-STOP').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });
});
