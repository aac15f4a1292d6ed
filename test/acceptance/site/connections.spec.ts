import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { startScriptedPartner } from '../../support/scripted-partner.js';
import { type ErrorBody, Hauler, ONE_SITE, paths, type Plain, SITES_ROUTE } from '../support/hauler.js';
import { siteAnswer } from '../support/site.js';
import { admin, administer } from '../support/target.js';

const KEY = 'partner-key-5f0c1f2e7a3b';

let hauler: Hauler;
beforeAll(async () => {
  hauler = await Hauler.create();
});
const bodyOf = (more: Plain = {}): Plain => ({
  ...{ haulerId: hauler.id, interface: 'site', baseUrl: 'https://partner.example.com', apiKey: KEY, enabled: false },
  ...more,
});
const create = (more: Plain = {}) => admin<Plain & ErrorBody>('POST', '/connections', bodyOf(more));

describe('a connection', () => {
  test('is answered with its defaults and without its key, and is found by hauler and interface', async () => {
    const reply = await create();
    expect([reply.status, reply.body]).toEqual([
      201,
      {
        ...{ id: expect.any(String), haulerId: hauler.id, interface: 'site', baseUrl: 'https://partner.example.com' },
        ...{ customerId: null, intervalSeconds: 900, firstByteTimeoutSeconds: null, enabled: false },
        ...{ hasNextApiKey: false, nextRunAt: null, lastError: null },
        ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
      },
    ]);
    const vision = (await create({ interface: 'vision' })).body;
    expect(vision).toMatchObject({ intervalSeconds: 300, customerId: hauler.id });
    const list = await admin<{ data: Plain[] }>('GET', `/connections?haulerId=${hauler.id}&interface=vision`);
    expect(list.body.data).toEqual([{ ...vision, health: expect.any(Object) }]);
    expect(reply.text + list.text).not.toContain(KEY);
  });

  test.each([
    ['https://partner.example.com/', 'https://partner.example.com'],
    ['https://Partner.Example.com:443/api/v2//', 'https://partner.example.com/api/v2'],
  ])('has the address %s as %s', async (baseUrl, kept) => {
    expect((await create({ baseUrl })).body['baseUrl']).toBe(kept);
  });

  test.each<[string, Plain, string]>([
    ['no hauler', { haulerId: undefined }, 'haulerId'],
    ['a hauler that is no UUID', { haulerId: 'x' }, 'haulerId'],
    ['an unknown hauler', { haulerId: randomUUID() }, 'haulerId'],
    ['another interface', { interface: 'scale' }, 'interface'],
    ['no address', { baseUrl: undefined }, 'baseUrl'],
    ['an address that is none', { baseUrl: 'partner' }, 'baseUrl'],
    ['another scheme', { baseUrl: 'ftp://partner.example.com' }, 'baseUrl'],
    ['an address with an empty query', { baseUrl: 'https://partner.example.com/?' }, 'baseUrl'],
    ['an address with a fragment', { baseUrl: 'https://partner.example.com/#x' }, 'baseUrl'],
    ['an address of 2,100 characters', { baseUrl: `https://partner.example.com/${'x'.repeat(2_100)}` }, 'baseUrl'],
    ['no key', { apiKey: undefined }, 'apiKey'],
    ['an empty key', { apiKey: '' }, 'apiKey'],
    ['a key with a line end', { apiKey: 'a\r\nX-Evil: 1' }, 'apiKey'],
    ['a key that no header can carry', { apiKey: 'schlüssel' }, 'apiKey'],
    ['a key that is a number', { apiKey: 7 }, 'apiKey'],
    ['a customer of a Site connection', { customerId: 'gv' }, 'customerId'],
    ['an interval of a Vision connection under 30 s', { interface: 'vision', intervalSeconds: 29 }, 'intervalSeconds'],
    ['half a second', { intervalSeconds: 60.5 }, 'intervalSeconds'],
    ['a first byte of a Site connection', { firstByteTimeoutSeconds: 300 }, 'firstByteTimeoutSeconds'],
    ['a first byte after an hour', { interface: 'vision', firstByteTimeoutSeconds: 3_601 }, 'firstByteTimeoutSeconds'],
    ['enabled that is no boolean', { enabled: 'yes' }, 'enabled'],
  ])('is refused with %s (decision 11)', async (_, more, path) => {
    const reply = await create(more);
    expect([reply.status, paths(reply)]).toEqual([400, [path]]);
    expect(reply.text).not.toContain(KEY);
  });

  test('stays as it was where one field of a change is refused', async () => {
    const { body: before } = await create();
    for (const [more, path] of [
      [{ baseUrl: 'https://partner.example.com/?' }, 'baseUrl'],
      [{ customerId: 'gv' }, 'customerId'],
      [{ nextApiKey: 'key ' }, 'nextApiKey'],
    ] as const) {
      const reply = await admin<ErrorBody>('PATCH', `/connections/${String(before['id'])}`, { ...more, enabled: true });
      expect([reply.status, paths(reply)]).toEqual([400, [path]]);
    }
    expect(await administer('GET', `/connections/${String(before['id'])}`)).toEqual({
      ...before,
      health: expect.any(Object),
    });
  });
});

test('a replay of an earlier call goes to the present origin, with its key (decision 56)', async () => {
  const own = await Hauler.create({ sites: ONE_SITE });
  const [{ partner, connectionId }, other] = [await own.siteConnection(), await startScriptedPartner()];
  other.on(SITES_ROUTE, siteAnswer(ONE_SITE));
  const [exchange] = await eventually(async () => {
    const path = `/exchanges?connectionId=${connectionId}`;
    const { data } = await administer<{ data: { id: string }[] }>('GET', path);
    expect(data).toHaveLength(1);
    return data;
  });
  await administer('PATCH', `/connections/${connectionId}`, { baseUrl: other.url, apiKey: KEY });
  const before = partner.asked.length;
  expect((await admin('POST', `/exchanges/${exchange?.id ?? ''}/replay`)).status).toBe(201);
  expect(other.asked.map(({ headers }) => headers['api-key'])).toEqual([KEY]);
  expect(partner.asked).toHaveLength(before);
});
