import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { idOf, site } from '../../support/site-data.js';
import { type ErrorBody, flow, Hauler, ONE_SITE, type Plain } from '../support/hauler.js';
import { administer, call } from '../support/target.js';

type Headers = Readonly<Record<string, string>>;

const read = <Body = Plain>(path: string, headers: Headers) =>
  call<Body & ErrorBody>('GET', `/partner/v1${path}`, { headers });

describe('a key of a hauler', () => {
  let hauler: Hauler;
  let headers: Headers;
  let ticketId: string;
  beforeAll(async () => {
    hauler = await Hauler.create({ sites: ONE_SITE });
    headers = { 'PLATFORM-API-KEY': await hauler.key() };
    await hauler.push({ inboundFlow: flow('P-1', 2) });
    ticketId = (await hauler.push({ inboundFlow: flow('P-1', 1) })).body.disposalTicketId;
    await hauler.createAccount({ accountName: 'Green Valley' });
  });

  test('says what it opens, in either header, and when its sites were synchronised', async () => {
    for (const name of ['PLATFORM-API-KEY', 'API-KEY']) {
      const { status, body } = await read('/me', { [name]: headers['PLATFORM-API-KEY'] ?? '' });
      expect([status, body]).toMatchObject([
        200,
        { interfaces: ['scale', 'account'], haulerId: hauler.id, expiresAt: null, sandbox: true },
      ]);
      expect(body).toHaveProperty('lastSynchronisation');
    }
    expect((await read('/me', { ...headers, 'API-KEY': headers['PLATFORM-API-KEY'] ?? '' })).status).toBe(401);
  });

  test('reads its tickets with their pushes, its accounts, sites and materials', async () => {
    expect((await read('/tickets?ticketNumber=P-1', headers)).body).toMatchObject({ data: [{ id: ticketId }] });
    expect((await read(`/tickets/${ticketId}`, headers)).body).toMatchObject({
      id: ticketId,
      revisions: [{ result: 'stale' }, { result: 'created' }],
    });
    expect((await read('/accounts?search=green', headers)).body).toMatchObject({
      data: [{ accountName: 'Green Valley' }],
    });
    expect((await read('/sites', headers)).body).toMatchObject({ data: [{ externalId: idOf('yard') }] });
    expect((await read(`/materials?siteId=${idOf('yard')}`, headers)).body).toMatchObject({
      data: [{ externalId: idOf('debris') }],
    });
  });

  test('is 404 where it does not open the interface', async () => {
    const account = { 'PLATFORM-API-KEY': await hauler.key('account') };
    for (const path of ['/tickets', `/tickets/${ticketId}`]) expect((await read(path, account)).status).toBe(404);
    expect((await read('/findings', headers)).status).toBe(404);
  });

  test('lists its own calls alone, with their explanation, and refuses filters of others', async () => {
    const other = { 'PLATFORM-API-KEY': await hauler.key('scale') };
    const { data } = await eventually(async () => {
      const { body } = await read<{ data: Plain[]; next: string | null }>('/exchanges?interface=scale', headers);
      expect(body.data).toHaveLength(2);
      return body;
    });
    expect(data[0]).toMatchObject({ result: 'stale', explanation: expect.stringContaining('changed no contents') });
    expect((await read<{ data: Plain[] }>('/exchanges', other)).body.data).toEqual([]);
    expect((await read(`/exchanges/${String(data[0]?.['id'])}`, other)).status).toBe(404);
    for (const query of [`haulerId=${hauler.id}`, 'colour=red', 'status=nice']) {
      expect((await read(`/exchanges?${query}`, headers)).status).toBe(400);
    }
    const first = await read<{ next: string }>('/exchanges?pageSize=1', headers);
    const next = `/exchanges?pageSize=1&cursor=${first.body.next}`;
    expect([(await read(next, headers)).status, (await read(next, other)).status]).toEqual([200, 400]);
  });

  test('starts a scenario for its own operations, and ends it', async () => {
    const own = { 'API-KEY': await hauler.key('account') };
    const path = '/partner/v1/sandbox/scenarios';
    const start = (name: string, body: Plain) => call('PUT', `${path}/${name}`, { headers: own, body });
    for (const name of ['rule-violated', 'slow-clip']) expect((await start(name, { times: 1 })).status).toBe(400);
    for (const body of [{ times: 1_001 }, { forSeconds: 86_401 }, {}]) {
      expect((await start('server-error', body)).status).toBe(400);
    }
    expect((await start('server-error', { forSeconds: 600 })).status).toBe(200);
    const account = { accountName: 'Scoped' };
    const create = async () =>
      (
        await call('POST', '/platform-api/v1/accounts', {
          headers: { 'PLATFORM-API-KEY': own['API-KEY'] },
          body: account,
        })
      ).status;
    expect([await create(), (await hauler.push()).status]).toEqual([500, 200]);
    expect((await call('DELETE', `${path}/server-error`, { headers: own })).status).toBe(204);
    expect(await create()).toBe(200);
  });
});

describe('a key of a connection', () => {
  let hauler: Hauler;
  let connectionId: string;
  let headers: Headers;
  let keyId: string;
  beforeAll(async () => {
    hauler = await Hauler.create({ sites: { ...ONE_SITE, sites: [site('yard'), { ...site('bad'), name: 7 }] } });
    ({ connectionId } = await hauler.siteConnection());
    const issued = await administer<{ id: string; key: string }>('POST', '/api-keys', { connectionId, name: 'Vendor' });
    [headers, keyId] = [{ 'API-KEY': issued.key }, issued.id];
  });

  test('says its connection and hauler, and opens none of the interfaces', async () => {
    expect((await read('/me', headers)).body).toMatchObject({ interfaces: [], haulerId: hauler.id, connectionId });
    const health = { state: 'paused', lastSuccessAt: expect.any(String), calls: 1, failedCalls: 0 };
    await eventually(async () => expect((await read('/me', headers)).body).toMatchObject({ connection: { health } }));
    const key = headers['API-KEY'] ?? '';
    const calls = [
      call('POST', '/platform-api/v1/tickets', { headers: { 'PLATFORM-API-KEY': key }, body: {} }),
      call('GET', '/scale-platform/v1/sites', { headers }),
      call('GET', '/video-platform/v1/videos', { headers }),
      call('GET', '/admin/v1/haulers', { headers: { Authorization: `Bearer ${key}` } }),
    ];
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    for (const path of ['/tickets', '/accounts']) expect((await read(path, headers)).status).toBe(404);
  });

  test('reads the runs of its connection with changes and refused records, and decides none', async () => {
    const { data } = (await read<{ data: { id: string; status: string }[] }>('/sync-runs', headers)).body;
    expect(data).toMatchObject([{ status: 'succeeded' }]);
    const path = `/sync-runs/${data[0]?.id ?? ''}`;
    expect((await read(`${path}/changes`, headers)).body).toMatchObject({ data: [{}, {}] });
    expect((await read(`${path}/quarantine`, headers)).body).toMatchObject({ data: [{ path: 'sites[1].name' }] });
    expect((await call('POST', `/partner/v1${path}/confirm`, { headers })).status).toBe(404);
  });

  test('lists the calls that we made to its partner, without our key', async () => {
    const { text, body } = await read<{ data: Plain[] }>('/exchanges', headers);
    expect(body.data).toMatchObject([{ direction: 'outbound', connectionId, route: 'getSites' }]);
    expect(text).not.toContain('the-key-that-the-partner-issued');
  });

  test('lists what needs attention of its connection, in words for its partner, and nothing of anybody else (decision 69)', async () => {
    const { data: runs } = (await read<{ data: { finishedAt: string }[] }>('/sync-runs', headers)).body;
    await hauler.sync();
    const other = await Hauler.create({ sites: ONE_SITE });
    const { connectionId: otherId } = await other.siteConnection();
    expect((await other.sync({ ...ONE_SITE, materials: [] })).status).toBe('held');
    const issued = await administer<{ key: string }>('POST', '/api-keys', { connectionId: otherId, name: 'Other' });
    const [own, theirs] = await eventually(async () => {
      const answers = [await read('/attention', headers), await read('/attention', { 'API-KEY': issued.key })];
      expect(answers.map(({ body }) => body['total'])).toEqual([1, 1]);
      return answers;
    }, 30_000);
    const page = expect.stringMatching(/^\/console\/sync\?run=/);
    const item = { kind: 'quarantined-records', severity: 'soon', count: 1, subject: 'synchronisation', page };
    expect(own?.body['data']).toEqual([
      {
        ...item,
        title: 'Quarantine',
        problem: expect.stringMatching(/^quarantined-records /),
        // Of the first of the two runs.
        since: runs.at(-1)?.finishedAt,
        sentence: '1 of 3 records could not be stored as sent.',
      },
    ]);
    expect(theirs?.body['data']).toMatchObject([
      { kind: 'held-runs', sentence: expect.stringContaining('waits for the decision of an admin of the platform') },
    ]);
    for (const foreign of [other.id, otherId]) expect(own?.text).not.toContain(foreign);
    const kinds = ((own?.body['checked'] ?? []) as { kind: string }[]).map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['failing-calls', 'failing-runs', 'absent-lists']));
    for (const kind of ['held-at-risk', 'storage-trouble', 'failed-clips']) expect(kinds).not.toContain(kind);
    const ofHauler = { 'PLATFORM-API-KEY': await hauler.key() };
    expect((await read('/attention', ofHauler)).status).toBe(404);
  });

  test('ends with its connection', async () => {
    const other = await Hauler.create({ sites: ONE_SITE });
    const own = (await other.siteConnection()).connectionId;
    const issued = await administer<{ key: string }>('POST', '/api-keys', { connectionId: own, name: 'Ends' });
    expect((await read('/me', { 'API-KEY': issued.key })).status).toBe(200);
    await administer('DELETE', `/connections/${own}`);
    await eventually(async () => expect((await read('/me', { 'API-KEY': issued.key })).status).toBe(401), 5_000);
  });

  test('is revoked and rotated as others are', async () => {
    const next = await administer<{ key: string }>('POST', `/api-keys/${keyId}/rotate`);
    expect((await read('/me', { 'API-KEY': next.key })).body).toMatchObject({ connectionId });
    await administer('DELETE', `/api-keys/${keyId}`);
    await eventually(async () => expect((await read('/me', headers)).status).toBe(401), 5_000);
    expect((await read('/me', { 'API-KEY': next.key })).status).toBe(200);
  });
});
