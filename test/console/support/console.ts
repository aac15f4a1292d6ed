import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { Hauler } from '../../acceptance/support/hauler.js';
import { administer, listed } from '../../acceptance/support/target.js';
import { held } from '../../support/held.js';
import { onServer } from '../../support/test-run.js';
import { CONSOLE_TARGET, type ConsoleTarget } from './demo.js';

/** The service of the tier with its demo, and the browser. Every test makes a hauler of its own there. */
export const target = JSON.parse(process.env[CONSOLE_TARGET] ?? 'null') as ConsoleTarget;

/** For the functions of `rows.ts`: rows that the product cannot make. */
export const database = {
  dataSource: {
    query: async (sql: string, values: unknown[] = []): Promise<unknown> =>
      (await onServer(target.databaseUrl, (client) => client.query(sql, values))).rows,
  },
};

/** The body of a call of the admin API that has to succeed. */
export const ask = <Body>(method: string, path: string, body?: unknown): Promise<Body> =>
  administer<Body>(method, path, body, target);

export const list = <Element>(path: string): Promise<Element[]> => listed<Element>(path, target);

/** The newest exchanges of a filter. */
export const exchanges = async (filter: string): Promise<{ readonly id: string }[]> =>
  (await ask<{ data: { readonly id: string }[] }>('GET', `/exchanges?${filter}`)).data;

export const newHauler = (options: Omit<Parameters<typeof Hauler.create>[0] & object, 'service'> = {}) =>
  Hauler.create({ ...options, service: target });

/** The name of a hauler, by which its rows are found among those of other tests. */
export const nameOf = async ({ id }: { readonly id: string }): Promise<string> =>
  (await ask<{ name: string }>('GET', `/haulers/${id}`)).name;

export interface ConsoleScene {
  readonly page: Page;
  /** Errors in the browser's console that contain one of these texts belong to the case. */
  readonly expectErrors: (...texts: string[]) => void;
  /** Opens a page of the console by its address, in a new document. */
  readonly visit: (path: string) => Promise<void>;
  /** Opens the console and follows the link of its navigation. */
  readonly follow: (title: string) => Promise<void>;
  /** A part of the page by its accessible name. */
  readonly region: (name: string) => Locator;
  /** A page of a visitor who has not signed in, or with a token or key has, until the case ends. */
  readonly visitor: (secret?: Secret, url?: string) => Promise<Page>;
  /** Leaves all pages, and returns the unexpected errors, among them reports of the content security policy. */
  readonly endCase: () => Promise<string[]>;
  readonly close: () => Promise<void>;
}

export type Secret = { readonly token: string } | { readonly apiKey: string };

/** The browser of the tier, with a page in which an admin has signed in. Other files have contexts of their own. */
export async function startConsole(): Promise<ConsoleScene> {
  const browser = await connectBrowser();
  const complaints: string[] = [];
  let expected: readonly string[] = [];
  const visitors: BrowserContext[] = [];
  const newPage = async (context: BrowserContext) => {
    const page = await context.newPage();
    // A busy machine may be slow.
    page.setDefaultTimeout(20_000);
    listen(page, complaints);
    return page;
  };
  const own = await browser.newContext({ baseURL: target.url });
  await signIn(own, { token: target.adminToken });
  const page = await newPage(own);
  const visit = async (path: string) => void (await page.goto(`/console/${path}`));
  return {
    page,
    visit,
    expectErrors: (...texts) => void (expected = texts),
    follow: async (name) => {
      await visit('');
      await linkTo(page, name).click();
    },
    region: (name) => part(page, name),
    visitor: async (secret, baseURL = target.url) => {
      const context = await browser.newContext({ baseURL });
      visitors.push(context);
      if (secret !== undefined) await signIn(context, secret);
      return newPage(context);
    },
    endCase: async () => {
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      // A page that stays open would report its next call to the next case.
      await page.goto('about:blank');
      await Promise.all(visitors.splice(0).map((context) => context.close()));
      const isExpected = (complaint: string) => expected.some((text) => complaint.includes(text));
      const unexpected = complaints.splice(0).filter((complaint) => !isExpected(complaint));
      expected = [];
      return unexpected;
    },
    close: held(() => browser.close()),
  };
}

/** Ends at the end of the file, with its contexts. */
export const connectBrowser = async (): Promise<Browser> => {
  const browser = await chromium.connect(target.browser);
  held(() => browser.close());
  return browser;
};

export const part = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true });

export const linkTo = (page: Page, name: string): Locator =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true });

/** The session call of a visitor who is not signed in is the only failure that a page expects. */
function listen(page: Page, complaints: string[]): void {
  page.on('console', (message) => {
    if (message.type() !== 'error') return;
    if (message.location().url.endsWith('/console/api/session')) return;
    complaints.push(`${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => complaints.push(error.message));
}

/** As the page does when its form is sent; `people.spec.ts` fills in the form. */
async function signIn(context: BrowserContext, secret: Secret): Promise<void> {
  const response = await context.request.post('/console/api/session', { headers: { 'X-Console': '1' }, data: secret });
  if (!response.ok()) throw new Error(`the sign-in answers ${response.status()}: ${await response.text()}`);
}

/** Presses a button that a dialog may have covered: a page also makes calls by itself, which may find the end of a session first. */
export const press = (button: Locator): Promise<void> => button.dispatchEvent('click');
