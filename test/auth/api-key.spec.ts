import { describe, expect, test } from '@jest/globals';
import { createKey, hashKey, isWellFormedKey } from '../../src/auth/api-key.js';

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

  test('has every digit in every place of the secret part but the first, whose value is bounded', () => {
    const seen = Array.from({ length: 43 }, () => new Set<string>());
    for (let i = 0; i < 3000; i++) {
      const { key } = createKey();
      seen.forEach((digits, place) => digits.add(key[3 + place] ?? ''));
    }
    for (const digits of seen.slice(1)) expect(digits.size).toBe(62);
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
