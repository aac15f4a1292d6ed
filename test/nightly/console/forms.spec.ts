import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type Hauler, ONE_SITE } from '../../acceptance/support/hauler.js';
import { insertActions } from '../../support/rows.js';
import {
  ask,
  type ConsoleScene,
  database,
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
beforeAll(async () => {
  scene = await startConsole();
  hauler = await newHauler({ sites: ONE_SITE });
  name = await nameOf(hauler);
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

describe('the sandbox', () => {
  const rowOf = (page: Page, scenario: string) =>
    page.locator('li.scenario', { has: page.getByText(scenario, { exact: true }) });
  const start = (page: Page, scenario: string) =>
    rowOf(page, scenario).getByRole('button', { name: `Start ${scenario}` });
  const banner = (page: Page) => part(page, 'Simulated faults');
  const running = async (of: string) =>
    (await list<{ name: string; haulerName: string | null }>('/sandbox')).filter(({ haulerName }) => haulerName === of);

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
