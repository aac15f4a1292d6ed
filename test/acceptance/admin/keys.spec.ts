import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { type ErrorBody, Hauler, type Plain } from '../support/hauler.js';
import { issueKey, type Key, openedBy, shownKey } from '../support/keys.js';
import { admin, administer, call, listed, target } from '../support/target.js';

describe('a key', () => {
  test('has a recognisable prefix, 32 random bytes and a checksum, is shown once and must not be cached (decision 17)', async () => {
    const hauler = await Hauler.create();
    const body = { haulerId: hauler.id, interfaces: ['account'], name: 'Weighbridge' };
    const reply = await admin<Key>('POST', '/api-keys', body);
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(reply.body.key).toMatch(/^hb_[0-9A-Za-z]{49}$/);
    expect(reply.body.key.startsWith(reply.body.prefix)).toBe(true);
    const { key, ...rest } = reply.body;
    expect(await shownKey(hauler, reply.body)).toEqual(rest);
    expect(await administer('GET', `/api-keys/${reply.body.id}`)).toEqual(rest);
    const list = await admin('GET', `/api-keys?haulerId=${hauler.id}`);
    expect(list.text).not.toContain(key.slice(12));
  });

  test('shows its last use, which is kept to the minute (decision 17)', async () => {
    const hauler = await Hauler.create();
    const key = await issueKey(hauler);
    expect((await shownKey(hauler, key)).lastUsedAt).toBeNull();
    await openedBy(key.key);
    const { lastUsedAt } = await eventually(async () => {
      const found = await shownKey(hauler, key);
      expect(found.lastUsedAt).not.toBeNull();
      return found;
    });
    expect(Math.abs(Date.parse(lastUsedAt ?? '') - Date.now())).toBeLessThan(60_000);
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
});
