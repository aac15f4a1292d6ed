import { beforeEach, describe, expect, test } from '@jest/globals';
import type * as Uuid from '../../../src/core/database/uuid.js';

let modules = 0;
let uuidv7: typeof Uuid.uuidv7;
let timeOfUuidv7: typeof Uuid.timeOfUuidv7;
let minUuidv7Of: typeof Uuid.minUuidv7Of;
// A new module for each test: its clock never goes back.
beforeEach(async () => {
  const path = `../../../src/core/database/uuid.js?${modules++}`;
  ({ uuidv7, timeOfUuidv7, minUuidv7Of } = (await import(path)) as typeof Uuid);
});

const timeOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

describe('uuidv7', () => {
  test('has the form, version and variant of RFC 9562, and the current time', () => {
    const before = Date.now();
    const id = uuidv7();
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(timeOf(id)).toBeGreaterThanOrEqual(before);
    expect(timeOf(id)).toBeLessThanOrEqual(Date.now() + 1);
  });

  test('increases with every call, within a millisecond too', () => {
    const now = Date.now() + 1000;
    const ids = Array.from({ length: 20_000 }, () => uuidv7(now));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual([...ids].sort());
  });

  test('increases also if the clock goes back', () => {
    const now = Date.now() + 10_000;
    const ids = [uuidv7(now), uuidv7(now - 5000), uuidv7(now - 9000), uuidv7(now + 1)];
    expect(ids).toEqual([...ids].sort());
  });

  test('has the time of the clock again once a clock that was an hour ahead is put right', () => {
    const now = Date.now();
    uuidv7(now + 3_600_000);
    const ids = [uuidv7(now), uuidv7(now)];
    expect(ids.map(timeOf)).toEqual([now, now]);
    expect(ids).toEqual([...ids].sort());
  });

  test('has random bits of every value', () => {
    const seen = new Set<string>();
    for (let i = 0; i < 5000; i++) for (const digit of uuidv7().slice(24)) seen.add(digit);
    expect(seen.size).toBe(16);
  });
});

test('contains the time, which can be read', () => {
  const now = Date.now() + 20_000;
  expect(timeOfUuidv7(uuidv7(now))).toBe(now);
  expect(timeOfUuidv7('0fedcba9-8765-7fff-bfff-ffffffffffff')).toBe(0x0fed_cba9_8765);
});

test.each([
  [-1, '00000000-0000-7000-8000-000000000000'],
  [1, '00000000-0001-7000-8000-000000000000'],
  [0x0fed_cba9_8765, '0fedcba9-8765-7000-8000-000000000000'],
  [2 ** 48, 'ffffffff-ffff-7000-8000-000000000000'],
])('the lowest UUID of the millisecond %d is %s', (milliseconds, id) => {
  expect(minUuidv7Of(milliseconds)).toBe(id);
});
