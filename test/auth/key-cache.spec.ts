import { beforeEach, describe, expect, test } from '@jest/globals';
import { KeyCache } from '../../src/auth/key-cache.js';
import { type KnownKey, opens } from '../../src/auth/known-key.js';
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

/** Lets promises that are settled run their course. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

async function warm(known = key()): Promise<void> {
  const found = cache.find('h');
  loads.at(-1)?.resolve(known);
  await found;
}

describe('a key in memory', () => {
  test('is served without asking until it is 2 s old', async () => {
    await warm();
    now = 1999;
    expect(cache.find('h')).toEqual(key());
    expect(loads).toHaveLength(1);
  });

  test('from 2 s on is read again behind the request, once', async () => {
    await warm();
    now = 2000;
    for (let i = 0; i < 5; i++) expect(cache.find('h')).toEqual(key());
    expect(loads).toHaveLength(2);
    loads[1]?.resolve(key(true));
    await settled();
    expect(cache.find('h')).toEqual(key(true));
    expect(loads).toHaveLength(2);
  });

  test('from 4 s on is not served any more', async () => {
    await warm();
    now = 4000;
    const found = cache.find('h');
    expect(found).toBeInstanceOf(Promise);
    loads[1]?.resolve(key(true));
    expect(await found).toEqual(key(true));
  });

  test('its age counts from the question, not from the answer', async () => {
    const found = cache.find('h');
    now = 3000;
    loads[0]?.resolve(key());
    await found;
    now = 4000;
    expect(cache.find('h')).toBeInstanceOf(Promise);
  });

  test('whose refresh fails is served till 4 s, then the failure is heard', async () => {
    await warm();
    now = 2500;
    expect(cache.find('h')).toEqual(key());
    loads[1]?.reject(new Error('away'));
    await settled();
    now = 3999;
    expect(cache.find('h')).toEqual(key());
    loads[2]?.reject(new Error('away'));
    await settled();
    now = 4000;
    const found = cache.find('h');
    loads[3]?.reject(new Error('away'));
    await expect(found).rejects.toThrow('away');
  });

  test('that a refresh finds gone is served no more', async () => {
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

  test('that was changed while it was being read is read once more, by all who ask after that', async () => {
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

  test('that was changed here is asked for anew, and an older answer is not kept', async () => {
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
  test('is asked for again: it may have been issued since', async () => {
    const first = cache.find('h');
    loads[0]?.resolve(undefined);
    expect(await first).toBeUndefined();
    const second = cache.find('h');
    loads[1]?.resolve(key());
    expect(await second).toEqual(key());
  });

  test('is asked for once by all who ask at once', async () => {
    const found = [cache.find('h'), cache.find('h'), cache.find('h')];
    expect(loads).toHaveLength(1);
    loads[0]?.resolve(key());
    expect(await Promise.all(found.map((one) => Promise.resolve(one)))).toEqual([key(), key(), key()]);
  });

  test('after a failure is asked for again', async () => {
    const first = cache.find('h');
    loads[0]?.reject(new Error('away'));
    await expect(first).rejects.toThrow('away');
    const second = cache.find('h');
    loads[1]?.resolve(key());
    expect(await second).toEqual(key());
  });
});

describe('a key in memory opens', () => {
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
  ])('%s', (_what, endsAt, api, open) => expect(opens(scaleKey(endsAt), api, 1000)).toBe(open));
});
