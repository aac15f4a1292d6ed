import { describe, expect, test } from '@jest/globals';
import { type Sender, Turns } from '../../../src/core/database/batcher.js';

interface Item {
  readonly name: string;
  readonly bytes: number;
  readonly sender: Sender;
}

const item = (name: string, sender: Sender, bytes = 1): Item => ({ name, bytes, sender });
const of = (hauler: string, key = 'key'): Sender => [hauler, key];

function queue(maxItems = 100, maxBytes = 1_000_000) {
  const turns = new Turns<Item>(maxItems, maxBytes);
  const push = (name: string, sender: Sender, bytes?: number) =>
    turns.push(item(name, sender, bytes)).map((refused) => refused.name);
  const take = (maxItems: number, maxBytes = Infinity) =>
    turns.take(maxItems, ({ bytes }) => bytes <= maxBytes).map(({ name }) => name);
  const takeAll = () => take(Infinity);
  return { turns, push, take, takeAll };
}

describe('turns', () => {
  test('give each hauler one item, small or large, and then the next one', () => {
    const { push, takeAll } = queue();
    for (const name of ['a1', 'a2', 'a3']) push(name, of('a'), 100_000);
    push('b1', of('b'));
    push('c1', of('c'));
    push('c2', of('c'));
    expect(takeAll()).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  });

  test('are shared by the keys of a hauler', () => {
    const { push, takeAll } = queue();
    for (const name of ['a1', 'a2']) push(name, of('a', 'loud'));
    push('quiet', of('a', 'quiet'));
    for (const name of ['b1', 'b2', 'b3']) push(name, of('b'));
    expect(takeAll()).toEqual(['a1', 'b1', 'quiet', 'b2', 'a2', 'b3']);
  });

  test('come last for a hauler that waits anew', () => {
    const { push, take, takeAll } = queue();
    push('a1', of('a'));
    push('b1', of('b'));
    push('b2', of('b'));
    expect(take(1)).toEqual(['a1']);
    push('a2', of('a'));
    expect(takeAll()).toEqual(['b1', 'a2', 'b2']);
  });

  test('are kept by an item that does not fit, while smaller ones of other haulers and keys go on', () => {
    const { push, take, takeAll } = queue();
    push('a1', of('a', 'large'), 100);
    push('a2', of('a', 'small'));
    push('b1', of('b'), 100);
    push('c1', of('c'));
    push('c2', of('c'));
    expect(take(10, 50)).toEqual(['a2', 'c1', 'c2']);
    expect(takeAll()).toEqual(['b1', 'a1']);
  });
});

describe('beyond the limits, the queue', () => {
  test('refuses the newest item of the hauler with the most', () => {
    const { push, takeAll } = queue(3);
    for (const name of ['a1', 'a2']) push(name, of('a'));
    expect(push('b1', of('b'))).toEqual([]);
    expect(push('c1', of('c'))).toEqual(['a2']);
    expect(takeAll()).toEqual(['a1', 'b1', 'c1']);
  });

  test('refuses the heaviest key of the heaviest hauler', () => {
    const { push } = queue(4);
    push('a1', of('a', 'quiet'));
    push('a2', of('a', 'loud'));
    push('a3', of('a', 'loud'));
    push('b1', of('b'));
    expect(push('c1', of('c'))).toEqual(['a3']);
  });

  test('refuses as many as the bytes of the new item need', () => {
    const { turns, push } = queue(100, 100_000);
    for (const name of ['a1', 'a2', 'a3', 'a4']) push(name, of('a'), 25_000);
    expect(push('b1', of('b'), 50_000)).toEqual(['a4', 'a3']);
    expect([turns.size, turns.bytes]).toEqual([3, 100_000]);
  });
});
