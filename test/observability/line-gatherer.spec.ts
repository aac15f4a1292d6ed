import { beforeEach, describe, expect, test } from '@jest/globals';
import { LineGatherer } from '../../src/observability/line-gatherer.js';

let pieces: string[];
let synced: number;
let gatherer: LineGatherer;
beforeEach(() => {
  pieces = [];
  synced = 0;
  gatherer = new LineGatherer({ write: (text) => pieces.push(text), flushSync: () => synced++ }, 10);
});

describe('lines are handed over', () => {
  test('together, when the next one has no room in the piece', () => {
    for (const line of ['aaaa\n', 'bbbb\n', 'c\n']) gatherer.write(line);
    expect(pieces).toEqual(['aaaa\nbbbb\n']);
    for (const line of ['d\n', 'eeeee\n']) gatherer.write(line);
    expect(pieces).toEqual(['aaaa\nbbbb\n']);
    gatherer.handOver();
    expect(pieces).toEqual(['aaaa\nbbbb\n', 'c\nd\neeeee\n']);
  });

  test('by their bytes, not by their characters', () => {
    gatherer.write('€€\n');
    gatherer.write('€\n');
    expect(pieces).toEqual(['€€\n']);
  });

  test('alone where one is longer than a piece, in their order', () => {
    for (const line of ['a\n', 'x'.repeat(30), 'b\n']) gatherer.write(line);
    gatherer.handOver();
    expect(pieces).toEqual(['a\n', 'x'.repeat(30), 'b\n']);
  });

  test('at once, and written, when the process must not go on without', () => {
    gatherer.write('fatal\n');
    gatherer.flushSync();
    expect([pieces, synced]).toEqual([['fatal\n'], 1]);
  });

  test('never as an empty piece', () => {
    gatherer.handOver();
    expect(pieces).toEqual([]);
  });
});
