import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { type ErrorBody, Hauler, type Interface, type Plain } from '../support/hauler.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { admin, administer, call, listed, type Service, target } from '../support/target.js';

interface Key {
  readonly id: string;
  readonly key: string;
  readonly prefix: string;
  readonly haulerId: string | null;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

const DAY = 86_400;
/** A valid key gets past the check of the key, and is refused for its empty body. */
const [VALID, INVALID] = [400, 401];

const statusOf = async (key: string, service: Service = target): Promise<number> =>
  (await call('POST', '/platform-api/v1/accounts', { headers: { 'PLATFORM-API-KEY': key }, body: {} }, service)).status;

async function issue(hauler: Hauler, more: Plain = {}): Promise<Key> {
  const body = { haulerId: hauler.id, interfaces: ['account'], ...more };
  return administer<Key>('POST', '/api-keys', body, hauler.service);
}

const rotate = (hauler: Hauler, { id }: Key, body?: Plain) =>
  administer<Key>('POST', `/api-keys/${id}/rotate`, body, hauler.service);

async function shown(hauler: Hauler, { id }: Key): Promise<Key> {
  const all = await listed<Key>(`/api-keys?haulerId=${hauler.id}`, hauler.service);
  const found = all.find((key) => key.id === id);
  if (found === undefined) throw new Error('the key is not listed');
  return found;
}

const secondsLeft = ({ expiresAt }: Key): number => (Date.parse(expiresAt ?? '') - Date.now()) / 1_000;

describe('a key', () => {
  test('has a recognisable prefix, 32 random bytes and a checksum, is shown once and must not be cached (decision 17)', async () => {
    const hauler = await Hauler.create();
    const body = { haulerId: hauler.id, interfaces: ['account'], name: 'Weighbridge' };
    const reply = await admin<Key>('POST', '/api-keys', body);
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(reply.body.key).toMatch(/^hb_[0-9A-Za-z]{49}$/);
    expect(reply.body.key.startsWith(reply.body.prefix)).toBe(true);
    const { key, ...rest } = reply.body;
    expect(await shown(hauler, reply.body)).toEqual(rest);
    expect(await administer('GET', `/api-keys/${reply.body.id}`)).toEqual(rest);
    const list = await admin('GET', `/api-keys?haulerId=${hauler.id}`);
    expect(list.text).not.toContain(key.slice(12));
  });

  test('shows its last use, which is kept to the minute (decision 17)', async () => {
    const hauler = await Hauler.create();
    const key = await issue(hauler);
    expect((await shown(hauler, key)).lastUsedAt).toBeNull();
    await statusOf(key.key);
    const { lastUsedAt } = await eventually(async () => {
      const found = await shown(hauler, key);
      expect(found.lastUsedAt).not.toBeNull();
      return found;
    });
    expect(Math.abs(Date.parse(lastUsedAt ?? '') - Date.now())).toBeLessThan(60_000);
  });

  const OPENED: readonly [Interface, method: string, path: string, header: string][] = [
    ['scale', 'POST', '/platform-api/v1/tickets', 'PLATFORM-API-KEY'],
    ['account', 'POST', '/platform-api/v1/accounts', 'PLATFORM-API-KEY'],
    ['site', 'GET', '/scale-platform/v1/sites', 'API-KEY'],
    ['vision', 'GET', '/video-platform/v1/videos', 'API-KEY'],
  ];

  test.each(OPENED)(
    'opens %s only where it carries that interface, in the header of section 5 alone (section 5 Scale, Account, Site, Vision; decision 2)',
    async (name, method, path, header) => {
      const hauler = await Hauler.create();
      const others = OPENED.map(([each]) => each).filter((each) => each !== name);
      const wrong = header === 'API-KEY' ? 'PLATFORM-API-KEY' : 'API-KEY';
      const terms = (names: Interface[]) => ({
        interfaces: names,
        ...(names.includes('vision') ? { allCustomers: true } : {}),
      });
      const [right, without] = [await hauler.issueKey(terms([name])), await hauler.issueKey(terms(others))];
      const body = method === 'POST' ? {} : undefined;
      const ask = async (headers: Record<string, string>) => {
        const reply = await call<ErrorBody>(method, path, { headers, body });
        return [reply.status, reply.body.error.code];
      };
      expect(await ask({ [header]: right })).toEqual([400, 'INVALID_PAYLOAD']);
      expect(await ask({ [header.toLowerCase()]: right })).toEqual([400, 'INVALID_PAYLOAD']);
      const refused = [
        ...[{ [header]: without }, { [wrong]: right }, { Authorization: `Bearer ${right}` }, { [header]: '' }],
        ...[{ [header]: right.slice(0, -1) }, { [header]: `${right.slice(0, -1)}~` }, { [header]: right.slice(0, 11) }],
        // fetch joins a header that is sent twice.
        ...[{ [header]: `${right}, ${right}` }, { [header]: target.adminToken }, {}],
      ];
      const answers = await Promise.all(refused.map(ask));
      expect(answers).toEqual(refused.map(() => [401, 'UNAUTHORIZED']));
    },
  );

  test('of a hauler finds nothing of another one, not even that it exists (decision 1)', async () => {
    const [hauler, other] = [await Hauler.create(), await Hauler.create()];
    const account = { accountName: 'The same name' };
    const made = await other.createAccount(account);
    expect(made.status).toBe(200);
    const key = await hauler.key();
    const read = (id: unknown) =>
      call<ErrorBody>('GET', `/partner/v1/accounts?search=${String(id)}`, { headers: { 'PLATFORM-API-KEY': key } });
    expect((await read(made.body['accountNumber'])).body).toMatchObject({ data: [] });
    expect((await hauler.createAccount(account)).status).toBe(200);
  });

  test('of Site or Vision may be limited: what is outside is 404 (decision 17)', async () => {
    const [hauler, other] = [await Hauler.create(), await Hauler.create()];
    const key = await hauler.issueKey({ interfaces: ['site', 'vision'], customerId: 'customer-1' });
    const headers = { 'API-KEY': key };
    const range = 'truckId=T&cameraId=front&startTime=2026-01-31T08:00:00Z&endTime=2026-01-31T09:00:00Z';
    const site = await call<ErrorBody>('GET', `/scale-platform/v1/sites?haulerId=${other.id}`, { headers });
    const vision = await call('GET', `/video-platform/v1/videos?customerId=customer-2&${range}`, { headers });
    expect([site.status, vision.status, site.body.error.code]).toEqual([404, 404, 'NOT_FOUND']);
  });
});

describe('the request for a key', () => {
  test.each<[string, Plain, string[]]>([
    ['no interfaces', {}, ['interfaces']],
    ['empty interfaces', { interfaces: [] }, ['interfaces']],
    ['an unknown interface', { interfaces: ['scale', 'admin'] }, ['interfaces[1]']],
    ['interfaces that are no array', { interfaces: 'scale' }, ['interfaces']],
    ['scale without a hauler', { haulerId: null, interfaces: ['scale'] }, ['haulerId']],
    ['an unknown hauler', { haulerId: randomUUID(), interfaces: ['account'] }, ['haulerId']],
    ['a hauler that is no uuid', { haulerId: 'x', interfaces: ['site'] }, ['haulerId']],
    ['a customer without vision', { customerId: 'c', interfaces: ['site'] }, ['customerId']],
    ['vision without a customer', { interfaces: ['vision'] }, ['customerId']],
    ['one customer and all', { interfaces: ['vision'], customerId: 'c', allCustomers: true }, ['allCustomers']],
    ['an expiry in the past', { expiresAt: '2020-01-01T00:00:00Z', interfaces: ['site'] }, ['expiresAt']],
    ['an expiry without an offset', { expiresAt: '2030-01-01T00:00:00', interfaces: ['site'] }, ['expiresAt']],
    ['a name of 201 characters', { name: 'n'.repeat(201), interfaces: ['site'] }, ['name']],
    ['several faults', { interfaces: ['x'], expiresAt: 1, name: '' }, ['interfaces[0]', 'name', 'expiresAt']],
  ])('is refused with %s, and no key is issued (decision 11)', async (_, body, paths) => {
    const hauler = await Hauler.create();
    const reply = await admin<ErrorBody>('POST', '/api-keys', { haulerId: hauler.id, ...body });
    expect([reply.status, reply.body.error.code]).toEqual([400, 'INVALID_PAYLOAD']);
    expect(reply.body.error.details?.violations?.map(({ path }) => path)).toEqual(paths);
    expect(await listed(`/api-keys?haulerId=${hauler.id}`)).toEqual([]);
  });
});

describe('on two instances over one database', () => {
  let instances: [OwnService, OwnService];
  let hauler: Hauler;
  beforeAll(async () => {
    const first = await startOwnService();
    instances = [first, await startOwnService({ beside: first })];
    hauler = await Hauler.create({ service: first });
  });

  const both = ({ key }: Key) => Promise.all(instances.map((instance) => statusOf(key, instance)));
  /** The promise is 5 s. */
  const endsEverywhere = (key: Key) =>
    eventually(async () => expect(await both(key)).toEqual([INVALID, INVALID]), 5_000);

  test('a key opens as soon as it is issued, and its revocation takes effect within 5 s (decision 17)', async () => {
    const key = await issue(hauler);
    expect(await both(key)).toEqual([VALID, VALID]);
    expect((await admin('DELETE', `/api-keys/${key.id}`, undefined, instances[0])).status).toBe(204);
    expect(await statusOf(key.key, instances[0])).toBe(INVALID);
    await endsEverywhere(key);
    const { revokedAt } = await shown(hauler, key);
    expect((await admin('DELETE', `/api-keys/${key.id}`, undefined, instances[1])).status).toBe(204);
    expect((await shown(hauler, key)).revokedAt).toBe(revokedAt);
  });

  test('a key opens nothing after its expiry (decision 17)', async () => {
    const key = await issue(hauler, { expiresAt: new Date(Date.now() + 2_000).toISOString() });
    expect(await both(key)).toEqual([VALID, VALID]);
    await eventually(async () => expect(await both(key)).toEqual([INVALID, INVALID]), 30_000);
    expect(secondsLeft(await shown(hauler, key))).toBeLessThanOrEqual(0);
    expect((await admin('POST', `/api-keys/${key.id}/rotate`, undefined, instances[0])).status).toBe(409);
  });

  test('the new key of a rotation is dormant; from its first use the old one lives for the overlap (decision 17)', async () => {
    const old = await issue(hauler, { name: 'Gate', expiresAt: '2099-01-01T00:00:00Z' });
    const next = await rotate(hauler, old, { overlapSeconds: 2 });
    expect(next).toMatchObject({
      haulerId: hauler.id,
      interfaces: ['account'],
      name: 'Gate',
      expiresAt: old.expiresAt,
    });
    expect(next.key).not.toBe(old.key);
    expect(await both(old)).toEqual([VALID, VALID]);
    expect((await shown(hauler, old)).expiresAt).toBe(old.expiresAt);
    expect(await both(next)).toEqual([VALID, VALID]);
    expect(secondsLeft(await shown(hauler, old))).toBeLessThanOrEqual(2);
    await eventually(async () => expect(await both(old)).toEqual([INVALID, INVALID]), 30_000);
    expect(await both(next)).toEqual([VALID, VALID]);
  });

  test.each([
    ['a day by default', undefined, DAY],
    ['the chosen hour', { overlapSeconds: 3_600 }, 3_600],
    ['seven days at most', { overlapSeconds: 7 * DAY }, 7 * DAY],
  ])('the overlap is %s (decision 17)', async (_, body, seconds) => {
    const old = await issue(hauler);
    const next = await rotate(hauler, old, body);
    expect(await statusOf(next.key, instances[1])).toBe(VALID);
    const left = secondsLeft(await shown(hauler, old));
    expect([left > seconds - 60, left <= seconds + 1]).toEqual([true, true]);
  });

  test('an overlap of 0 ends the old key with the first use of the new one (decision 17)', async () => {
    const old = await issue(hauler);
    expect(await both(old)).toEqual([VALID, VALID]);
    const next = await rotate(hauler, old, { overlapSeconds: 0 });
    expect(await statusOf(next.key, instances[0])).toBe(VALID);
    await endsEverywhere(old);
  });

  test('a key that is activated on both instances at once has one overlap (decision 17)', async () => {
    const old = await issue(hauler);
    const next = await rotate(hauler, old, { overlapSeconds: 60 });
    await Promise.all(Array.from({ length: 10 }, () => both(next)));
    const { expiresAt } = await shown(hauler, old);
    expect(await both(next)).toEqual([VALID, VALID]);
    expect((await shown(hauler, old)).expiresAt).toBe(expiresAt);
  });

  test('a second rotation before the first use replaces the dormant key, also of several at once (decision 17)', async () => {
    const old = await issue(hauler);
    const keys = await Promise.all(Array.from({ length: 5 }, () => rotate(hauler, old)));
    const states = await Promise.all(keys.map((key) => shown(hauler, key)));
    expect(states.filter(({ revokedAt }) => revokedAt === null)).toHaveLength(1);
    const last = await rotate(hauler, old);
    expect(await Promise.all(keys.map(({ key }) => statusOf(key, instances[0])))).toEqual(keys.map(() => INVALID));
    expect([await statusOf(old.key), await both(last)]).toEqual([INVALID, [VALID, VALID]]);
  });

  test('a revoked key is not rotated, and a wrong overlap is refused (decision 17)', async () => {
    const key = await issue(hauler);
    for (const overlapSeconds of [-1, 7 * DAY + 1, 1.5, '60', true]) {
      const reply = await admin<ErrorBody>('POST', `/api-keys/${key.id}/rotate`, { overlapSeconds }, instances[0]);
      const paths = reply.body.error.details?.violations?.map(({ path }) => path);
      expect([overlapSeconds, reply.status, paths]).toEqual([overlapSeconds, 400, ['overlapSeconds']]);
    }
    await admin('DELETE', `/api-keys/${key.id}`, undefined, instances[0]);
    const refused = await admin<ErrorBody>('POST', `/api-keys/${key.id}/rotate`, undefined, instances[0]);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'CONFLICT']);
  });
});

describe('the admin token', () => {
  test.each([
    ['absent', {}],
    ['empty', { Authorization: '' }],
    ['a scheme alone', { Authorization: 'Bearer' }],
    ['without a scheme', { Authorization: target.adminToken }],
    ['of another scheme', { Authorization: `Basic ${Buffer.from(`admin:${target.adminToken}`).toString('base64')}` }],
    ['shorter', { Authorization: `Bearer ${target.adminToken.slice(0, -1)}` }],
    ['in a header for keys', { 'API-KEY': target.adminToken }],
  ])('that is %s is 401 (decision 3)', async (_, headers: Record<string, string>) => {
    const reply = await call<ErrorBody>('GET', '/admin/v1/haulers', { headers });
    expect([reply.status, reply.body.error.code, reply.headers.get('www-authenticate')]).toEqual([
      401,
      'UNAUTHORIZED',
      'Bearer',
    ]);
  });

  test('is read in any case of its scheme', async () => {
    const headers = { Authorization: `bearer ${target.adminToken}` };
    expect((await call('GET', '/admin/v1/haulers', { headers })).status).toBe(200);
  });

  test('an unknown path is 404 and a wrong method 405 before the token is asked for (decisions 3, 10, 55)', async () => {
    const unknown = await call<ErrorBody>('GET', '/admin/v1/nothing');
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'NOT_FOUND']);
    const wrong = await call<ErrorBody>('DELETE', '/admin/v1/haulers');
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, expect.stringContaining('POST')]);
    expect(wrong.body.error.message).toMatch(
      /^[A-Z]+ is not supported: \/admin\/v1\/haulers supports GET, HEAD, POST$/,
    );
  });
});
