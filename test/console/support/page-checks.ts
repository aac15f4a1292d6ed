import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { eventually } from '../../support/eventually.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly target: readonly string[] }[];
  }[];
}

/** Their findings are never serious, and `region` looks at each element of a page. */
const MODERATE = ['region', 'heading-order', 'landmark-one-main', 'landmark-unique', 'page-has-heading-one'];
const RULES = Object.fromEntries(MODERATE.map((rule) => [rule, { enabled: false }]));

/** After a change of the width. */
const SETTLED_MS = 5_000;

/** Waits until no list of the page is being loaded: it is pale meanwhile. */
export async function settled(page: Page): Promise<void> {
  await eventually(async () => expect(await page.getByText('Loading …').count()).toBe(0));
  await eventually(async () => expect(await page.locator('[aria-busy=true]').count()).toBe(0));
}

/** The second look has the same elements: only these rules depend on the colours and the width. */
const LOOKS = [
  ['light', 1280, undefined],
  ['dark', 390, ['color-contrast', 'scrollable-region-focusable']],
] as const;

/** The serious findings of axe-core on the page when its lists are loaded, in light and dark and on a phone. */
export async function accessibilityFindings(page: Page): Promise<string[]> {
  const findings: string[] = [];
  await settled(page);
  for (const [colorScheme, width, rules] of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    const found = [...(await axeFindings(page, rules)), ...(await overflow(page))];
    findings.push(...found.map((finding) => `${colorScheme} ${width}: ${finding}`));
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize({ width: 1280, height: 800 });
  return findings;
}

async function axeFindings(page: Page, runOnly?: readonly string[]): Promise<string[]> {
  // Not as a script element: the policy of the page refuses that.
  if (await page.evaluate<boolean>('typeof axe === "undefined"')) await page.evaluate(`${AXE};0`);
  // For passes it would write down each element as well, which takes longer than the check.
  const options = JSON.stringify({
    resultTypes: ['violations'],
    ...(runOnly === undefined ? { rules: RULES } : { runOnly }),
  });
  const { violations } = await page.evaluate<AxeResult>(`axe.run(${options})`);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id} at ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}

async function overflow(page: Page): Promise<string[]> {
  const pixels = () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  // Pictures get the new width a frame later.
  for (const end = Date.now() + SETTLED_MS; (await pixels()) > 0 && Date.now() < end;) await page.waitForTimeout(20);
  const more = await pixels();
  return more > 0 ? [`the page is ${more} pixels too wide`] : [];
}
