import { beforeEach, describe, expect, test } from '@jest/globals';
import { createKey, hashKey } from '../../../src/auth/api-key.js';
import { isWellFormedKey } from '../../../src/core/observability/key-form.js';
import { KeyCache, type KnownKey } from '../../../src/auth/key-cache.js';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('the form of a key (decision 17)', () => {
  test('is a prefix, 32 random bytes and a checksum, in letters and digits, beginning with its shown prefix', () => {
    for (let i = 0; i < 200; i++) {
      const { key, prefix, hash } = createKey();
      expect(key).toMatch(/^hb_[0-9A-Za-z]{49}$/);
      expect(prefix).toMatch(/^hb_[0-9A-Za-z]{8}$/);
      expect(key.startsWith(prefix)).toBe(true);
      expect(isWellFormedKey(key)).toBe(true);
      expect(hash.toString('base64url')).toBe(hashKey(key));
      expect(hash.length).toBe(32);
    }
  });

  test('detects any one changed, lost, added or swapped character', () => {
    const { key } = createKey();
    for (let place = 0; place < key.length; place++) {
      for (const digit of DIGITS) {
        if (digit === key[place]) continue;
        expect(isWellFormedKey(key.slice(0, place) + digit + key.slice(place + 1))).toBe(false);
      }
      expect(isWellFormedKey(key.slice(0, place) + key.slice(place + 1))).toBe(false);
      expect(isWellFormedKey(`${key.slice(0, place)}A${key.slice(place)}`)).toBe(false);
      const [one, other] = [key[place], key[place + 1]];
      if (other !== undefined && one !== other) {
        expect(isWellFormedKey(key.slice(0, place) + other + one + key.slice(place + 2))).toBe(false);
      }
    }
  });

  test.each(['', ' ', 'hb_', `${createKey().key}\n`, ` ${createKey().key}`, createKey().key.toLowerCase()])(
    'is not %j',
    (text) => {
      expect(isWellFormedKey(text)).toBe(false);
    },
  );

  test.each([
    ['another prefix', `hb-${'0'.repeat(43)}`, '1k0Uvk'],
    ['a digit less', `hb_${'0'.repeat(42)}`, '1FLMQD'],
    ['a character that is not a digit', `hb_${'0'.repeat(42)}-`, '1ukaiR'],
  ])('does not allow %s, even with the right checksum', (_what, body, checksum) => {
    expect(isWellFormedKey(body + checksum)).toBe(false);
  });

  // Computed by another program: secret scanners compute the same checksum.
  test.each([
    [`hb_${'0'.repeat(43)}`, '0D88C2'],
    [`hb_${DIGITS.slice(-43)}`, '4OnoRY'],
    [`hb_${'z'.repeat(43)}`, '1v7r4t'],
  ])('has for %s the checksum %s', (body, checksum) => expect(isWellFormedKey(body + checksum)).toBe(true));

  test('is hashed by SHA-256 as a whole', () => {
    expect(hashKey('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0');
  });
});

const key = (dormant = false): KnownKey => ({
  hash: 'h',
  principal: {
    keyId: 'k',
    keyPrefix: 'hb_k',
    haulerId: null,
    connectionId: null,
    customerId: null,
    endsAt: Infinity,
    interfaces: new Set(),
  },
  dormant,
  lastUsedAt: 0,
});

/** Any time but 0, for which a cache of `lru-cache` has no age. */
const START = 1_000_000;

let now: number;
let loads: PromiseWithResolvers<KnownKey | undefined>[];
let cache: KeyCache;

beforeEach(() => {
  now = START;
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
    now = START + 1999;
    expect(cache.find('h')).toEqual(key());
    expect(loads).toHaveLength(1);
  });

  test('is read again after 2 s, once, without delay for the request', async () => {
    await warm();
    now = START + 2000;
    for (let i = 0; i < 5; i++) expect(cache.find('h')).toEqual(key());
    expect(loads).toHaveLength(2);
    loads[1]?.resolve(key(true));
    await settled();
    expect(cache.find('h')).toEqual(key(true));
    expect(loads).toHaveLength(2);
  });

  test('is not returned after 4 s', async () => {
    await warm();
    now = START + 4001;
    const found = cache.find('h');
    expect(found).toBeInstanceOf(Promise);
    loads[1]?.resolve(key(true));
    expect(await found).toEqual(key(true));
  });

  test('has its age from the start of the query', async () => {
    const found = cache.find('h');
    now = START + 3000;
    loads[0]?.resolve(key());
    await found;
    now = START + 4001;
    expect(cache.find('h')).toBeInstanceOf(Promise);
  });

  test('is returned until 4 s if its refresh fails; after that the request fails', async () => {
    await warm();
    now = START + 2500;
    expect(cache.find('h')).toEqual(key());
    loads[1]?.reject(new Error('unavailable'));
    await settled();
    now = START + 3999;
    expect(cache.find('h')).toEqual(key());
    loads[2]?.reject(new Error('unavailable'));
    await settled();
    now = START + 4001;
    const found = cache.find('h');
    loads[3]?.reject(new Error('unavailable'));
    await expect(found).rejects.toThrow('unavailable');
  });

  test('is not returned after a refresh has not found it', async () => {
    await warm();
    now = START + 2000;
    void cache.find('h');
    loads[1]?.resolve(undefined);
    await settled();
    expect(cache.find('h')).toBeUndefined();
  });

  test('is read again after a change on this instance, and an older result is dropped', async () => {
    await warm();
    now = START + 2000;
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
  test('is refused for a second without a query, then looked up again', async () => {
    const first = cache.find('h');
    loads[0]?.resolve(undefined);
    expect(await first).toBeUndefined();
    now += 999;
    expect(cache.find('h')).toBeUndefined();
    expect(loads).toHaveLength(1);
    now += 2;
    const second = cache.find('h');
    loads[1]?.resolve(key());
    expect(await second).toEqual(key());
  });
});
