import { beforeAll, describe, expect, test } from '@jest/globals';
import { html } from '../../support/scripted-partner.js';
import { idOf, kiosk, material, type PlainSiteData, site } from '../../support/site-data.js';
import { Hauler, type SyncRun } from '../support/hauler.js';
import {
  activeSites,
  answers,
  catalog,
  connectionOf,
  counts,
  type Guard,
  type Kind,
  type SiteRun,
} from '../support/site.js';
import { admin, listed } from '../support/target.js';

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
const sites = (from: number, to: number): PlainSiteData => ({ sites: numbers(from, to).map((n) => site(`s${n}`)) });
const YARD = [site('yard')];
const of: Record<Kind, (from: number, to: number) => PlainSiteData> = {
  sites,
  kiosks: (from, to) => ({ sites: YARD, kiosks: numbers(from, to).map((n) => kiosk(`k${n}`, 'yard')) }),
  materials: (from, to) => ({
    sites: YARD,
    materials: numbers(from, to).map((n) => material(`m${n}`, { siteId: idOf('yard') })),
  }),
};

describe('the guard of removals', () => {
  interface Row {
    readonly kind: Kind;
    readonly before: number;
    /** Of the records before; the rest is absent. */
    readonly from: number;
    /** Beyond `before` these are new. */
    readonly to: number;
    readonly isHeld: boolean;
  }
  const row = (kind: Kind, before: number, from: number, to: number, isHeld: boolean): Row => ({
    kind,
    before,
    from,
    to,
    isHeld,
  });
  const ROWS: Row[] = [
    row('sites', 6, 5, 6, false),
    row('sites', 7, 6, 7, true),
    row('sites', 30, 6, 30, false),
    row('sites', 29, 6, 29, true),
    row('sites', 1, 1, 1, true),
    row('sites', 3, 3, 6, false),
    row('sites', 6, 6, 12, true),
    row('kiosks', 3, 3, 3, true),
    row('kiosks', 6, 5, 6, false),
    row('materials', 3, 3, 3, true),
    row('materials', 29, 6, 29, true),
  ];

  let runs: ReadonlyMap<Row, SiteRun>;
  beforeAll(async () => {
    const play = async ({ kind, before, from, to }: Row): Promise<SiteRun> => {
      const hauler = await Hauler.create({ sites: of[kind](0, before) });
      return hauler.sync(of[kind](from, to));
    };
    runs = new Map(await Promise.all(ROWS.map(async (each) => [each, await play(each)] as const)));
  }, 120_000);

  test.each(ROWS)(
    '$kind: of $before the first $from are absent, numbers up to $to are listed: held is $isHeld (decision 35)',
    (each) => {
      const run = runs.get(each);
      const changed = each.isHeld ? { held: each.from } : { deactivated: each.from };
      expect(run?.status).toBe(each.isHeld ? 'held' : 'succeeded');
      expect(run?.counts[each.kind]).toMatchObject({ held: 0, deactivated: 0, ...changed });
      const guard: Guard = { kind: each.kind, removed: each.from, of: each.before, share: each.from / each.before };
      expect(run?.guard).toEqual(each.isHeld ? [guard] : undefined);
    },
  );

  test('does not count what a partner states to be inactive (decision 35)', async () => {
    const hauler = await Hauler.create({ sites: sites(0, 10) });
    const run = await hauler.sync({ sites: numbers(0, 10).map((n) => site(`s${n}`, { active: false })) });
    expect([run.status, run.counts.sites['deactivated'], await activeSites(hauler)]).toEqual(['succeeded', 10, 0]);
  });

  test('counts the records of its connection alone (decision 35)', async () => {
    const hauler = await Hauler.create({ sites: sites(0, 30) });
    const { partner } = await hauler.siteConnection();
    const other = await hauler.connect({ interface: 'site', baseUrl: partner.url, enabled: false });
    await hauler.sync(sites(30, 37), other);
    expect((await hauler.sync(sites(36, 37), other)).status).toBe('held');
  });
});

describe('a held synchronisation', () => {
  const decide = (run: SyncRun, how: 'confirm' | 'reject', body?: object) =>
    admin<SiteRun & { note?: string }>('POST', `/sync-runs/${run.id}/${how}`, body);

  test('applies the rest, is no failure, and is held again with each answer that has the same absence (decision 35)', async () => {
    const hauler = await Hauler.create({ sites: { ...sites(0, 3), kiosks: [kiosk('k', 's0')] } });
    for (const created of [1, 0]) {
      const run = await hauler.sync({ sites: [], kiosks: [kiosk('k', 's0'), kiosk('l', 's0')] });
      expect(run).toMatchObject({
        status: 'held',
        counts: { sites: { held: 3, deactivated: 0 }, kiosks: { created, held: 0 } },
      });
      expect(run).not.toHaveProperty('error');
    }
    expect(await activeSites(hauler)).toBe(3);
    const { connectionId } = await hauler.siteConnection();
    expect((await connectionOf(hauler, connectionId)).lastError).toBeNull();
  });

  test('is cleared by an answer that lists the records again (decision 35)', async () => {
    const hauler = await Hauler.create({ sites: sites(0, 10) });
    expect((await hauler.sync({ sites: [] })).status).toBe('held');
    const run = await hauler.sync(sites(0, 10));
    expect([run.status, counts(run)]).toEqual(['succeeded', { received: 10, unchanged: 10 }]);
  });

  test('is judged anew when some of the records are back, and then few are removed (decision 35)', async () => {
    const hauler = await Hauler.create({ sites: sites(0, 10) });
    expect((await hauler.sync(sites(6, 10))).status).toBe('held');
    const run = await hauler.sync(sites(2, 10));
    expect([run.status, run.counts.sites['deactivated'], await activeSites(hauler)]).toEqual(['succeeded', 2, 8]);
  });

  test('stays held although new records make its share small, or the kind is not stated (decision 35)', async () => {
    const hauler = await Hauler.create({ sites: sites(0, 10) });
    expect((await hauler.sync(sites(6, 60))).status).toBe('held');
    expect((await hauler.sync(sites(6, 60))).status).toBe('held');
    expect((await hauler.sync({ kiosks: [] })).counts.sites).toMatchObject({ held: 6 });
    expect(await activeSites(hauler)).toBe(60);
  });

  test('of two kinds has a guard for each, and one kind that is back does not release the other (decision 35)', async () => {
    const hauler = await Hauler.create({
      sites: { ...sites(0, 2), kiosks: numbers(0, 10).map((n) => kiosk(`k${n}`, 's0')) },
    });
    const kiosks = numbers(6, 10).map((n) => kiosk(`k${n}`, 's0'));
    const held: SiteRun = await hauler.sync({ sites: [], kiosks });
    expect(held.guard).toEqual([
      { kind: 'sites', removed: 2, of: 2, share: 1 },
      { kind: 'kiosks', removed: 6, of: 10, share: 0.6 },
    ]);
    const run = await hauler.sync({ ...sites(0, 2), kiosks });
    expect([run.status, run.counts.sites['held'], run.counts.kiosks['held']]).toEqual(['held', 0, 6]);
  });

  test('stays held while an id of its kind cannot be read, and can be confirmed after an answer without the kind (decisions 33, 52)', async () => {
    const hauler = await Hauler.create({ sites: sites(0, 10) });
    await hauler.sync(sites(6, 10));
    const unread = await hauler.sync({ sites: [...(sites(2, 10).sites ?? []), site('x', { id: 'x' })] });
    expect([unread.status, unread.counts.sites['held']]).toEqual(['held', 6]);
    const silent = await hauler.sync({ kiosks: [] });
    expect((await decide(silent, 'confirm')).status).toBe(200);
    expect(await activeSites(hauler)).toBe(4);
  });

  test('is confirmed for its own connection alone, and another one that lists a record restores it (decision 52)', async () => {
    const hauler = await Hauler.create({ sites: sites(0, 1) });
    const { partner } = await hauler.siteConnection();
    const other = await hauler.connect({ interface: 'site', baseUrl: partner.url, enabled: false });
    const held = await hauler.sync({ sites: [] });
    await hauler.sync(sites(0, 2), other);
    expect((await decide(held, 'confirm')).status).toBe(200);
    expect(await activeSites(hauler)).toBe(1);
    expect((await hauler.sync(sites(0, 2), other)).counts.sites).toMatchObject({ received: 2, restored: 1 });
    expect(await activeSites(hauler)).toBe(2);
  });

  test('of a deleted connection whose records another one took over is not confirmed (decision 52)', async () => {
    const hauler = await Hauler.create({ sites: sites(0, 3) });
    const { partner, connectionId } = await hauler.siteConnection();
    const held = await hauler.sync({ sites: [] });
    const other = await hauler.connect({ interface: 'site', baseUrl: partner.url, enabled: false });
    await admin('DELETE', `/connections/${connectionId}`);
    await hauler.sync(sites(0, 3), other);
    expect(await decide(held, 'confirm')).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT', message: expect.stringContaining('taken over its records') } },
    });
    expect(await activeSites(hauler)).toBe(3);
  });

  test('names what a confirmation removes, which then happens to these records alone (decision 52)', async () => {
    const hauler = await Hauler.create({ sites: sites(0, 10) });
    const held = await hauler.sync(sites(7, 12));
    const named = await listed<{ externalId: string }>(`/sync-runs/${held.id}/changes?change=held`);
    const gone = numbers(0, 7).map((n) => idOf(`s${n}`));
    expect(named.map(({ externalId }) => externalId).sort()).toEqual(gone.sort());
    expect(await decide(held, 'confirm')).toMatchObject({
      status: 200,
      body: { id: held.id, status: 'succeeded', counts: { sites: { held: 0, deactivated: 7 } } },
    });
    const active = await catalog(hauler, 'sites', '&active=true');
    expect(active.map(({ externalId }) => externalId).sort()).toEqual(
      numbers(7, 12)
        .map((n) => idOf(`s${n}`))
        .sort(),
    );
    expect((await hauler.sync()).status).toBe('succeeded');
    expect((await decide(held, 'confirm')).status).toBe(409);
  });

  test('that is rejected changes nothing, and the next answer that removes one of the records is held (decision 52)', async () => {
    const hauler = await Hauler.create({ sites: sites(0, 10) });
    const held = await hauler.sync(sites(6, 60));
    expect(await decide(held, 'reject', { note: 'The export was cut' })).toMatchObject({
      status: 200,
      body: { status: 'rejected', note: 'The export was cut' },
    });
    expect(await activeSites(hauler)).toBe(60);
    const again = await hauler.sync(sites(5, 60));
    expect([again.status, again.counts.sites['held']]).toEqual(['held', 5]);
    expect((await hauler.sync(sites(0, 60))).status).toBe('succeeded');
    expect((await hauler.sync(sites(1, 60))).counts.sites).toMatchObject({ held: 0, deactivated: 1 });
  });

  test('of two confirmations at once, one is 409 (decision 52)', async () => {
    const hauler = await Hauler.create({ sites: sites(0, 3) });
    const held = await hauler.sync({ sites: [] });
    const replies = await Promise.all([decide(held, 'confirm'), decide(held, 'confirm')]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test.each(['confirm', 'reject'] as const)(
    '%s of a run that is not held, or no longer the newest, is 409 (decision 52)',
    async (how) => {
      const hauler = await Hauler.create({ sites: sites(0, 3) });
      const held = await hauler.sync({ sites: [] });
      await answers(hauler, html());
      const newest = await hauler.sync();
      for (const run of [held, newest]) {
        expect(await decide(run, how)).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
      }
      expect(await activeSites(hauler)).toBe(3);
    },
  );
});
