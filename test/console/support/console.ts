import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { type Demo, seedDemo } from '../../src/demo/seed.js';
import { startTestApp, type TestApp, type TestAppOptions } from '../support/app.js';
import { startBrowser } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import { held } from '../support/held.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The service with its demo, and a browser in which an admin has signed in. */
export interface ConsoleScene {
  readonly service: TestApp;
  readonly demo: Demo;
  readonly page: Page;
  /** Errors in the browser's console that contain this text belong to the case. */
  readonly expectErrors: (...texts: string[]) => void;
  /** Opens a page of the console by its address, in a new document. */
  readonly visit: (path: string) => Promise<void>;
  /** Opens the console and follows the link of its navigation. */
  readonly follow: (title: string) => Promise<void>;
  /** A page of a visitor who has not signed in, until the case ends. */
  readonly visitor: (url?: string) => Promise<Page>;
  /** Leaves all pages, and returns the unexpected errors, among them reports of the content security policy. */
  readonly endCase: () => Promise<string[]>;
  /** A part of the page by its accessible name. */
  readonly region: (name: string) => Locator;
  readonly close: () => Promise<void>;
}

export async function startConsole(env: TestAppOptions['env'] = {}): Promise<ConsoleScene> {
  const [service, browser] = await Promise.all([
    // A busy machine holds each read of a page for longer, so that more of them run at the same time.
    startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true, SANDBOX: true, DATABASE_POOL: 20, ...env } }),
    startBrowser(),
  ]);
  const demo = await seedDemo(service.env, service.url);
  const complaints: string[] = [];
  let expected: readonly string[] = [];
  const visitors: Page[] = [];
  const newPage = async (baseURL = service.url) => {
    const page = await browser.newPage({ baseURL });
    page.setDefaultTimeout(10_000);
    listen(page, complaints);
    return page;
  };
  const page = await newPage();
  const visit = async (path: string) => void (await page.goto(`/console/${path}`));
  await signIn(page, service.env.ADMIN_TOKEN);
  return {
    service,
    demo,
    page,
    expectErrors: (...texts) => void (expected = texts),
    visit,
    follow: async (name) => {
      await visit('');
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
    },
    visitor: async (url) => {
      const visitor = await newPage(url);
      visitors.push(visitor);
      return visitor;
    },
    endCase: async () => {
      // A page that stays open would report its next call to the next case.
      await page.goto('about:blank');
      await Promise.all(visitors.splice(0).map((visitor) => visitor.close()));
      const isExpected = (complaint: string) => expected.some((text) => complaint.includes(text));
      const unexpected = complaints.splice(0).filter((complaint) => !isExpected(complaint));
      expected = [];
      return unexpected;
    },
    region: (name) => page.getByRole('region', { name, exact: true }),
    close: held(async () => {
      await browser.close();
      await service.close();
    }),
  };
}

/** The session call of a visitor who is not signed in is the only failure that a page expects. */
function listen(page: Page, complaints: string[]): void {
  page.on('console', (message) => {
    if (message.type() !== 'error') return;
    if (message.location().url.endsWith('/console/api/session')) return;
    complaints.push(`${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => complaints.push(error.message));
}

/** As a person does: opens the console and types the secret. */
export async function signIn(page: Page, secret: string, kind: 'Admin token' | 'API key of a partner' = 'Admin token') {
  await page.goto('/console');
  await page.getByLabel(kind, { exact: true }).check();
  await page.locator('input[name=secret]').fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** Presses a button that a dialog may have covered: a page also makes calls by itself, which may find the end of a session first. */
export const press = (button: Locator): Promise<void> => button.dispatchEvent('click');

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly target: readonly string[] }[];
  }[];
}

/** After a change of the width. */
const SETTLED_MS = 5_000;

/** The serious findings of axe-core on the page when its lists are loaded, in light and dark and on a phone. */
export async function accessibilityFindings(page: Page): Promise<string[]> {
  const findings: string[] = [];
  // A list is pale while it is loaded again.
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    // Not as a script element: the policy of the page refuses that.
    if (await page.evaluate<boolean>('typeof axe === "undefined"')) await page.evaluate(`${AXE};0`);
    // For passes it would write down each element as well, which takes longer than the check.
    const { violations } = await page.evaluate<AxeResult>("axe.run({ resultTypes: ['violations'] })");
    findings.push(
      ...violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(
          ({ id, nodes }) =>
            `${colorScheme} ${width}: ${id} at ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
        ),
    );
    // Pictures get the new width a frame later.
    const overflow = () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    await eventually(async () => expect(await overflow()).toBeLessThanOrEqual(0), SETTLED_MS).catch(() => undefined);
    const pixels = await overflow();
    if (pixels > 0) findings.push(`${colorScheme} ${width}: the page is ${pixels} pixels too wide`);
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize({ width: 1280, height: 800 });
  return findings;
}
