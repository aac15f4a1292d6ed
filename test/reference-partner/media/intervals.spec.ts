import { describe, expect, it } from '@jest/globals';
import { gapsIn, inOrder, joinPiece } from '../../../src/reference-partner/vision/media/choose-pieces.js';
import { at } from './sample-files.js';

const interval = (from: number, to: number) => ({ from, to });
const chunk = (from: number, to: number, source: string) => ({ startTime: at(from), endTime: at(to), source });

describe('gaps in a range', () => {
  it.each([
    ['covered', [interval(0, 60_000)], []],
    ['nothing covered', [], [[0, 60_000]]],
    [
      'before, between and after',
      [interval(5_000, 20_000), interval(30_000, 50_000)],
      [
        [0, 5_000],
        [20_000, 30_000],
        [50_000, 60_000],
      ],
    ],
    ['covered from before', [interval(-5_000, 59_500)], []],
    ['a second is a gap', [interval(0, 59_000)], [[59_000, 60_000]]],
    ['less than a second is none', [interval(999, 59_001)], []],
    ['covered beyond the end', [interval(0, 70_000)], []],
  ])('%s', (_, covered, gaps) => {
    expect(gapsIn(interval(0, 60_000), covered)).toEqual(gaps.map(([from = 0, to = 0]) => interval(from, to)));
  });
});

describe('chunks in order', () => {
  const range = interval(at(60).getTime(), at(120).getTime());

  it('leaves out what only touches the range, and what has no length', () => {
    const inside = chunk(119, 180, 'inside');
    const chunks = [chunk(0, 60, 'ends there'), chunk(120, 180, 'begins there'), inside, chunk(70, 70, 'empty')];
    expect(inOrder(chunks, range)).toEqual([inside]);
  });

  it('sorts by start, the longest first', () => {
    const chunks = [chunk(90, 100, 'c'), chunk(50, 70, 'b'), chunk(50, 90, 'a')];
    expect(inOrder(chunks, range).map(({ source }) => source)).toEqual(['a', 'b', 'c']);
  });
});

describe('joining a piece', () => {
  it.each([
    [
      'adjacent',
      interval(60, 120),
      [
        [0, 60],
        [60, 120],
      ],
    ],
    [
      'after a gap',
      interval(70, 120),
      [
        [0, 60],
        [70, 120],
      ],
    ],
    [
      'from a key frame before the end of the last',
      interval(55, 120),
      [
        [0, 55],
        [55, 120],
      ],
    ],
    ['from a key frame before its start', interval(-5, 120), [[-5, 120]]],
    ['from a key frame at its start', interval(0, 120), [[0, 120]]],
  ])('%s', (_, next, joined) => {
    expect(joinPiece([interval(0, 60)], next)).toEqual(joined.map(([from = 0, to = 0]) => interval(from, to)));
  });
});
