import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { idOf, kiosk, material, site } from '../../support/site-data.js';
import { Hauler, type SyncRun } from '../support/hauler.js';
import { answers, catalog, issuesOf, KINDS, type SiteRun, siteAnswer } from '../support/site.js';
import { administer } from '../support/target.js';

interface Notice {
  readonly kind: string;
  readonly since: string;
  readonly subject: string;
  readonly sentence: string;
  readonly count: number;
  readonly hauler?: { readonly id: string };
}

const DATA = {
  sites: [site('one'), site('two')],
  kiosks: [kiosk('gate', 'one')],
  materials: [material('soil', { siteId: idOf('one') })],
};

const noticesOf = async ({ id }: Hauler): Promise<Notice[]> => {
  const { data, checked } = await administer<{ data: Notice[]; checked: { kind: string }[] }>('GET', '/attention');
  expect(checked.map(({ kind }) => kind)).toContain('absent-lists');
  return data.filter(({ kind, hauler }) => kind === 'absent-lists' && hauler?.id === id);
};

/** A hauler whose lists came once; each further run has the answer. */
async function begun(data = DATA): Promise<{ hauler: Hauler; run: (data: unknown) => Promise<SiteRun> }> {
  const hauler = await Hauler.create({ sites: data });
  const run = async (next: unknown): Promise<SyncRun> => {
    await answers(hauler, siteAnswer(next));
    return hauler.sync();
  };
  return { hauler, run };
}

// Source: a release renamed the lists; each run succeeded with zeros for weeks.
describe('a partner whose lists vanish (decision 35; issue 46)', () => {
  test.each([
    ['all of them', {}, ['sites', 'kiosks', 'materials']],
    [
      'materials, which have another name',
      { sites: DATA.sites, kiosks: DATA.kiosks, wasteTypes: DATA.materials },
      ['materials'],
    ],
    ['sites as null', { ...DATA, sites: null }, ['sites']],
  ])('is noticed from the third run on: %s', async (_, without, kinds) => {
    const { hauler, run } = await begun();
    const begunAt = Math.floor(Date.now() / 1_000) * 1_000;
    const first = await run(without);
    const endedAt = Date.now();
    const second = await run(without);
    for (const each of [first, second]) {
      expect(each).not.toHaveProperty('attention');
      expect(await issuesOf(hauler, each)).toEqual([]);
    }
    expect(await noticesOf(hauler)).toEqual([]);
    for (let n = 3; n <= 4; n++) {
      const noticed = await run(without);
      expect(noticed).toMatchObject({ status: 'succeeded', attention: expect.stringContaining(`in ${n} runs`) });
      expect(await issuesOf(hauler, noticed)).toMatchObject(
        kinds.map((kind) => ({ severity: 'flagged', kind, path: kind })),
      );
      const [notice] = await noticesOf(hauler);
      expect(notice).toMatchObject({ subject: kinds.join(', '), sentence: expect.stringContaining(`in ${n} runs`) });
      const since = Date.parse(notice?.since ?? '');
      expect(since).toBeGreaterThanOrEqual(begunAt);
      expect(since).toBeLessThanOrEqual(endedAt);
    }
    // An absent array changes nothing.
    for (const kind of KINDS) expect(await catalog(hauler, kind, '&active=true')).toHaveLength(DATA[kind].length);
    expect(await run(DATA)).not.toHaveProperty('attention');
    await eventually(async () => expect(await noticesOf(hauler)).toEqual([]));
  });

  test('is counted anew after each answer that has the list', async () => {
    const { hauler, run } = await begun();
    for (const next of [{}, {}, DATA, {}, {}]) await run(next);
    expect(await noticesOf(hauler)).toEqual([]);
  });

  test('is none where a partner never had a kind', async () => {
    const { hauler, run } = await begun({ sites: DATA.sites, kiosks: [], materials: [] });
    for (let n = 0; n < 4; n++) expect(await run({ sites: DATA.sites })).not.toHaveProperty('attention');
    expect(await noticesOf(hauler)).toEqual([]);
  });
});
