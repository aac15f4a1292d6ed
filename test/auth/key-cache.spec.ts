import { beforeEach, describe, expect, test } from '@jest/globals';
import { KeyCache, type KnownKey, isValidFor } from '../../src/auth/key-cache.js';
import { ACCOUNT_API } from '../../src/contracts/account/account.api.js';
import { SCALE_API } from '../../src/contracts/scale/scale.api.js';

const key = (dormant = false): KnownKey => ({
  hash: 'h',
  principal: {
    keyId: 'k',
    keyPrefix: 'hb_k',
    haulerId: null,
    customerId: null,
    endsAt: Infinity,
    interfaces: new Set(),
  },
  endsAt: Infinity,
  dormant,
  lastUsedAt: 0,
});

let now: number;
let loads: PromiseWithResolvers<KnownKey | undefined>[];
let cache: KeyCache;

beforeEach(() => {
  now = 0;
  loads = [];
  cache = new KeyCache(
    () => {
      const load = Promise.withResolvers<KnownKey | undefined>();
      loads.push(load);
      return load.promise;
    },
    () => now,
  );
});

/** Lets settled promises run their handlers. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

async function warm(known = key()): Promise<void> {
  const found = cache.find('h');
  loads.at(-1)?.resolve(known);
  await found;
}

describe('a cached key', () => {
  test('is returned without a query until it is 2 s old', async () => {
    await warm();
    now = 1999;
    expect(cache.find('h')).toEqual(key());
    expect(loads).toHaveLength(1);
  });

  test('is read again after 2 s, once, without delay for the request', async () => {
    await warm();
    now = 2000;
    for (let i = 0; i < 5; i++) expect(cache.find('h')).toEqual(key());
    expect(loads).toHaveLength(2);
    loads[1]?.resolve(key(true));
    await settled();
    expect(cache.find('h')).toEqual(key(true));
    expect(loads).toHaveLength(2);
  });

  test('is not returned after 4 s', async () => {
    await warm();
    now = 4000;
    const found = cache.find('h');
    expect(found).toBeInstanceOf(Promise);
    loads[1]?.resolve(key(true));
    expect(await found).toEqual(key(true));
  });

  test('has its age from the start of the query', async () => {
    const found = cache.find('h');
    now = 3000;
    loads[0]?.resolve(key());
    await found;
    now = 4000;
    expect(cache.find('h')).toBeInstanceOf(Promise);
  });

  test('is returned until 4 s if its refresh fails; after that the request fails', async () => {
    await warm();
    now = 2500;
    expect(cache.find('h')).toEqual(key());
    loads[1]?.reject(new Error('unavailable'));
    await settled();
    now = 3999;
    expect(cache.find('h')).toEqual(key());
    loads[2]?.reject(new Error('unavailable'));
    await settled();
    now = 4000;
    const found = cache.find('h');
    loads[3]?.reject(new Error('unavailable'));
    await expect(found).rejects.toThrow('unavailable');
  });

  test('is not returned after a refresh has not found it', async () => {
    await warm();
    now = 2000;
    void cache.find('h');
    loads[1]?.resolve(undefined);
    await settled();
    const found = cache.find('h');
    expect(found).toBeInstanceOf(Promise);
    loads[2]?.resolve(undefined);
    expect(await found).toBeUndefined();
  });

  test('is read again if it changed during the query', async () => {
    const before = cache.find('h');
    cache.forget('h');
    void cache.find('h');
    loads[0]?.resolve(key());
    expect(await before).toEqual(key());
    const found = cache.find('h');
    expect(loads).toHaveLength(2);
    loads[1]?.resolve(key(true));
    expect(await found).toEqual(key(true));
    expect(cache.find('h')).toEqual(key(true));
  });

  test('is read again after a change on this instance, and an older result is dropped', async () => {
    await warm();
    now = 2000;
    void cache.find('h');
    cache.forget('h');
    loads[1]?.resolve(key());
    await settled();
    const found = cache.find('h');
    expect(found).toBeInstanceOf(Promise);
    loads[2]?.resolve(key(true));
    expect(await found).toEqual(key(true));
    expect(cache.find('h')).toEqual(key(true));
  });
});

describe('an unknown key', () => {
  test('is looked up at every request, because it may have been issued since', async () => {
    const first = cache.find('h');
    loads[0]?.resolve(undefined);
    expect(await first).toBeUndefined();
    const second = cache.find('h');
    loads[1]?.resolve(key());
    expect(await second).toEqual(key());
  });

  test('is looked up once for concurrent requests', async () => {
    const found = [cache.find('h'), cache.find('h'), cache.find('h')];
    expect(loads).toHaveLength(1);
    loads[0]?.resolve(key());
    expect(await Promise.all(found.map((one) => Promise.resolve(one)))).toEqual([key(), key(), key()]);
  });

  test('is looked up again after a failure', async () => {
    const first = cache.find('h');
    loads[0]?.reject(new Error('unavailable'));
    await expect(first).rejects.toThrow('unavailable');
    const second = cache.find('h');
    loads[1]?.resolve(key());
    expect(await second).toEqual(key());
  });
});

describe('a cached key opens', () => {
  const scaleKey = (endsAt: number): KnownKey => ({
    ...key(),
    endsAt,
    principal: { ...key().principal, interfaces: new Set(['scale']) },
  });

  test.each([
    ['its interface', Infinity, SCALE_API, true],
    ['its interface to the last moment before its end', 1001, SCALE_API, true],
    ['nothing from its end on', 1000, SCALE_API, false],
    ['no other interface', Infinity, ACCOUNT_API, false],
  ])('%s', (_what, endsAt, api, open) => expect(isValidFor(scaleKey(endsAt), api, 1000)).toBe(open));
});
