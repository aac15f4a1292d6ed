import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Locator, Page } from 'playwright-core';
import { testServer } from '../../support/test-run.js';

/** Presses the button and reads the file that the browser saved. */
export async function saved(page: Page, button: Locator) {
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  const path = join(await mkdtemp(join(testServer().folder, 'saved-')), 'file');
  await download.saveAs(path);
  return { name: download.suggestedFilename(), path };
}

export async function savedCsv(page: Page, button: Locator) {
  const file = await saved(page, button);
  const text = await readFile(file.path, 'utf8');
  const rows = parse(text, { columns: true, bom: true }) as unknown as Readonly<Record<string, string>>[];
  return { name: file.name, hasMark: text.startsWith('\ufeff'), text, rows };
}
