import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { SyncChange, SyncRun } from '../../src/contracts/admin/sync-run.dto.js';
import { idOf, kiosk, site } from '../support/site-data.js';
import { SiteScene } from '../support/site-scene.js';

describe('what a synchronisation run changed', () => {
  let scene: SiteScene;
  beforeAll(async () => {
    scene = await SiteScene.start();
  });
  afterAll(() => scene.stop());
  beforeEach(() => scene.renew());

  const sites = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => site(`s${from + i}`));
  const changes = async (id: string, query = '') =>
    (await scene.service.admin<{ data: SyncChange[] }>('GET', `/sync-runs/${id}/changes?pageSize=100${query}`)).body
      .data;
  const reject = (id: string, body?: object) => scene.service.admin<SyncRun>('POST', `/sync-runs/${id}/reject`, body);
  const active = async () => (await scene.sites('&active=true')).length;

  test('names created, updated, deactivated and restored records with both states', async () => {
    const first = await scene.sync({ sites: sites(0, 4) });
    expect(await changes(first.id)).toHaveLength(4);
    expect((await changes(first.id))[0]).toMatchObject({ kind: 'sites', change: 'created', before: null });
    const second = await scene.sync({
      sites: [site('s0', { name: 'Renamed' }), site('s1'), site('s2', { active: false })],
    });
    const listed = await changes(second.id);
    expect(listed.map(({ change, externalId }) => [change, externalId])).toEqual([
      ['updated', idOf('s0')],
      ['deactivated', idOf('s2')],
      ['deactivated', idOf('s3')],
    ]);
    expect(listed[0]).toMatchObject({ name: 'Renamed', changes: ['name'], after: { name: 'Renamed' } });
    expect(listed[2]).toMatchObject({ before: { active: true }, after: { active: false }, changes: ['active'] });
    expect(await changes(second.id, '&change=updated&kind=sites')).toHaveLength(1);
    expect(await changes(second.id, '&kind=kiosks')).toEqual([]);
    const third = await scene.sync({ sites: sites(0, 4) });
    expect((await changes(third.id, '&change=restored')).map(({ externalId }) => externalId).sort()).toEqual(
      [idOf('s2'), idOf('s3')].sort(),
    );
    expect(await changes((await scene.sync()).id)).toEqual([]);
  });

  test('a held run names what a confirmation removes, and the rule that held it', async () => {
    await scene.sync({ sites: sites(0, 10) });
    const held = await scene.sync({ sites: sites(6, 10) });
    expect(held.guard).toEqual({ kind: 'sites', removed: 6, of: 10, share: 0.6 });
    const names = (await changes(held.id, '&change=held')).map(({ externalId }) => externalId).sort();
    expect(names).toEqual(
      sites(0, 6)
        .map(({ id }) => id)
        .sort(),
    );
    await scene.service.admin('POST', `/sync-runs/${held.id}/confirm`);
    expect((await changes(held.id, '&change=deactivated')).map(({ externalId }) => externalId).sort()).toEqual(names);
  });

  test('a run that holds two kinds lists a rule for each, also while one of them is not stated', async () => {
    await scene.sync({ sites: sites(0, 2), kiosks: [kiosk('k0', 's0')] });
    expect((await scene.sync({ sites: [], kiosks: [] })).guard).toEqual([
      { kind: 'sites', removed: 2, of: 2, share: 1 },
      { kind: 'kiosks', removed: 1, of: 1, share: 1 },
    ]);
    const next = await scene.sync({ sites: [] });
    expect(next.guard).toHaveLength(2);
    expect(await changes(next.id, '&change=held')).toHaveLength(3);
  });

  describe('POST /sync-runs/{id}/reject', () => {
    test('keeps the records; the next answer that would remove one of them is held, however small its share', async () => {
      await scene.sync({ sites: sites(0, 10) });
      const held = await scene.sync({ sites: sites(6, 60) });
      const { status, body } = await reject(held.id, { note: 'Export was cut' });
      expect([status, body.status, body.note]).toEqual([200, 'rejected', 'Export was cut']);
      expect(await active()).toBe(60);
      const again = await scene.sync({ sites: sites(5, 60) });
      expect([again.status, again.counts.sites.held]).toEqual(['held', 5]);
      expect((await reject(again.id)).status).toBe(200);
      expect((await scene.sync({ sites: sites(0, 60) })).status).toBe('succeeded');
      expect((await scene.sync({ sites: sites(1, 60) })).counts.sites).toMatchObject({ held: 0, deactivated: 1 });
    });

    test('a kind that the next answer does not state is not held', async () => {
      await scene.sync({ sites: sites(0, 3) });
      await reject((await scene.sync({ sites: [] })).id);
      expect((await scene.sync({ kiosks: [] })).status).toBe('succeeded');
      expect(await active()).toBe(3);
    });

    test('409 for a run that is not held, was decided, or is not the newest', async () => {
      const first = await scene.sync({ sites: sites(0, 3) });
      expect((await reject(first.id)).status).toBe(409);
      const held = await scene.sync({ sites: [] });
      const newest = await scene.sync();
      expect((await reject(held.id)).status).toBe(409);
      expect((await reject(newest.id)).status).toBe(200);
      expect((await reject(newest.id)).status).toBe(409);
      expect((await scene.service.admin('POST', `/sync-runs/${newest.id}/confirm`)).status).toBe(409);
    });
  });
});
