import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { flow, type Hauler, ONE_SITE } from '../../acceptance/support/hauler.js';
import { call } from '../../acceptance/support/target.js';
import { eventually } from '../../support/eventually.js';
import { insertActions } from '../../support/rows.js';
import {
  ask,
  type ConsoleScene,
  database,
  exchanges,
  list,
  nameOf,
  newHauler,
  part,
  startConsole,
  target,
} from '../../console/support/console.js';
import { accessibilityFindings } from '../../console/support/page-checks.js';

let scene: ConsoleScene;
let hauler: Hauler;
let name: string;
let connectionId: string;
beforeAll(async () => {
  scene = await startConsole();
  hauler = await newHauler({ sites: ONE_SITE });
  name = await nameOf(hauler);
  ({ connectionId } = await hauler.siteConnection());
}, 60_000);
afterAll(() => scene.close());
afterEach(async () => expect(await scene.endCase()).toEqual([]));

describe('long lists', () => {
  it('go on after row 10,000, and back', async () => {
    const { page, visit } = scene;
    const resource = `many-${hauler.id}`;
    await insertActions(database, resource, 10_045);
    await visit(`actions?resource=${resource}&page=500`);
    const shows = async (text: string, firstAction: string) => {
      await page.getByText(text, { exact: true }).waitFor();
      await page.getByText(firstAction, { exact: true }).waitFor();
    };
    await shows('10,000+ records, page 500 of 500+', 'action 9981');
    const next = page.getByRole('button', { name: 'Next', exact: true });
    for (const [number, first] of [
      [501, 'action 10001'],
      [502, 'action 10021'],
      [503, 'action 10041'],
    ] as const) {
      await next.click();
      await shows(`10,000+ records, page ${number}`, first);
    }
    expect(await next.isDisabled()).toBe(true);
    await page.goBack();
    await shows('10,000+ records, page 502', 'action 10021');
    await page.getByRole('button', { name: 'First page' }).click();
    await shows('10,000+ records, page 1 of 500+', 'action 1');
  });
});

describe('filters', () => {
  it('keep a space between two words with a pause between them', async () => {
    const { page, visit } = scene;
    for (const accountName of ['Lone Star Demolition', 'Lone Pine']) await hauler.createAccount({ accountName });
    await visit(`accounts?haulerId=${hauler.id}`);
    await page.getByLabel('Name, number or e-mail').focus();
    await page.keyboard.insertText('Lone ');
    await page.waitForURL(/search=Lone$/);
    await page.getByText('2 records', { exact: true }).waitFor();
    await page.keyboard.insertText('Star');
    await page.getByText('1 record', { exact: true }).waitFor();
    expect(await page.getByLabel('Name, number or e-mail').inputValue()).toBe('Lone Star');
  });

  it('of a list are kept in the address, also while one of its records is read', async () => {
    const { page, visit } = scene;
    const ticketNumber = `IN-${hauler.id.slice(-6)}`;
    await hauler.push({ inboundFlow: flow(ticketNumber) });
    await exchanges(`haulerId=${hauler.id}`);
    await visit(`exchanges?haulerId=${hauler.id}&direction=inbound&status=2xx`);
    await page.getByRole('link', { name: 'Push of a ticket' }).first().click();
    await page.getByRole('link', { name: 'All exchanges' }).click();
    await page.waitForURL(/exchanges\?haulerId=.*&direction=inbound&status=2xx$/);
    await visit(`tickets?search=${ticketNumber}`);
    await page.getByRole('link', { name: ticketNumber, exact: true }).click();
    await page.getByRole('link', { name: 'All tickets' }).click();
    await page.waitForURL(new RegExp(`tickets\\?search=${ticketNumber}$`));
    await page.reload();
    await page.getByText('1 record', { exact: true }).waitFor();
    expect(await page.getByLabel('Ticket number').inputValue()).toBe(ticketNumber);
  });
});

describe('a form', () => {
  it('keeps what was typed where the service refuses it, and marks the field', async () => {
    const { page, visit } = scene;
    await visit('connections?new=1');
    await page.getByLabel('Hauler').selectOption({ label: name });
    await page.getByLabel('Address of the partner').fill('ftp://partner.example');
    await page.getByLabel('Key that the partner issued').fill('some-key');
    await page.getByRole('button', { name: 'Create' }).click();
    const address = page.getByLabel('Address of the partner');
    await page.getByRole('alert').getByText(/http/).waitFor();
    expect(await address.getAttribute('aria-invalid')).toBe('true');
    expect(await address.inputValue()).toBe('ftp://partner.example');
    scene.expectErrors('400');
  });

  it('of a connection asks for the key of another host, and sends nothing without it', async () => {
    const { page, visit } = scene;
    const { baseUrl } = await ask<{ baseUrl: string }>('GET', `/connections/${connectionId}`);
    await visit(`connections?id=${connectionId}`);
    await page.getByRole('button', { name: 'Change this connection' }).click();
    await page.getByLabel('Another key').waitFor();
    await page.getByLabel('Address of the partner').fill('http://127.0.0.1:1/moved');
    await page.getByRole('button', { name: 'Store the changes' }).click();
    // The browser refuses the empty field before a call.
    const key = page.getByLabel('Key for this address');
    const isMissing = (input: unknown) => (input as { validity: { valueMissing: boolean } }).validity.valueMissing;
    expect(await key.evaluate(isMissing)).toBe(true);
    await page.getByLabel('Address of the partner').fill(baseUrl);
    await page.getByLabel('Another key').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
  });

  it('of a connection with an emptied customer stores the hauler as the customer', async () => {
    const { page, visit } = scene;
    const own = { interface: 'vision', baseUrl: 'https://partner.invalid', customerId: 'green-valley', enabled: false };
    const id = await hauler.connect(own);
    await visit(`connections?id=${id}`);
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByLabel('Customer').fill('');
    await page.getByRole('button', { name: 'Store' }).click();
    await eventually(async () => {
      expect(await ask('GET', `/connections/${id}`)).toMatchObject({ customerId: hauler.id });
    });
  });

  it('that rotates a key with an end asks for the new end, and shows how far the rotation is', async () => {
    const { page, region, visit } = scene;
    const expiresAt = new Date(Date.now() + 5 * 86_400_000).toISOString();
    const gate = `Gate ${name}`;
    await hauler.issueKey({ interfaces: ['account'], name: gate, expiresAt });
    await visit(`keys?haulerId=${hauler.id}`);
    await page.getByRole('link', { name: gate }).click();
    await page.getByRole('button', { name: 'Rotate' }).click();
    await page.getByLabel('The new key expires').fill('2099-01-02T03:04');
    await page.getByRole('button', { name: 'Rotate the key' }).click();
    const key = await region('New key').locator('.secret code').innerText();
    await page.getByText('not used yet: send it').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    const headers = { 'PLATFORM-API-KEY': key };
    await call('POST', '/platform-api/v1/accounts', { headers, body: { accountName: 'Gate' } }, target);
    await page.reload();
    await page.getByText(/^the old key ends/).waitFor();
    expect(await page.getByText('not used yet: send it').count()).toBe(0);
    expect((await list<{ expiresAt: string }>(`/api-keys?haulerId=${hauler.id}`))[0]?.expiresAt).toMatch(/^2099-01-0/);
  });

  it('of a hold names what is wrong beside the field', async () => {
    const { page, visit, expectErrors } = scene;
    const id = await hauler.connect({ interface: 'vision', baseUrl: 'https://partner.invalid', enabled: false });
    expectErrors('400');
    const range = 'from=2026-01-31T10:00:00Z&to=2026-01-31T10:05:00Z';
    await visit(`holds?new=1&connectionId=${id}&truckId=TRUCK-77&${range}`);
    await page.getByLabel('Case').fill('CLAIM-1');
    await page.getByLabel('Reason').fill('Collision');
    await page.getByRole('button', { name: 'Hold the footage' }).click();
    await page.getByRole('alert').getByText('Must be a truck of which the connection has a recording').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });
});

describe('a service that does not answer', () => {
  it('is named, while the page keeps what it shows and what was typed, and continues by itself', async () => {
    const { page, visit } = scene;
    await visit(`connections?haulerId=${hauler.id}`);
    const row = page.getByRole('link', { name: `${name}, site` });
    await row.waitFor();
    await page.route('**/admin/v1/**', (route) => route.abort());
    const alert = page.getByText('The service does not answer.');
    await alert.first().waitFor();
    expect(await row.count()).toBe(1);
    await page.unroute('**/admin/v1/**');
    await alert.first().waitFor({ state: 'detached' });

    await visit('connections?new=1');
    await page.getByLabel('Address of the partner').fill('https://typed.example');
    await page.getByLabel('Key that the partner issued').fill('some-key');
    await page.getByLabel('Hauler').selectOption({ label: 'Demo Hauling' });
    await page.route('**/admin/v1/**', (route) => route.abort());
    await page.getByRole('button', { name: 'Create' }).click();
    await alert.first().waitFor();
    expect(await page.getByLabel('Address of the partner').inputValue()).toBe('https://typed.example');
    // The browser reports each failed call itself.
    scene.expectErrors('ERR_FAILED');
  });

  it('is asked again by itself after a 503 of an overloaded service', async () => {
    const { page, visit } = scene;
    const json = { error: { code: 'SERVICE_UNAVAILABLE', message: 'too many reads are running; try again shortly' } };
    await page.route('**/admin/v1/haulers?*', (route) => route.fulfill({ status: 503, json }), { times: 1 });
    await visit('connections?new=1');
    await page.getByRole('alert').getByText('Too many reads are running').waitFor();
    await page.getByLabel('Hauler').getByRole('option', { name: 'Demo Hauling' }).waitFor({ state: 'attached' });
    expect(await page.getByRole('alert').count()).toBe(0);
    scene.expectErrors('503');
  });

  it('is waited for if an answer takes longer than the page asks again', async () => {
    const { page, region, visit } = scene;
    await visit('');
    let [asked, untilAnswered] = [0, 0];
    await page.route('**/admin/v1/sync-runs?*', async (route) => {
      asked += 1;
      // The page asks every 3 s.
      if (asked === 1) await delay(4_000);
      untilAnswered ||= asked;
      await route.continue();
    });
    await visit(`sync?haulerId=${hauler.id}`);
    await region('Runs').getByRole('row').nth(1).waitFor();
    expect(untilAnswered).toBe(1);
  });

  it('has nothing shown as well at Home, also when it hangs for 20 seconds', async () => {
    const { page, visit } = scene;
    scene.expectErrors('ERR_FAILED');
    await visit('');
    const passed = page.getByText(/^\d+ checks passed$/);
    await passed.waitFor();
    await page.route('**/admin/v1/attention', (route) => route.abort());
    await page.getByText(/^Not known since \d\d:\d\d:\d\d$/).waitFor();
    await part(page, 'Needs attention').getByText('Failed', { exact: true }).waitFor();
    expect(await page.locator('.passed').count()).toBe(0);
    await page.unroute('**/admin/v1/attention');
    await passed.waitFor();
    // It takes the call, and never answers.
    await page.route('**/admin/v1/attention', () => undefined);
    await page.getByText(/^Not known since \d\d:\d\d:\d\d$/).waitFor({ timeout: 25_000 });
    expect(await page.locator('.passed').count()).toBe(0);
    await page.getByText('The service does not answer.').first().waitFor({ timeout: 25_000 });
  }, 90_000);
});

describe('the sandbox', () => {
  const rowOf = (page: Page, scenario: string) =>
    page.locator('li.scenario', { has: page.getByText(scenario, { exact: true }) });
  const start = (page: Page, scenario: string) =>
    rowOf(page, scenario).getByRole('button', { name: `Start ${scenario}` });
  const banner = (page: Page) => part(page, 'Simulated faults');
  const running = async (of: string) =>
    (await list<{ name: string; haulerName: string | null }>('/sandbox')).filter(({ haulerName }) => haulerName === of);

  it('begins with the demo, counts down, shows on every page what is on, and moves the clock', async () => {
    const { page, follow, visit } = scene;
    await follow('Sandbox');
    expect(await page.getByLabel('Scenarios of').locator('option:checked').innerText()).toBe('Hauler Demo Hauling');
    for (let press = 0; press < 2; press++) await start(page, 'rule-violated').click();
    const countdown = await rowOf(page, 'rule-violated')
      .getByText(/ends in \d+:\d\d/)
      .innerText();
    expect(countdown).toMatch(/ends in (10:00|9:\d\d)/);
    await banner(page)
      .getByText(/^rule-violated for Demo Hauling until/)
      .waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    for (const path of ['', 'tickets', 'nonsense']) {
      await visit(path);
      await banner(page).getByText('rule-violated for Demo Hauling').waitFor();
    }
    scene.expectErrors('404');
    await banner(page).getByRole('button', { name: 'End rule-violated' }).first().click();
    await banner(page).getByText('rule-violated for Demo Hauling').waitFor({ state: 'detached' });
    expect(await running('Demo Hauling')).toEqual([]);
    await visit('sandbox');
    await page.getByLabel('Scenarios of').selectOption({ label: 'Customer Demo Hauling' });
    const hour = page.getByRole('button', { name: 'Move it on by 1 hour' });
    for (let press = 0; press < 2; press++) await hour.click();
    await page.getByText(/^It is now/).waitFor();
  });

  it('asks by name before the calls of a real hauler are faulted, and starts nothing at a "Cancel"', async () => {
    const { page, visit } = scene;
    await visit('sandbox');
    await page.getByLabel('Scenarios of').selectOption({ label: `Hauler ${name}` });
    await start(page, 'unavailable').click();
    const question = page.getByRole('group', { name: 'Start unavailable' });
    await question.getByText(`faults the calls of ${name} for 10 minutes`).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await running(name)).toEqual([]);

    await start(page, 'unavailable').click();
    await question.getByRole('button', { name: 'Start unavailable' }).click();
    await banner(page).getByText(`unavailable for ${name}`).waitFor();
    expect(await running(name)).toMatchObject([{ name: 'unavailable' }]);
    // The service knows it, not the page.
    await page.reload();
    await rowOf(page, 'unavailable').getByRole('button', { name: 'End unavailable' }).waitFor();
    await ask('DELETE', `/sandbox/haulers/${hauler.id}/scenarios/unavailable`);
    await banner(page).getByText(`unavailable for ${name}`).waitFor({ state: 'detached' });
    await start(page, 'unavailable').waitFor();
  });

  it('asks before the videos of a customer are faulted that a real hauler reads', async () => {
    const { page, visit } = scene;
    const customerId = `customer ${name}`;
    const id = await hauler.connect({ interface: 'vision', baseUrl: target.url, customerId, enabled: false });
    await visit('sandbox');
    await page.getByLabel('Scenarios of').selectOption({ label: `Customer ${customerId} (${name})` });
    await start(page, 'failed-clip').click();
    await page.getByText(`faults the calls of customer ${customerId} (${name})`).waitFor();
    await ask('DELETE', `/connections/${id}`);
  });

  it('asks the partner of a real hauler too, names its own calls, and shows the end of a scenario', async () => {
    const page = await scene.visitor({ apiKey: await hauler.key('scale') });
    await page.goto('/console/sandbox');
    await start(page, 'rule-violated').click();
    await page
      .getByRole('group', { name: 'Start rule-violated' })
      .getByRole('button', { name: 'Start rule-violated' })
      .click();
    await banner(page).getByText('rule-violated for your own calls').waitFor();
    await page.reload();
    await rowOf(page, 'rule-violated').getByText(/^On:/).waitFor();
    await ask('PUT', `/sandbox/haulers/${hauler.id}/scenarios/rule-violated`, { forSeconds: 3 });
    await rowOf(page, 'rule-violated').getByText(/^On:/).waitFor({ state: 'detached' });
    await start(page, 'rule-violated').waitFor();
    await banner(page).waitFor({ state: 'detached' });
  });
});
