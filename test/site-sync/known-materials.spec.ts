import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { KnownMaterials } from '../../src/site-sync/catalog/known-materials.js';

const of = (haulerId: string, siteId: string, ...materialIds: string[]) => ({ haulerId, siteId, materialIds });
const LAYOUT = [{ haulerId: 'h', number: 3 }];

describe('KnownMaterials', () => {
  let known: KnownMaterials;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
    known = new KnownMaterials();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test('knows what was learnt, at its site and of its hauler only', () => {
    known.learn([of('h', 's', 'm', 'n')], LAYOUT);
    expect(known.layoutsOf([of('h', 's', 'm'), of('h', 's', 'n', 'm')])).toEqual(LAYOUT);
    for (const other of [of('h', 's', 'm', 'o'), of('h', 't', 'm'), of('i', 's', 'm')]) {
      expect(known.layoutsOf([other])).toBeUndefined();
      expect(known.layoutsOf([of('h', 's', 'm'), other])).toBeUndefined();
    }
  });

  test('keeps nothing of a hauler whose layout is not told', () => {
    known.learn([of('h', 's', 'm'), of('i', 't', 'n')], LAYOUT);
    expect(known.layoutsOf([of('i', 't', 'n')])).toBeUndefined();
  });

  test('names each hauler once', () => {
    known.learn([of('h', 's', 'm'), of('i', 't', 'n')], [...LAYOUT, { haulerId: 'i', number: 0 }]);
    expect(known.layoutsOf([of('h', 's', 'm'), of('i', 't', 'n'), of('h', 's', 'm')])).toEqual([
      ...LAYOUT,
      { haulerId: 'i', number: 0 },
    ]);
  });

  test('forgets all of a hauler whose layout is another, older or newer', () => {
    for (const number of [4, 2]) {
      known.learn([of('h', 's', 'm')], LAYOUT);
      known.learn([of('h', 's', 'n')], [{ haulerId: 'h', number }]);
      expect(known.layoutsOf([of('h', 's', 'm')])).toBeUndefined();
      expect(known.layoutsOf([of('h', 's', 'n')])).toEqual([{ haulerId: 'h', number }]);
    }
  });

  test('forgets what it is told to', () => {
    known.learn([of('h', 's', 'm'), of('i', 't', 'n')], [...LAYOUT, { haulerId: 'i', number: 0 }]);
    known.forget([of('h', 's', 'm'), of('nobody', 's')]);
    expect(known.layoutsOf([of('h', 's', 'm')])).toBeUndefined();
    expect(known.layoutsOf([of('i', 't', 'n')])).toEqual([{ haulerId: 'i', number: 0 }]);
  });

  test('looks again after a minute, however often it is asked or told', () => {
    known.learn([of('h', 's', 'm')], LAYOUT);
    jest.advanceTimersByTime(59_000);
    known.learn([of('h', 's', 'n')], LAYOUT);
    expect(known.layoutsOf([of('h', 's', 'm')])).toEqual(LAYOUT);
    jest.advanceTimersByTime(2000);
    expect(known.layoutsOf([of('h', 's', 'm')])).toBeUndefined();
    known.learn([of('h', 's', 'n')], LAYOUT);
    expect(known.layoutsOf([of('h', 's', 'm')])).toBeUndefined();
    expect(known.layoutsOf([of('h', 's', 'n')])).toEqual(LAYOUT);
  });

  test('never holds more than 100,000 materials', () => {
    const many = Array.from({ length: 50_000 }, (_, i) => `${i}`);
    known.learn([of('h', 's', ...many), of('h', 's', ...many), of('h', 't', ...many)], LAYOUT);
    expect(known.layoutsOf([of('h', 's', ...many)])).toEqual(LAYOUT);
    known.learn([of('i', 's', 'm')], [{ haulerId: 'i', number: 0 }]);
    expect(known.layoutsOf([of('h', 's', '1')])).toBeUndefined();
    known.learn([of('h', 's', 'm')], LAYOUT);
    expect(known.layoutsOf([of('h', 's', 'm')])).toEqual(LAYOUT);
  });

  test('does not count what was forgotten', () => {
    const many = Array.from({ length: 60_000 }, (_, i) => `${i}`);
    const learns = (number: number) => {
      known.learn([of('h', 's', ...many)], [{ haulerId: 'h', number }]);
      expect(known.layoutsOf([of('h', 's', ...many)])).toEqual([{ haulerId: 'h', number }]);
    };
    learns(3);
    known.forget([of('h', 's')]);
    learns(3);
    learns(4);
  });
});
