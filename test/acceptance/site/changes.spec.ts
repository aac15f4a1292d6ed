import { beforeAll, describe, expect, test } from '@jest/globals';
import { html, json, raw, redirects, refuses, type ScriptedReply } from '../../support/scripted-partner.js';
import { ADDRESS, idOf, kiosk, material, type Plain, site, siteData } from '../../support/site-data.js';
import { Hauler, SITES_ROUTE } from '../support/hauler.js';
import {
  answers,
  catalog,
  type CatalogRecord,
  counts,
  siteAnswer,
  type SiteRun,
  wholeCatalog,
} from '../support/site.js';

/** What a further answer of a partner changes: decisions 34 and 35, and the answers that change nothing. */
const OLDER = '2026-01-14T10:00:00Z';
const STORED = '2026-01-15T10:00:00Z';
const NEWER = '2026-01-16T10:00:00Z';

/** The rows of a table are synchronised at once, each for a hauler of its own. */
const atOnce = async <Row, Result>(rows: readonly Row[], play: (row: Row) => Promise<Result>) =>
  new Map(await Promise.all(rows.map(async (row) => [row, await play(row)] as const)));

function resultOf<Row, Result>(results: ReadonlyMap<Row, Result>, row: Row): Result {
  const found = results.get(row);
  if (found === undefined) throw new Error('the row was not played');
  return found;
}

describe('a record that is listed again', () => {
  const first = site('a', { address: ADDRESS });
  const removed = { sites: [site('b')] };

  interface Row {
    readonly what: string;
    readonly second: Plain;
    readonly change: string;
    /** `undefined` is absent. */
    readonly stored: Plain;
    /** It was absent from the answer before. */
    readonly wasRemoved?: boolean;
  }
  const row = (what: string, second: Plain, change: string, stored: Plain, wasRemoved = false): Row => ({
    ...{ what, second, change, stored, wasRemoved },
  });
  const ROWS: Row[] = [
    row('without a change is unchanged', first, 'unchanged', { name: 'Site a' }),
    row('with a new time alone is unchanged, and the time is stored', { ...first, updatedAt: NEWER }, 'unchanged', {
      updatedAt: NEWER,
    }),
    row('without its time is unchanged', { ...first, updatedAt: null }, 'unchanged', { updatedAt: STORED }),
    row('with new content and a newer time is updated', { ...first, name: 'A', updatedAt: NEWER }, 'updated', {
      name: 'A',
      updatedAt: NEWER,
    }),
    row('with new content and the same time is updated', { ...first, name: 'A' }, 'updated', { name: 'A' }),
    row('with new content and no time is updated', { ...first, name: 'A', updatedAt: null }, 'updated', { name: 'A' }),
    row('without its address is updated', site('a'), 'updated', { address: undefined }),
    row('with new content and an older time is stale', { ...first, name: 'A', updatedAt: OLDER }, 'stale', {
      name: 'Site a',
      updatedAt: STORED,
    }),
    row(
      'that is older by a microsecond is stale',
      { ...first, name: 'A', updatedAt: '2026-01-15T09:59:59.999999Z' },
      'stale',
      { name: 'Site a' },
    ),
    row('with active: false is deactivated', { ...first, active: false }, 'deactivated', {
      active: false,
      name: 'Site a',
    }),
    row('with active: false and an older time is stale', { ...first, active: false, updatedAt: OLDER }, 'stale', {
      active: true,
    }),
    row('after its removal is restored', first, 'restored', { active: true, name: 'Site a' }, true),
    row(
      'after its removal with new content is restored and updated',
      { ...first, name: 'A', updatedAt: NEWER },
      'restored',
      { active: true, name: 'A' },
      true,
    ),
    row(
      'after its removal with an older time is restored, without its content',
      { ...first, name: 'A', updatedAt: OLDER },
      'restored',
      { active: true, name: 'Site a' },
      true,
    ),
  ];

  let results: ReadonlyMap<Row, { run: SiteRun; found: CatalogRecord | undefined }>;
  beforeAll(async () => {
    results = await atOnce(ROWS, async ({ second, wasRemoved }) => {
      const hauler = await Hauler.create({ sites: { sites: [first, site('b')] } });
      if (wasRemoved === true) await hauler.sync(removed);
      const run = await hauler.sync({ sites: [second, site('b')] });
      const [found] = await catalog(hauler, 'sites', `&siteId=${idOf('a')}`);
      return { run, found };
    });
  }, 120_000);

  test.each(ROWS)('$what (decision 34)', (each) => {
    const { run, found } = resultOf(results, each);
    const isUnchanged = each.change === 'unchanged';
    expect(run.status).toBe('succeeded');
    expect(counts(run)).toEqual({
      received: 2,
      ...(isUnchanged ? { unchanged: 2 } : { unchanged: 1, [each.change]: 1 }),
    });
    for (const [field, value] of Object.entries(each.stored)) expect([field, found?.[field]]).toEqual([field, value]);
    expect(found?.['deactivatedAt'] !== undefined).toBe(found?.active === false);
  });
});

const three = () => ({
  sites: [site('a', { address: ADDRESS }), site('b')],
  kiosks: [kiosk('k', 'a')],
  materials: [material('m', { kioskId: idOf('k') }), material('n', { siteId: idOf('b') })],
});

describe('an answer', () => {
  const body = JSON.stringify({ success: true, data: three() });

  interface Row {
    readonly what: string;
    readonly reply: ScriptedReply;
    readonly status: 'failed' | 'no_data' | 'succeeded';
    /** A part of the sentence of the run. */
    readonly error?: string;
    /** Of `coverage-rows.mjs`. */
    readonly row: string;
  }
  const failed = (what: string, reply: ScriptedReply, error: string, row: string): Row => ({
    what,
    reply,
    status: 'failed',
    error,
    row,
  });
  const ENVELOPE = 'decision 33';
  const ROWS: Row[] = [
    failed('without success', json({ data: three() }), 'success is required', `section 2.4a success; ${ENVELOPE}`),
    failed(
      'with success as text',
      json({ success: 'true', data: three() }),
      'success must be true or false',
      `section 2.4a success; ${ENVELOPE}`,
    ),
    failed(
      'with success: false',
      json({ success: false, data: three() }),
      'success must be true',
      `section 2.4a success; ${ENVELOPE}`,
    ),
    failed('without data', json({ success: true }), 'data is required', `section 2.4a data; ${ENVELOPE}`),
    failed(
      'with a list as data',
      json({ success: true, data: [] }),
      'data must be an object',
      `section 2.4a data; ${ENVELOPE}`,
    ),
    failed(
      'with an object as sites',
      siteAnswer({ sites: {} }),
      'data.sites must be an array',
      `section 2.4a data.sites; ${ENVELOPE}`,
    ),
    failed(
      'with text as kiosks',
      siteAnswer({ kiosks: 'none' }),
      'data.kiosks must be an array',
      `section 2.4a data.kiosks; ${ENVELOPE}`,
    ),
    failed(
      'with a number as materials',
      siteAnswer({ ...three(), materials: 7 }),
      'data.materials must be an array',
      `section 2.4a data.materials; ${ENVELOPE}`,
    ),
    failed('with a list twice', raw(body.replace('"kiosks"', '"sites"')), 'data.sites occurs twice', ENVELOPE),
    failed('that is a page of HTML', html(), 'HTML page', ENVELOPE),
    failed('that ends too early', raw(body.slice(0, -20)), 'not valid JSON', ENVELOPE),
    failed(
      'that is not UTF-8',
      raw(Buffer.from(body.replace('Site b', 'Site \u00ff'), 'latin1')),
      'not valid JSON',
      ENVELOPE,
    ),
    failed('with status 204', raw('', { status: 204 }), '204', ENVELOPE),
    failed('with bytes behind its end', raw(`${body} {}`), 'JSON', ENVELOPE),
    failed('with a record that is not JSON', raw(body.replace('"Site b"', '"Site b')), 'JSON', ENVELOPE),
    failed(
      'that is nested without end',
      raw(`{"success":true,"data":{"sites":[${'['.repeat(100_000)}`),
      'JSON',
      `${ENVELOPE}; decision 8`,
    ),
    failed('of 304, which nobody asked for', raw('', { status: 304 }), '304', ENVELOPE),
    failed('that redirects', redirects('https://elsewhere.example/'), 'redirect', 'decision 50'),
    failed(
      'of 400',
      refuses(400, 'INVALID_PAYLOAD', 'haulerId is wrong'),
      '400 INVALID_PAYLOAD: haulerId is wrong',
      'section 4.3 400',
    ),
    failed('of 401', refuses(401, 'UNAUTHORIZED'), 'not accept our API key', 'section 4.3 401'),
    failed('of 500', refuses(500, 'INTERNAL_ERROR'), '500', 'section 4.3 500'),
    { what: 'of 404', reply: refuses(404, 'NOT_FOUND'), status: 'no_data', row: 'section 4.3 404; decision 35' },
    {
      what: 'of 404 with a page of a gateway',
      reply: html(404),
      status: 'no_data',
      error: 'the address may be wrong',
      row: 'decision 35',
    },
    {
      what: 'without its lists',
      reply: siteAnswer({}),
      status: 'succeeded',
      row: 'section 2.4a data.sites, data.kiosks, data.materials; decision 35',
    },
    {
      what: 'with null as its lists',
      reply: siteAnswer({ sites: null, kiosks: null, materials: null }),
      status: 'succeeded',
      row: 'decisions 5, 35',
    },
    {
      what: 'with unknown fields',
      reply: json({ more: 1, success: true, data: { ...three(), depots: [] } }),
      status: 'succeeded',
      row: 'decision 4',
    },
  ];

  let results: ReadonlyMap<Row, { run: SiteRun; before: CatalogRecord[][]; after: CatalogRecord[][] }>;
  beforeAll(async () => {
    results = await atOnce(ROWS, async ({ reply }) => {
      const hauler = await Hauler.create({ sites: three() });
      const before = await wholeCatalog(hauler);
      await answers(hauler, reply);
      return { before, run: await hauler.sync(), after: await wholeCatalog(hauler) };
    });
  }, 120_000);

  test.each(ROWS)('$what ends the run as $status, and changes no record ($row)', (each) => {
    const { run, before, after } = resultOf(results, each);
    expect(run.status).toBe(each.status);
    expect(after).toEqual(before);
    if (each.error === undefined) expect(run).not.toHaveProperty('error');
    else expect(run.error).toMatch(new RegExp(`^\\S.*${each.error}.*[.]$`, 's'));
  });
});

describe('a record that is absent from the answer', () => {
  test('becomes inactive and is never deleted, up to five at once (decision 35)', async () => {
    const hauler = await Hauler.create({ sites: siteData(6, 0, 0) });
    const run = await hauler.sync({ sites: siteData(1, 0, 0).sites });
    expect([run.status, counts(run)]).toEqual(['succeeded', { received: 1, unchanged: 1, deactivated: 5 }]);
    expect(await catalog(hauler, 'sites')).toHaveLength(6);
    expect(await catalog(hauler, 'sites', '&active=false')).toHaveLength(5);
  });

  test('stays active while an id of its kind cannot be read; other kinds are removed (decision 33)', async () => {
    const hauler = await Hauler.create({
      sites: { sites: [site('a'), site('b')], kiosks: [kiosk('k', 'a'), kiosk('l', 'a')] },
    });
    const run = await hauler.sync({ sites: [site('a'), site('x', { id: 7 })], kiosks: [kiosk('k', 'a')] });
    expect(counts(run)).toEqual({ received: 2, unchanged: 1, quarantined: 1 });
    expect(counts(run, 'kiosks')).toEqual({ received: 1, unchanged: 1, deactivated: 1 });
  });

  test('but malformed under its id is not absent: it stays as it is (decision 33)', async () => {
    const hauler = await Hauler.create({ sites: three() });
    const before = await wholeCatalog(hauler);
    const { sites, kiosks, materials } = three();
    const run = await hauler.sync({
      sites,
      kiosks,
      materials: [{ ...materials[0], measureUnit: 'Gallon' }, materials[1] as Plain],
    });
    expect(counts(run, 'materials')).toEqual({ received: 2, unchanged: 1, quarantined: 1 });
    expect(await wholeCatalog(hauler)).toEqual(before);
  });

  test('stays active if another connection of the hauler lists it (decision 35)', async () => {
    const hauler = await Hauler.create({ sites: { sites: [site('a')] } });
    const { partner } = await hauler.siteConnection();
    const other = await hauler.connect({ interface: 'site', baseUrl: partner.url, enabled: false });
    expect(counts(await hauler.sync({ sites: [site('b')] }, other))).toEqual({ received: 1, created: 1 });
    expect(await catalog(hauler, 'sites', '&active=true')).toHaveLength(2);
  });
});

describe('a child whose parent is quarantined', () => {
  test('is quarantined too, unless the parent is stored (decision 32)', async () => {
    const hauler = await Hauler.create({ sites: { sites: [site('a')] } });
    const run = await hauler.sync({
      sites: [site('a', { name: 7 }), site('b', { name: 7 })],
      kiosks: [kiosk('k', 'a'), kiosk('l', 'b')],
    });
    expect(counts(run, 'kiosks')).toEqual({ received: 2, created: 1, quarantined: 1 });
    expect(
      counts(
        await hauler.sync({ sites: [site('a'), site('b')], kiosks: [kiosk('k', 'a'), kiosk('l', 'b')] }),
        'kiosks',
      ),
    ).toEqual({ received: 2, unchanged: 1, created: 1 });
  });

  test('does not find a parent of another hauler (decisions 1, 32)', async () => {
    await Hauler.create({ sites: { sites: [site('a')] } });
    const other = await Hauler.create();
    expect(counts(await other.sync({ kiosks: [kiosk('k', 'a')] }), 'kiosks')).toEqual({ received: 1, quarantined: 1 });
  });
});

test('the platform asks with the key in its header and the id of the hauler (section 4.3 haulerId, 200; section 5 Site; section 9 Site)', async () => {
  const hauler = await Hauler.create({ sites: three() });
  const { partner } = await hauler.siteConnection();
  const [asked] = partner.askedOf(SITES_ROUTE);
  expect(asked?.headers['api-key']).toBe('the-key-that-the-partner-issued');
  expect([...(asked?.query ?? [])]).toEqual([['haulerId', hauler.id]]);
});
