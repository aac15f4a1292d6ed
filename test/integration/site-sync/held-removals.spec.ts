import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { SyncRun } from '../../../src/contracts/admin/sync-run.dto.js';
import { holdsRemovals, type RemovalCounts } from '../../../src/site-sync/sync/removal-guard.rules.js';
import { html } from '../../support/scripted-partner.js';
import { idOf, kiosk, site, siteData } from '../../support/site-data.js';
import { SITES_ROUTE, SiteScene } from '../../support/site-scene.js';

/** The removal guard of decision 35 from end to end, then its arithmetic. */
describe('held removals', () => {
  let scene: SiteScene;
  beforeAll(async () => {
    scene = await SiteScene.start();
  });
  afterAll(() => scene.stop());
  beforeEach(() => scene.renew());

  const sites = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => site(`s${from + i}`));
  const confirm = (id: string) => scene.service.admin<SyncRun>('POST', `/sync-runs/${id}/confirm`);
  const active = async () => (await scene.sites('&active=true')).length;

  test('of an empty list: the other changes are applied, and each further run with the same absence is held', async () => {
    await scene.sync({ ...siteData(3, 1, 4) });
    const empty = { sites: [], kiosks: siteData(3, 1, 4).kiosks, materials: siteData(3, 1, 5).materials };
    for (let i = 0; i < 3; i++) {
      const run = await scene.sync(empty);
      expect(run).toMatchObject({ status: 'held', finishedAt: expect.any(String) });
      expect(run).not.toHaveProperty('error');
      expect(run.counts.sites).toMatchObject({ received: 0, deactivated: 0, held: 3 });
      expect(run.counts.materials).toMatchObject({ received: 5, created: i === 0 ? 1 : 0, held: 0 });
    }
    expect(await active()).toBe(3);
  });

  test('are no failure of the connection', async () => {
    await scene.sync({ sites: sites(0, 3) });
    await scene.sync({ sites: [] });
    const [row] = await scene.service.dataSource.query<unknown[]>(
      'SELECT attempts, last_error FROM connections WHERE id = $1',
      [scene.connectionId],
    );
    expect(row).toEqual({ attempts: 0, last_error: null });
  });

  test('of one kind do not hold those of another kind', async () => {
    await scene.sync(siteData(10, 10, 0));
    const run = await scene.sync({
      sites: siteData(10, 0, 0).sites.slice(6),
      kiosks: siteData(10, 10, 0).kiosks.slice(5),
    });
    expect(run.status).toBe('held');
    expect([run.counts.sites.held, run.counts.kiosks.held, run.counts.kiosks.deactivated]).toEqual([6, 0, 5]);
  });

  test('of two kinds: records of one kind that are sent again do not release the other kind', async () => {
    const kiosks = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => kiosk(`k${from + i}`, 's0'));
    await scene.sync({ sites: sites(0, 2), kiosks: kiosks(0, 10) });
    for (const last of [10, 40]) {
      const { counts } = await scene.sync({ sites: [], kiosks: kiosks(6, last) });
      expect([counts.sites.held, counts.kiosks.held]).toEqual([2, 6]);
    }
    const { status, counts } = await scene.sync({ sites: sites(0, 2), kiosks: kiosks(6, 40) });
    expect([status, counts.sites.held, counts.kiosks.held, counts.kiosks.deactivated]).toEqual(['held', 0, 6, 0]);
  });

  test('stay held when new records arrive beside the same absence', async () => {
    await scene.sync({ sites: sites(0, 10) });
    expect((await scene.sync({ sites: sites(6, 60) })).counts.sites).toMatchObject({ created: 50, held: 6 });
    const again = await scene.sync({ sites: sites(6, 60) });
    expect([again.status, again.counts.sites.held, await active()]).toEqual(['held', 6, 60]);
  });

  test('are released when the records are sent again', async () => {
    await scene.sync({ sites: sites(0, 10) });
    await scene.sync({ sites: [] });
    const run = await scene.sync({ sites: sites(0, 10) });
    expect([run.status, run.counts.sites.held, run.counts.sites.unchanged]).toEqual(['succeeded', 0, 10]);
    expect(
      await scene.service.dataSource.query('SELECT 1 FROM sync_holds WHERE connection_id = $1', [scene.connectionId]),
    ).toEqual([]);
  });

  test('are released when only a few records are absent, and these are removed', async () => {
    await scene.sync({ sites: sites(0, 10) });
    await scene.sync({ sites: sites(6, 10) });
    const run = await scene.sync({ sites: sites(2, 10) });
    expect([run.status, run.counts.sites.deactivated, await active()]).toEqual(['succeeded', 2, 8]);
  });

  test('stay held, and can be confirmed, after a response without this kind', async () => {
    await scene.sync({ sites: sites(0, 10) });
    await scene.sync({ sites: [] });
    const run = await scene.sync({ kiosks: [] });
    expect([run.status, run.counts.sites.held]).toEqual(['held', 10]);
    expect((await confirm(run.id)).status).toBe(200);
    expect(await active()).toBe(0);
  });

  test('stay held after a response with an unreadable id', async () => {
    await scene.sync({ sites: sites(0, 10) });
    await scene.sync({ sites: sites(6, 10) });
    const run = await scene.sync({ sites: [...sites(2, 10), site('x', { id: 'x' })] });
    expect([run.status, run.counts.sites.held, run.counts.sites.deactivated]).toEqual(['held', 6, 0]);
  });

  test('do not include records with active: false', async () => {
    await scene.sync({ sites: sites(0, 10) });
    const run = await scene.sync({ sites: sites(0, 10).map((record) => ({ ...record, active: false })) });
    expect([run.status, run.counts.sites.deactivated, await active()]).toEqual(['succeeded', 10, 0]);
  });

  test('send no If-None-Match', async () => {
    scene.answers({ sites: sites(0, 10) }, { ETag: '"ten"' });
    await scene.sync();
    scene.answers({ sites: [] }, { ETag: '"none"' });
    await scene.sync();
    await scene.sync();
    expect(scene.partner.asked.at(-1)?.headers['if-none-match']).toBeUndefined();
  });

  describe('POST /sync-runs/{id}/confirm', () => {
    test('applies the removals, and the run has succeeded; the same response changes nothing afterwards', async () => {
      await scene.sync({ sites: sites(0, 10) });
      const held = await scene.sync({ sites: sites(7, 10) });
      const { status, body } = await confirm(held.id);
      expect(status).toBe(200);
      expect(body).toEqual({
        ...held,
        status: 'succeeded',
        counts: { ...held.counts, sites: { ...held.counts.sites, held: 0, deactivated: 7 } },
      });
      expect(await active()).toBe(3);
      const next = await scene.sync();
      expect([next.status, next.counts.sites.held, next.counts.sites.deactivated]).toEqual(['succeeded', 0, 0]);
    });

    test('adds the removals to the records that the partner deactivated itself', async () => {
      await scene.sync({ sites: sites(0, 10) });
      const held = await scene.sync({ sites: [...sites(7, 9), site('s9', { active: false })] });
      expect(held.counts.sites).toMatchObject({ held: 7, deactivated: 1 });
      expect((await confirm(held.id)).body.counts.sites).toMatchObject({ held: 0, deactivated: 8 });
    });

    test('removes the held records only', async () => {
      await scene.sync({ sites: sites(0, 10) });
      const held = await scene.sync({ sites: sites(7, 12) });
      await confirm(held.id);
      expect((await scene.sites('&active=true')).map(({ externalId }) => externalId).sort()).toEqual(
        sites(7, 12)
          .map(({ id }) => id)
          .sort(),
      );
    });

    test('has the statement timeout of a run, because a hauler may have a million records', async () => {
      await scene.sync({ sites: sites(0, 10) });
      const held = await scene.sync({ sites: sites(7, 10) });
      const { dataSource } = scene.service;
      await dataSource.query(`
        CREATE TABLE confirm_timeouts (value text);
        CREATE FUNCTION note_timeout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          INSERT INTO confirm_timeouts VALUES (current_setting('statement_timeout')); RETURN NULL; END $$;
        CREATE TRIGGER note_timeout AFTER UPDATE ON sites EXECUTE FUNCTION note_timeout()`);
      try {
        expect((await confirm(held.id)).status).toBe(200);
        expect(await dataSource.query('SELECT DISTINCT value FROM confirm_timeouts')).toEqual([{ value: '5min' }]);
      } finally {
        await dataSource.query('DROP FUNCTION note_timeout CASCADE; DROP TABLE confirm_timeouts');
      }
    });

    const reason = (reply: { body: unknown }) => (reply.body as { error: { code: string } }).error.code;

    test('twice at the same time: one of them is 409', async () => {
      await scene.sync({ sites: sites(0, 3) });
      const held = await scene.sync({ sites: [] });
      const replies = await Promise.all([confirm(held.id), confirm(held.id)]);
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    });

    test('of a run that is not held: 409', async () => {
      const run = await scene.sync({ sites: sites(0, 3) });
      const reply = await confirm(run.id);
      expect([reply.status, reason(reply)]).toEqual([409, 'CONFLICT']);
    });

    test.each<[string, () => Promise<unknown>]>([
      ['another held one', () => scene.sync()],
      [
        'one that failed',
        () => {
          scene.partner.on(SITES_ROUTE, html());
          return scene.sync();
        },
      ],
    ])('of a run that is not the newest, after %s: 409, and nothing is removed', async (_what, next) => {
      await scene.sync({ sites: sites(0, 3) });
      const held = await scene.sync({ sites: [] });
      await next();
      expect((await confirm(held.id)).status).toBe(409);
      expect(await active()).toBe(3);
    });

    test('of a deleted connection whose records passed to another one: 409, and the run stays held', async () => {
      const all = { sites: sites(0, 3) };
      await scene.sync(all);
      const held = await scene.sync({ sites: [] });
      const other = await scene.connect();
      await scene.service.admin('DELETE', `/connections/${scene.connectionId}`);
      await scene.sync(all, other);
      const { status, body } = await confirm(held.id);
      expect(status).toBe(409);
      expect(body).toMatchObject({
        error: { code: 'CONFLICT', message: expect.stringContaining('taken over its records') },
      });
      expect((await scene.run(held.id)).status).toBe('held');
      expect(await active()).toBe(3);
    });

    test('ignores newer runs of another connection', async () => {
      await scene.sync({ sites: sites(0, 3) });
      const other = await scene.connect();
      const held = await scene.sync({ sites: [] });
      await scene.sync({ sites: [site('z')] }, other);
      expect((await confirm(held.id)).status).toBe(200);
      expect((await scene.sites('&active=true')).map(({ externalId }) => externalId)).toEqual([idOf('z')]);
    });

    test('of records that another connection sends as well: its next run restores them', async () => {
      const stated = { sites: sites(0, 1) };
      await scene.sync(stated);
      const other = await scene.connect();
      await scene.sync(stated, other);
      const held = await scene.sync({ sites: [] });
      await confirm(held.id);
      expect(await active()).toBe(0);
      expect((await scene.sync(stated, other)).counts.sites).toMatchObject({ received: 1, restored: 1 });
      expect(await active()).toBe(1);
    });

    test('of an unknown run: 404; of an invalid id: 400', async () => {
      expect((await confirm(randomUUID())).status).toBe(404);
      expect((await confirm('x')).status).toBe(400);
    });
  });
});

/** Decision 35, as a table: nothing is held yet unless a case says so. */
function drop(activeBefore: number, absent: number, change: Partial<RemovalCounts> = {}): RemovalCounts {
  return {
    activeBefore,
    absent,
    remaining: activeBefore - absent,
    held: 0,
    stillAbsent: 0,
    rejectedAbsent: 0,
    ...change,
  };
}

describe('the removal guard', () => {
  test.each<[string, RemovalCounts, boolean]>([
    ['nothing is absent', drop(100, 0), false],
    ['nothing is absent, and nothing was there', drop(0, 0), false],
    ['the only one is absent', drop(1, 1), true],
    ['all of three are absent: zero, though fewer than six', drop(3, 3), true],
    ['all are absent, but others have come', drop(3, 3, { remaining: 3 }), false],
    ['the last active one is absent, the others were stated inactive', drop(3, 1, { remaining: 0 }), true],
    ['all were stated inactive, none is absent', drop(3, 0, { remaining: 0 }), false],
    ['five of six: more than a fifth, not more than five', drop(6, 5), false],
    ['six of seven', drop(7, 6), true],
    ['six of thirty: a fifth, not more', drop(30, 6), false],
    ['six of twenty-nine: more than a fifth', drop(29, 6), true],
    ['a fifth of a thousand', drop(1000, 200), false],
    ['one more than a fifth of a thousand', drop(1000, 201), true],
    ['all of many are absent, as many others have come', drop(10, 10, { remaining: 10 }), true],
  ])('%s', (_what, given, expected) => {
    expect(holdsRemovals(given)).toBe(expected);
  });

  test.each<[string, RemovalCounts, boolean]>([
    ['one record whose removal was rejected', drop(100, 1, { rejectedAbsent: 1 }), true],
    ['the same absence', drop(10, 6, { held: 6, stillAbsent: 6 }), true],
    ['the same absence, a small share by now', drop(1000, 6, { held: 6, stillAbsent: 6 }), true],
    ['the same of an empty list, others have come', drop(4, 3, { remaining: 1, held: 3, stillAbsent: 3 }), true],
    ['the same absence of one', drop(10, 1, { held: 1, stillAbsent: 1 }), true],
    ['the same absence and more', drop(1000, 9, { held: 6, stillAbsent: 6 }), true],
    ['some have come back, and few are left', drop(10, 5, { held: 6, stillAbsent: 5 }), false],
    ['some have come back, and many are left', drop(20, 15, { held: 16, stillAbsent: 15 }), true],
    ['all have come back', drop(10, 0, { held: 6, stillAbsent: 0 }), false],
    ['others are absent now', drop(100, 7, { held: 6, stillAbsent: 0 }), false],
  ])('while removals are held: %s', (_what, given, expected) => {
    expect(holdsRemovals(given)).toBe(expected);
  });
});
