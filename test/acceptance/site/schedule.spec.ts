import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { html, json, refuses, when } from '../../support/scripted-partner.js';
import { site } from '../../support/site-data.js';
import { Hauler, type Plain, SITES_ROUTE } from '../support/hauler.js';
import { answers, connectionOf, runsOf, siteAnswer } from '../support/site.js';
import { admin, administer } from '../support/target.js';

const DATA = { sites: [site('a')] };
const RIGHT = siteAnswer(DATA);

/** A hauler whose partner answers, with one more connection that is enabled unless `more` says otherwise. */
async function withConnection(more: Plain = {}) {
  const hauler = await Hauler.create();
  const { partner } = await hauler.siteConnection();
  partner.on(SITES_ROUTE, RIGHT);
  const id = await hauler.connect({ interface: 'site', baseUrl: partner.url, ...more });
  const dueInSeconds = async () => (Date.parse((await connectionOf(hauler, id)).nextRunAt ?? '') - Date.now()) / 1_000;
  const ended = (count: number) =>
    eventually(async () => {
      const runs = (await runsOf(hauler, id)).filter(({ finishedAt }) => finishedAt !== null);
      expect(runs).toHaveLength(count);
      return runs;
    });
  return { hauler, partner, id, dueInSeconds, ended };
}

/** The cases of this file run side by side: most of their time is waiting. */
describe('the schedule of an enabled connection', () => {
  test.concurrent(
    'starts the first run at once, and the next one after the interval, a tenth more or less (decision 36)',
    async () => {
      const { ended, dueInSeconds } = await withConnection({ intervalSeconds: 3_600 });
      expect((await ended(1))[0]?.status).toBe('succeeded');
      const seconds = await dueInSeconds();
      // The machine may need some minutes until it looks.
      expect(seconds).toBeGreaterThan(3_240 - 240);
      expect(seconds).toBeLessThanOrEqual(3_960);
    },
  );

  test.concurrent('is 15 minutes by default (decision 36)', async () => {
    const { id } = await withConnection({ enabled: false });
    expect(await administer('GET', `/connections/${id}`)).toMatchObject({ intervalSeconds: 900 });
  });

  test.concurrent.each<[number, number]>([
    [59, 400],
    [60, 201],
    [86_400, 201],
    [86_401, 400],
  ])(
    'of %i seconds is %i, since an interval is 1 minute to 24 hours (decision 36)',
    async (intervalSeconds, status) => {
      const { id: haulerId } = await Hauler.create();
      const body = { haulerId, interface: 'site', baseUrl: 'http://127.0.0.1:1', apiKey: 'k', enabled: false };
      expect((await admin('POST', '/connections', { ...body, intervalSeconds })).status).toBe(status);
    },
  );

  test.concurrent(
    'backs off after each failure, never stops, and is as usual after a success (decision 36)',
    async () => {
      const { hauler, partner, id, dueInSeconds, ended } = await withConnection({
        enabled: false,
        intervalSeconds: 900,
      });
      partner.on(SITES_ROUTE, html());
      await admin('PATCH', `/connections/${id}`, { enabled: true });
      await ended(1);
      expect(await dueInSeconds()).toBeLessThanOrEqual(990);
      await hauler.sync(undefined, id);
      expect(await dueInSeconds()).toBeGreaterThan(1_620 - 300);
      await hauler.sync(undefined, id);
      expect(await dueInSeconds()).toBeGreaterThan(3_240 - 300);
      expect((await connectionOf(hauler, id)).lastError).toContain('HTML page');
      expect((await hauler.sync(DATA, id)).status).toBe('succeeded');
      expect(await dueInSeconds()).toBeLessThanOrEqual(990);
      expect((await connectionOf(hauler, id)).lastError).toBeNull();
    },
  );

  test.concurrent('ends with a pause, and a resumed connection is due at once (decision 36)', async () => {
    const { hauler, id, ended } = await withConnection();
    await ended(1);
    await admin('PATCH', `/connections/${id}`, { enabled: false });
    expect(await connectionOf(hauler, id)).toMatchObject({ enabled: false, nextRunAt: null });
    await admin('PATCH', `/connections/${id}`, { enabled: true });
    await ended(2);
  });

  test.concurrent(
    'takes a Retry-After of more than five minutes as the time of the next run (decision 36)',
    async () => {
      const { hauler, partner, id, dueInSeconds, ended } = await withConnection({
        enabled: false,
        intervalSeconds: 60,
      });
      partner.on(SITES_ROUTE, refuses(429, 'INTERNAL_ERROR', 'later', { 'Retry-After': '3600' }));
      await admin('PATCH', `/connections/${id}`, { enabled: true });
      expect((await ended(1))[0]?.status).toBe('failed');
      expect(partner.asked).toHaveLength(1);
      const seconds = await dueInSeconds();
      expect(seconds).toBeGreaterThan(3_600 - 240);
      expect(seconds).toBeLessThanOrEqual(3_601);
      expect((await runsOf(hauler, id))[0]?.error).toContain('429');
    },
  );
});

describe('a requested synchronisation', () => {
  test.concurrent('runs a paused connection, which stays paused (decision 36)', async () => {
    const { hauler, id } = await withConnection({ enabled: false });
    expect((await hauler.sync(undefined, id)).status).toBe('succeeded');
    expect(await connectionOf(hauler, id)).toMatchObject({ enabled: false, nextRunAt: null });
  });

  test.concurrent('is the active run for any number of requests (decision 36)', async () => {
    const { hauler, partner, id } = await withConnection({ enabled: false });
    const answered = Promise.withResolvers<void>();
    partner.on(SITES_ROUTE, when(answered.promise, RIGHT));
    const ids = await Promise.all(Array.from({ length: 6 }, () => hauler.requestSync(id)));
    expect(new Set(ids).size).toBe(1);
    await eventually(() => expect(partner.asked).toHaveLength(1));
    expect(await hauler.requestSync(id)).toBe(ids[0]);
    answered.resolve();
    await hauler.ended(ids[0] ?? '');
    expect(await hauler.requestSync(id)).not.toBe(ids[0]);
  });

  test.concurrent('of a Vision connection is 400, and of a deleted one 404 (decision 36)', async () => {
    const { hauler, partner, id } = await withConnection({ enabled: false });
    const vision = await hauler.connect({ interface: 'vision', baseUrl: partner.url, enabled: false });
    expect((await admin('POST', `/connections/${vision}/sync`)).status).toBe(400);
    await admin('DELETE', `/connections/${id}`);
    expect((await admin('POST', `/connections/${id}/sync`)).status).toBe(404);
  });
});

describe('the tries of one run', () => {
  const UNAVAILABLE = refuses(503, 'INTERNAL_ERROR');

  test.concurrent('are three, then the run fails with the status (decisions 36, 54)', async () => {
    const hauler = await Hauler.create();
    await answers(hauler, UNAVAILABLE);
    expect(await hauler.sync()).toMatchObject({ status: 'failed', error: expect.stringContaining('503') });
    expect((await hauler.siteConnection()).partner.asked).toHaveLength(3);
  });

  test.concurrent('wait as long as Retry-After says, and the third one may succeed (decision 36)', async () => {
    const hauler = await Hauler.create();
    await answers(
      hauler,
      UNAVAILABLE,
      refuses(429, 'INTERNAL_ERROR', 'slow', { 'Retry-After': '0.3' }),
      json({ success: true, data: DATA }),
    );
    expect((await hauler.sync()).status).toBe('succeeded');
    const [, second, third] = (await hauler.siteConnection()).partner.asked;
    expect((third?.at ?? 0) - (second?.at ?? 0)).toBeGreaterThanOrEqual(290);
  });
});
