import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { DEMO } from '../../src/demo/demo-data.js';
import { spanOf, sumOf } from '../../src/console/pages/reports.rules.js';
import { eventually } from '../support/eventually.js';
import { testServer } from '../support/test-run.js';
import { accessibilityFindings, type ConsoleScene, startConsole } from './console-pages.js';

let scene: ConsoleScene;
/** Of another hauler, whose rows no filtered list has. */
let strangerId: string;
beforeAll(async () => {
  scene = await startConsole();
  const { service, demo } = scene;
  const { body } = await service.admin<{ id: string }>('POST', '/haulers', { name: 'Stranger Hauling' });
  strangerId = body.id;
  const push = (path: string, content: object) =>
    service.call('POST', `/platform-api/v1/${path}`, {
      headers: { 'PLATFORM-API-KEY': demo.keys.platform },
      body: content,
    });
  const line = { id: DEMO.materialId, name: 'Mixed construction debris' };
  for (const [i, unitOfMeasure] of ['Ton', 'Pound', 'Cubic Yard'].entries()) {
    const { status } = await push('tickets', {
      siteId: DEMO.siteId,
      materials: [{ ...line, unitOfMeasure, quantity: unitOfMeasure === 'Pound' ? 3_000 : 12.5 }],
      inboundFlow: { ticketNumber: `REPORT-${i}`, updatedAt: '2026-01-31T08:01:00Z' },
      ...(i === 0 ? { customFields: { truck: 'T-7' } } : {}),
    });
    expect(status).toBe(200);
  }
  for (const accountName of ['Lone Star Demolition', '=Sum & Sons']) await push('accounts', { accountName });
  await service.dataSource.query(
    `INSERT INTO vision_findings (hauler_id, connection_id, digest, path, reason, raw, occurrences, first_seen_at, last_seen_at)
     SELECT hauler_id, id, 'x', 'data[3].startTime', 'must be a time', '{}', 2, now(), now() FROM connections WHERE interface = 'vision' LIMIT 1`,
  );
}, 90_000);
afterAll(() => scene.close());
afterEach(async () => expect(await scene.endCase()).toEqual([]));

/** Presses the button and reads the file that the browser saved. */
async function saved(button = scene.page.getByRole('button', { name: 'Save as CSV' })) {
  const download = scene.page.waitForEvent('download');
  await button.click();
  const file = await download;
  const text = await readFile(await file.path(), 'utf8');
  const rows = parse(text, { columns: true, bom: true }) as unknown as Readonly<Record<string, string>>[];
  return { name: file.suggestedFilename(), hasMark: text.startsWith('\ufeff'), rows };
}

describe('the page Reports', () => {
  it('sums the tons of this month by site, with units without a weight apart, and saves the same as CSV', async () => {
    const { page, follow, region } = scene;
    await follow('Reports');
    const report = region('Tonnage');
    await page.getByLabel(/^Hauler/).selectOption(DEMO.haulerId);
    await report.getByText('14 tons').first().waitFor();
    const total = await report.getByRole('status').innerText();
    expect(total).toMatch(/^14 tons on \d+ tickets and without a weight: 12\.5 Cubic Yard$/);
    const rows = await report.getByRole('row').allInnerTexts();
    expect(rows.map((row) => row.split(/\s*\t\s*/).map((cell) => cell.trim()))).toEqual([
      ['Name', 'Tons', 'Tickets', 'Cubic Yard'],
      ['Onion Creek Transfer Station', '14', '3', '12.5'],
    ]);
    const { name, hasMark, rows: csv } = await saved(report.getByRole('button', { name: 'Save as CSV' }));
    expect(name).toMatch(/^reports-tonnage-\d{4}-\d\d-\d\d\.csv$/);
    expect([hasMark, csv]).toMatchObject([
      true,
      [{ name: 'Onion Creek Transfer Station', tons: '14', 'other.Cubic Yard': '12.5' }],
    ]);
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  it('groups by material, day and custom field, and by own days', async () => {
    const { page, visit, region } = scene;
    await visit(`reports?haulerId=${DEMO.haulerId}`);
    const report = region('Tonnage');
    const names = async () => {
      await report.locator('[aria-busy=true]').waitFor({ state: 'detached' });
      return report.locator('tbody tr td:first-child').allInnerTexts();
    };
    await page.getByLabel(/^By/).selectOption('Material');
    await eventually(async () => expect(await names()).toEqual(['Mixed construction debris']));
    await page.getByLabel(/^By/).selectOption('Day');
    await eventually(async () => expect(await names()).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\d$/)]));
    await page.getByLabel(/^By/).selectOption('Custom field');
    await report.waitFor({ state: 'detached' });
    await page.getByText('Type the name of a custom field.').waitFor();
    await page.getByLabel('Name of the custom field').fill('truck');
    await eventually(async () => expect(await names()).toEqual(['T-7', 'without the field']));
    await page.getByLabel(/^Time(?! zone)/).selectOption('Own days');
    await eventually(async () => expect(await names()).toEqual(['T-7', 'without the field']));
    await page.getByLabel('First day').fill('2020-01-01');
    await page.getByLabel('Last day').fill('2020-01-31');
    await report.getByText('No ticket in this time.').waitFor();
    await page.getByLabel('Last day').fill('2019-01-31');
    await page.getByText('Choose a first and a last day.').waitFor();
  });

  it('lists the errors in the video lists of the hauler, and saves them as CSV', async () => {
    const { visit, region } = scene;
    await visit(`reports?haulerId=${DEMO.haulerId}`);
    const findings = region('Errors in video lists');
    await findings.getByText('must be a time').waitFor();
    const { name, rows } = await saved(findings.getByRole('button', { name: 'Save as CSV' }));
    expect([name, rows]).toMatchObject([
      expect.stringMatching(/^vision-findings-/),
      [{ path: 'data[3].startTime', seen: '2' }],
    ]);
  });
});

describe('the button "Save as CSV"', () => {
  it('saves the list of each page with its filters', async () => {
    const { page, visit, service } = scene;
    const site = await service.admin<{ data: { id: string }[] }>('GET', '/connections?interface=site');
    const { body: run } = await service.admin<{ runId: string }>('POST', `/connections/${site.body.data[0]?.id}/sync`);
    await eventually(async () => {
      const { body } = await service.admin<{ status: string }>('GET', `/sync-runs/${run.runId}`);
      expect(body.status).toBe('succeeded');
    });
    const vision = await service.admin<{ data: { id: string }[] }>('GET', '/connections?interface=vision');
    const day = 'from=2026-01-31T00:00:00.000Z&to=2026-02-01T00:00:00.000Z&zone=UTC';
    const truck = `connectionId=${vision.body.data[0]?.id}&truckId=${DEMO.truckId}`;
    const PAGES: readonly [address: string, name: RegExp, column: string, count: number | undefined][] = [
      ['tickets?search=REPORT-1', /^tickets-/, 'materials.name', 1],
      [`tickets?haulerId=${strangerId}`, /^tickets-/, 'materials.name', 0],
      ['accounts?search=lone', /^accounts-/, 'accountName', 1],
      ['accounts', /^accounts-/, 'accountName', 2],
      ['recordings?view=list', /^recordings-/, 'cameraId', undefined],
      [`coverage?${truck}&${day}`, /^coverage-/, 'state', undefined],
      [`coverage?${day}`, /^coverage-fleet-/, 'truckId', undefined],
      ['exchanges?direction=inbound&interface=account', /^exchanges-/, 'route', 2],
      [`sync?run=${run.runId}`, /^sync-runs-.*-changes-/, 'externalId', undefined],
    ];
    for (const [address, name, column, count] of PAGES) {
      await visit(address);
      const button = page.getByRole('button', { name: 'Save as CSV' }).first();
      await button.waitFor().catch((error: Error) => expect([address, error.message]).toEqual([address, '']));
      const { name: file, rows, hasMark } = await saved(button);
      expect([address, file, hasMark]).toEqual([address, expect.stringMatching(name), true]);
      if (count !== undefined) expect([address, rows.length]).toEqual([address, count]);
      for (const row of rows.slice(0, 3))
        expect([address, Object.keys(row)]).toEqual([address, expect.arrayContaining([column])]);
    }
  });
});

describe('accounts from a CSV', () => {
  it('shows what would happen, with the rows to correct, and then imports the others', async () => {
    const { page, follow, region } = scene;
    const file = join(testServer().folder, 'accounts to import.csv');
    await writeFile(file, 'accountName;billingAddress.state\nBig Rock;TX\nLone star DEMOLITION;\nBad;Texas\n');
    await follow('Accounts');
    await page.getByRole('button', { name: 'Import from CSV' }).click();
    const card = region('Import accounts');
    expect(await card.getByRole('button', { name: 'Check the file' }).isDisabled()).toBe(true);
    await card.getByLabel('Hauler').selectOption(DEMO.haulerId);
    await card.getByLabel('CSV file').setInputFiles(file);
    await card.getByRole('button', { name: 'Check the file' }).click();
    await card.getByText('3 rows: 1 would be created, 1 exist, 0 in conflict, 1 invalid.').waitFor();
    expect(await card.getByRole('row').nth(1).innerText()).toMatch(/4\s+invalid\s+Bad\s+billingAddress\.state must be/);
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(await page.getByRole('link', { name: 'Big Rock' }).count()).toBe(0);
    await card.getByRole('button', { name: 'Import 1 account' }).click();
    await card.getByText('3 rows: 1 created, 1 exist, 0 in conflict, 1 invalid.').waitFor();
    await page.getByRole('link', { name: 'Big Rock' }).waitFor();
    await card.getByRole('button', { name: 'Close' }).click();
  });

  it('says in which line a file is no CSV', async () => {
    const { page, follow, region, expectErrors } = scene;
    expectErrors('400');
    await follow('Accounts');
    await page.getByRole('button', { name: 'Import from CSV' }).click();
    const card = region('Import accounts');
    await card.getByLabel('Hauler').selectOption(DEMO.haulerId);
    await card
      .getByLabel('CSV file')
      .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('acountName\n"A\n') });
    await card.getByRole('button', { name: 'Check the file' }).click();
    await card
      .getByRole('alert')
      .getByText(/did you mean accountName/)
      .waitFor();
  });
});

describe('the range of a report', () => {
  const at = Date.parse('2026-03-01T04:30:00Z');
  const text = (span: readonly [number, number] | undefined) => span?.map((time) => new Date(time).toISOString());
  it.each([
    ['month', 'UTC', ['2026-03-01T00:00:00.000Z', '2026-04-01T00:00:00.000Z']],
    ['month', 'America/Chicago', ['2026-02-01T06:00:00.000Z', '2026-03-01T06:00:00.000Z']],
    ['last', 'UTC', ['2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z']],
    ['last', 'America/Chicago', ['2026-01-01T06:00:00.000Z', '2026-02-01T06:00:00.000Z']],
    ['own', 'America/Chicago', ['2026-03-08T06:00:00.000Z', '2026-03-09T05:00:00.000Z']],
  ] as const)('%s in %s', (range, zone, expected) => {
    expect(text(spanOf(range, ['2026-03-08', '2026-03-08'], at, zone))).toEqual(expected);
  });

  it('is none without two days in their order', () => {
    expect(spanOf('own', ['', '2026-01-01'], at, 'UTC')).toBeUndefined();
    expect(spanOf('own', ['2026-01-02', '2026-01-01'], at, 'UTC')).toBeUndefined();
  });

  it('sums without the digits of binary numbers', () => {
    const row = (tons: number) => ({ key: '', name: '', tons, tickets: 1, other: {} });
    expect(sumOf([row(0.1), row(0.2)], ({ tons }) => tons)).toBe(0.3);
  });
});
