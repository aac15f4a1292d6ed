import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { json, refuses, startScriptedPartner } from '../../support/scripted-partner.js';
import { idOf, site } from '../../support/site-data.js';
import { type ErrorBody, Hauler, ONE_SITE, type Plain, SITES_ROUTE } from '../support/hauler.js';
import { admin, administer, call, listed, target } from '../support/target.js';

interface Action extends Plain {
  readonly actor: string;
  readonly action: string;
  readonly resource: string;
  readonly sentence: string;
  readonly changes?: Plain;
}

const actions = (resource: string) => listed<Action>(`/actions?resource=${resource}`);

describe('a hauler', () => {
  test('is created with an id, in lower case, which is refused the second time', async () => {
    const id = randomUUID();
    const name = `${'🚛'.repeat(190)} ${id.slice(0, 8)}`;
    const first = await admin<Plain>('POST', '/haulers', { id: id.toUpperCase(), name });
    expect([first.status, first.body]).toEqual([201, { id, name, createdAt: expect.any(String) }]);
    const second = await admin<ErrorBody>('POST', '/haulers', { id, name: 'Other' });
    expect([second.status, second.body.error.code]).toEqual([409, 'CONFLICT']);
    expect(await administer('GET', `/haulers/${id}`)).toEqual({ ...first.body, health: expect.any(Object) });
  });

  test.each<[string, Plain, string]>([
    ['no name', {}, 'name'],
    ['a name of null', { name: null }, 'name'],
    ['a name of blanks', { name: '   ' }, 'name'],
    ['a name of 201 characters', { name: 'n'.repeat(201) }, 'name'],
    ['a name that is a number', { name: 7 }, 'name'],
    ['an id that is no uuid', { name: 'n', id: 'seven' }, 'id'],
  ])('with %s is refused (decision 11)', async (_, body, path) => {
    const reply = await admin<ErrorBody>('POST', '/haulers', body);
    expect([reply.status, reply.body.error.code]).toEqual([400, 'INVALID_PAYLOAD']);
    expect(reply.body.error.details?.violations?.map((each) => each.path)).toEqual([path]);
  });
});

describe('the action log', () => {
  test('has the validated change of every write, by whom, newest first and without secrets (decisions 59, 60)', async () => {
    const hauler = await Hauler.create();
    const id = await hauler.connect({
      ...{ interface: 'site', baseUrl: 'http://127.0.0.1:9', apiKey: 'the-secret-of-the-partner', enabled: false },
      unknown: 'member',
    });
    await admin('PATCH', `/connections/${id}`, { nextApiKey: 'the-next-secret', intervalSeconds: 1_800 });
    await admin('DELETE', `/connections/${id}`);
    const all = await actions(`connection:${id}`);
    expect(all.map(({ actor, action }) => [actor, action])).toEqual([
      ['admin', 'deleteConnection'],
      ['admin', 'updateConnection'],
      ['admin', 'createConnection'],
    ]);
    expect(all[1]?.changes).toEqual({ nextApiKey: '[redacted]', intervalSeconds: 1_800 });
    expect(all[2]?.changes).not.toHaveProperty('unknown');
    expect(all[1]?.sentence).toMatch(/^An admin with the token stored the next key of the site connection of Hauler /);
    expect(JSON.stringify(all)).not.toMatch(/secret-of|next-secret/);
  });

  test('has no reads, no refused calls and no dry runs of routes that declare them (decision 60)', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const resource = `connection:${(await hauler.siteConnection()).connectionId}`;
    const before = await actions(resource);
    await admin('GET', `/connections/${resource.slice(11)}`);
    expect((await admin('PATCH', `/connections/${resource.slice(11)}`, { intervalSeconds: 1 })).status).toBe(400);
    expect(await actions(resource)).toEqual(before);
    const patched = await admin('PATCH', `/connections/${resource.slice(11)}`, { intervalSeconds: 900, dryRun: true });
    expect(patched.status).toBe(200);
    expect(await actions(resource)).toHaveLength(before.length + 1);
    const retentions = async () => (await actions('retention')).length;
    const count = await retentions();
    expect((await admin('POST', '/retention', { dryRun: true })).status).toBe(200);
    expect(await retentions()).toBe(count);
  });

  test('names the key of a partner by its prefix (decision 60)', async () => {
    const hauler = await Hauler.create();
    const key = await hauler.key('scale');
    const headers = { 'API-KEY': key };
    const path = '/partner/v1/sandbox/scenarios/unavailable';
    expect((await call('PUT', path, { headers, body: { times: 1 } })).status).toBe(200);
    const [newest] = await actions(`hauler:${hauler.id}`);
    expect(newest).toMatchObject({ action: 'startOwnScenario', changes: { times: 1 } });
    expect(key.startsWith(newest?.actor.replace('partner:', '') ?? 'none')).toBe(true);
  });

  test('is exported as one action a line, which is an action too', async () => {
    const hauler = await Hauler.create();
    await hauler.issueKey({ interfaces: ['scale'] });
    const path = `/admin/v1/actions?resource=hauler:${hauler.id}`;
    const headers = { Authorization: `Bearer ${target.adminToken}`, Accept: 'application/x-ndjson' };
    const { text } = await call('GET', path, { headers });
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Action);
    expect(lines).toEqual(await actions(`hauler:${hauler.id}`));
    const exports = (await administer<{ data: Action[] }>('GET', '/actions?pageSize=100')).data;
    expect(exports.find(({ action }) => action === 'actions.exported')?.changes).toMatchObject({
      resource: `hauler:${hauler.id}`,
    });
  });
});

describe('what is wrong now', () => {
  interface Attention {
    readonly data: readonly (Plain & { readonly kind: string; readonly hauler?: { readonly id: string } })[];
    readonly checked: readonly { readonly kind: string; readonly ok: boolean }[];
  }
  const rank = { now: 0, soon: 1, watch: 2 };
  const of = async ({ id }: Hauler) => {
    const { data } = await administer<Attention>('GET', '/attention');
    return data.filter(({ hauler }) => hauler?.id === id);
  };

  test('is one ranked list, which names the checks that were made (decision 69)', async () => {
    const { data, checked } = await administer<Attention>('GET', '/attention');
    const severities = data.map(({ severity }) => rank[severity as keyof typeof rank]);
    expect(severities).toEqual(severities.toSorted((a, b) => a - b));
    expect(checked.length).toBeGreaterThan(10);
    expect(checked.filter(({ ok }) => !ok)).toEqual([]);
  });

  test('has a held synchronisation with its sentence and page until it is decided (decisions 35, 69)', async () => {
    const sites = Array.from({ length: 10 }, (_, n) => site(`held ${n}`));
    const hauler = await Hauler.create({ sites: { sites, kiosks: [], materials: [] } });
    const run = await hauler.sync({ sites: sites.slice(0, 2), kiosks: [], materials: [] });
    expect(await of(hauler)).toMatchObject([
      {
        ...{ kind: 'held-runs', severity: 'now', count: 8, subject: 'synchronisation' },
        sentence: 'The removal of 8 of 10 sites waits for your decision. Until then they stay active.',
        page: expect.stringContaining(`run=${run.id}`),
      },
    ]);
    expect((await admin('POST', `/sync-runs/${run.id}/reject`, {})).status).toBe(200);
    expect(await of(hauler)).toEqual([]);
  });

  test('has a key that a partner refuses until a call succeeds (decision 69)', async () => {
    const hauler = await Hauler.create();
    const partner = await startScriptedPartner();
    partner.on(SITES_ROUTE, refuses(401, 'UNAUTHORIZED'));
    const id = await hauler.connect({ interface: 'site', baseUrl: partner.url });
    const refused = await eventually(async () => {
      const found = (await of(hauler)).find(({ kind }) => kind === 'refused-keys');
      expect(found).toMatchObject({ severity: 'now', connection: { id }, page: expect.any(String) });
      return found;
    });
    expect(refused?.['sentence']).toEqual(expect.any(String));
    partner.on(SITES_ROUTE, json({ success: true, data: ONE_SITE }));
    await admin('POST', `/connections/${id}/sync`);
    await eventually(async () => expect(await of(hauler)).toEqual([]));
  });
});

describe('an erasure (decision 68)', () => {
  const erase = async (haulerId: string, accountId: unknown) => {
    const { id } = await administer<{ id: string }>('POST', '/erasures', { haulerId, accountId });
    return eventually(async () => {
      const erasure = await administer<Plain>('GET', `/erasures/${id}`);
      expect(erasure['status']).toBe('done');
      return erasure;
    });
  };

  test('never touches another hauler, whatever the name of the account (issue 46, row 1)', async () => {
    const [hauler, other] = [await Hauler.create(), await Hauler.create()];
    const id = await other.connect({ interface: 'site', baseUrl: 'http://127.0.0.1:9', enabled: false });
    const before = await actions(`connection:${id}`);
    const { body } = await hauler.createAccount({ accountName: 'site' });
    await erase(hauler.id, body['accountId']);
    expect(await actions(`connection:${id}`)).toEqual(before);
  });
});

test('records of a list are found by the filters of their list alone', async () => {
  const hauler = await Hauler.create({
    sites: { ...ONE_SITE, sites: [site('yard'), site('gone', { active: false })] },
  });
  const ids = async (query: string) =>
    (await listed<{ externalId: string }>(`/sites?haulerId=${hauler.id}${query}`)).map(({ externalId }) => externalId);
  expect((await ids('')).toSorted()).toEqual([idOf('yard'), idOf('gone')].toSorted());
  expect(await ids('&active=true')).toEqual([idOf('yard')]);
  expect(await ids('&active=false')).toEqual([idOf('gone')]);
  expect(await ids(`&siteId=${idOf('yard')}`)).toEqual([idOf('yard')]);
  expect((await admin('GET', '/sites?active=maybe')).status).toBe(400);
});

test.each([
  ['lone star', 2],
  ['ONE ST', 2],
  ['dana.reyes@example.com', 1],
  ['strassen', 1],
  ['100%', 1],
  ['%', 0],
  ['lone lone', 0],
])('accounts are found by a part of their name or address: %j', async (search, count) => {
  const hauler = await Hauler.create();
  await Promise.all([
    hauler.createAccount({ accountName: 'Lone Star Demolition', primaryContact: { email: 'dana.reyes@example.com' } }),
    hauler.createAccount({ accountName: 'LONE  STAR Recycling' }),
    hauler.createAccount({ accountName: 'Straßenbau 100% _under_' }),
  ]);
  const query = new URLSearchParams({ haulerId: hauler.id, search });
  expect(await listed(`/accounts?${query.toString()}`)).toHaveLength(count);
});
