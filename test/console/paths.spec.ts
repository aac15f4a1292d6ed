import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { flow, type Hauler, ONE_SITE, TICKET } from '../acceptance/support/hauler.js';
import { call } from '../acceptance/support/target.js';
import { eventually } from '../support/eventually.js';
import { idOf, kiosk, material, site } from '../support/site-data.js';
import { ask, type ConsoleScene, exchanges, linkTo, newHauler, part, startConsole, target } from './support/console.js';
import { accessibilityFindings } from './support/page-checks.js';

let scene: ConsoleScene;
/** Presses of the mouse since the path began. Typing, keys and addresses are none. */
let presses = 0;
beforeAll(async () => {
  scene = await startConsole();
  await countPresses(scene.page);
}, 60_000);
afterAll(() => scene.close());
afterEach(async () => expect(await scene.endCase()).toEqual([]));

/** What Playwright stops at the window, because the target has moved, and then repeats, is one press. */
async function countPresses(page: Page): Promise<void> {
  await page.exposeFunction('countPress', () => (presses += 1));
  await page.addInitScript({ content: "document.addEventListener('pointerdown', () => countPress(), true)" });
}

function takesPresses(title: string, limit: number, walk: () => Promise<void>): void {
  it(`${title} in ${limit} ${limit === 1 ? 'press' : 'presses'}`, async () => {
    presses = 0;
    await walk();
    expect(presses).toBe(limit);
  });
}

const NO_MATERIAL =
  /materials\[0\]\.id must be the id, in your own system, of a material that the platform has received/;

/** The table of the README: a question, and the address of the page that answers it. */
const THINGS = [
  ...readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8').matchAll(
    /^\| ([^|]+\S) +\| <http:\/\/127\.0\.0\.1:3000\/console\/(\S+)> +\|/gm,
  ),
].map(([, question = '', path = '']) => ({ question, path }));

it('the link of the start signs in once', async () => {
  const [link = ''] = /http\S+sign-in\/link\S+/.exec(readFileSync(process.env['CONSOLE_LOG'] ?? '', 'utf8')) ?? [];
  const open = (method: string) => fetch(link, { method, redirect: 'manual' });
  expect((await open('HEAD')).headers.get('location')).toBe('/console/?fault=stale');
  const first = await open('GET');
  expect([first.status, first.headers.get('location')]).toEqual([302, '/console/']);
  const cookie = /^[^;]+/.exec(first.headers.get('set-cookie') ?? '')?.[0] ?? '';
  const session = await call('GET', '/console/api/session', { headers: { cookie } }, target);
  expect(session.body).toMatchObject({ kind: 'admin', role: 'admin' });
  const again = await open('GET');
  expect([again.headers.get('location'), again.headers.get('set-cookie')]).toEqual(['/console/?fault=stale', null]);
});

describe('of the five things of the README', () => {
  const thing = (question: string, limit: number, answer: (page: Page) => Promise<void>) =>
    takesPresses(`"${question}" is answered`, limit, async () => {
      await scene.visit(THINGS.find((each) => each.question === question)?.path ?? 'not in the README');
      await answer(scene.page);
    });

  it('there are five, each with an address of this console', () => expect(THINGS).toHaveLength(5));

  thing('Why was a push refused?', 1, async (page) => {
    await page.getByRole('link', { name: /^Push of a ticket/ }).click();
    await part(page, 'Exchange').getByText(NO_MATERIAL).waitFor();
    await part(page, 'Request body').getByText('"OC-70002"').waitFor();
  });

  thing('What corrected this weight?', 1, async (page) => {
    await page.getByRole('link', { name: 'OC-70001', exact: true }).click();
    const steps = page.getByRole('list', { name: 'Steps' }).getByRole('listitem');
    await steps.getByText(/124\.8 → 12\.84 Ton/).waitFor();
    expect(await steps.first().innerText()).toMatch(/^Corrected\s+12\.48 Ton\s+-0\.36 Ton/);
  });

  thing('What would this held run remove?', 1, async (page) => {
    const run = page.getByRole('row', { name: /Demo Quarry/ });
    await run.getByRole('link').first().click();
    const removals = part(page, 'Held removals');
    await removals.getByText('lacks 7 of 12 active materials (58 %)').waitFor();
    // The tree of the sites comes with an answer of its own.
    await removals.getByText('would be removed').nth(6).waitFor();
    expect(await removals.getByText('would be removed').count()).toBe(7);
  });

  thing('Play the arrival of this truck', 2, async (page) => {
    await page.getByRole('link', { name: 'OC-70003', exact: true }).click();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    const time = page.getByRole('slider', { name: 'Time' });
    const start = Number(await time.inputValue());
    await eventually(async () => expect(Number(await time.inputValue())).toBeGreaterThan(start));
    expect(await page.locator('video').count()).toBe(2);
  });

  thing('What does the kit say of our own server?', 2, async (page) => {
    await page.getByRole('link', { name: 'Demo Hauling, vision' }).click();
    await page.getByRole('button', { name: 'Check this partner now' }).click();
    const answers = part(page, 'Result of the check').getByRole('list').first().getByRole('listitem');
    await answers.nth(2).waitFor();
    expect(await answers.allInnerTexts()).toEqual([
      'yes Reachable',
      'yes Accepts the key',
      expect.stringMatching(/^yes Follows the interface: \d+ of \d+ rules proven; the kit proves the rest$/),
    ]);
  });
});

const YARD = {
  sites: [site('yard', { name: 'Onion Creek' })],
  kiosks: [kiosk('north', 'yard')],
  materials: [material('debris', { siteId: idOf('yard') })],
};

/** Signs in with the key of a partner. */
async function signIn(apiKey: string): Promise<Page> {
  const page = await scene.visitor();
  await countPresses(page);
  await page.goto('/console/');
  await page.getByLabel('API key of a partner').press('Space');
  await page.getByLabel('API key', { exact: true }).fill(apiKey);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  return page;
}

describe('of the people of the README', () => {
  let hauler: Hauler;
  const refused = { ...TICKET.materials[0], id: idOf('asphalt'), name: 'Asphalt' };
  beforeAll(async () => {
    hauler = await newHauler({ sites: YARD });
    for (let n = 0; n < 2; n++) {
      expect((await hauler.push({ materials: [refused], inboundFlow: flow('P-7001') })).status).toBe(422);
    }
    await exchanges(`haulerId=${hauler.id}`);
  });

  takesPresses('a developer who calls finds out why a push was refused,', 2, async () => {
    const page = await signIn(await hauler.key());
    await page
      .getByRole('link', { name: /^Push of a ticket, refused/ })
      .first()
      .click();
    await part(page, 'Exchange').getByText(NO_MATERIAL).waitFor();
    await part(page, 'Request body').getByText(idOf('asphalt')).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  takesPresses('a developer who hosts finds out which of its records could not be read,', 3, async () => {
    const other = await newHauler();
    const wrong = material('gravel', { siteId: idOf('yard'), measureUnit: 'Gallon' });
    await other.sync({ ...YARD, materials: [...YARD.materials, wrong] });
    const { connectionId } = await other.siteConnection();
    await ask('PATCH', `/connections/${connectionId}`, { enabled: true });
    const { key } = await ask<{ key: string }>('POST', '/api-keys', { connectionId, name: 'Developer who hosts' });
    const page = await signIn(key);
    // Its calls succeed, whatever it makes of the records.
    await part(page, 'Connection').getByText('working', { exact: true }).waitFor();
    await part(page, 'Needs attention')
      .getByRole('link', { name: /^1 of 4 records could not be stored/ })
      .click();
    const quarantine = part(page, 'Quarantine');
    await quarantine.getByRole('link', { name: '1 × wrong unit' }).waitFor();
    await quarantine.getByText('Show', { exact: true }).click();
    await page.getByRole('region', { name: 'Record materials[1]' }).getByText('"Gallon"').waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  takesPresses('a developer who simulates faults lets the next push fail, and sees that it did,', 5, async () => {
    const other = await newHauler({ sites: ONE_SITE });
    const page = await signIn(await other.key());
    await linkTo(page, 'Sandbox').click();
    const scenario = page.getByRole('listitem').filter({ has: page.getByText('server-error', { exact: true }) });
    await scenario.getByLabel('For').selectOption({ label: 'the next request' });
    await scenario.getByRole('button', { name: 'Start server-error' }).click();
    // The hauler is not that of the demo.
    await scenario
      .getByRole('group')
      .getByRole('button', { name: /^Start/ })
      .click();
    await page.getByRole('region', { name: 'Simulated faults' }).getByRole('link', { name: 'server-error' }).waitFor();
    const headers = { 'PLATFORM-API-KEY': await other.key() };
    const push = () => call('POST', '/platform-api/v1/tickets', { headers, body: TICKET }, target);
    expect((await push()).status).toBe(500);
    await linkTo(page, 'Exchanges').click();
    const failed = page.getByRole('row', { name: /Push of a ticket/ }).filter({ hasText: 'scenario server-error' });
    await failed.getByText('500', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Simulated faults' }).waitFor({ state: 'detached' });
    expect((await push()).status).toBe(200);
  });

  takesPresses('an admin finds why pushes are refused, and replays one when the cause is gone,', 4, async () => {
    const { page, visit } = scene;
    await visit('');
    const refusals = part(page, 'Needs attention').getByRole('link', { name: /refused: 422 materialExists/ });
    await refusals.and(page.locator(`a[href*="${hauler.id}"]`)).click();
    await page
      .getByRole('link', { name: /^Push of a ticket/ })
      .first()
      .click();
    await part(page, 'Request body').getByText('"P-7001"').waitFor();
    await hauler.sync({ ...YARD, materials: [...YARD.materials, material('asphalt', { siteId: idOf('yard') })] });
    await page.getByRole('button', { name: 'Replay' }).click();
    await page
      .getByRole('group', { name: /^Replay/ })
      .getByRole('button', { name: /^Replay/ })
      .click();
    await page.getByText(/The response was 422 and is now 200/).waitFor();
  });

  takesPresses('an operator sees what was checked, and renews a key before it expires,', 5, async () => {
    const { page, visit } = scene;
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const body = { haulerId: hauler.id, interfaces: ['scale'], name: 'Gate of the operator', expiresAt };
    await ask('POST', '/api-keys', body);
    await visit('');
    await page.getByText(/^\d+ checks passed/).click();
    const checks = page.getByRole('group').getByRole('listitem');
    await checks.getByText('Video storage', { exact: true }).waitFor();
    await checks.getByText('Standbys of the database', { exact: true }).waitFor();
    const line = part(page, 'Needs attention').getByRole('listitem').filter({ hasText: 'Gate of the operator' });
    await line.getByRole('link', { name: 'Issue successor' }).click();
    await page.getByRole('link', { name: 'Gate of the operator' }).click();
    await part(page, 'Key')
      .getByRole('button', { name: /^Rotate/ })
      .click();
    await page.getByRole('button', { name: 'Rotate the key' }).click();
    await part(page, 'New key').getByRole('button', { name: 'Copy the key' }).waitFor();
  });

  takesPresses('a security reviewer sees who has read the bodies of a push,', 2, async () => {
    const { page, visit } = scene;
    await visit('');
    await linkTo(page, 'Actions').click();
    await page.getByLabel('Person').selectOption({ label: 'The token dana.reyes' });
    const viewed = page.getByRole('row').filter({ hasText: 'The token dana.reyes viewed the exchange' });
    await viewed.getByRole('link', { name: /^Open/ }).click();
    await part(page, 'Request body').getByText('"OC-70002"').waitFor();
  });
});
