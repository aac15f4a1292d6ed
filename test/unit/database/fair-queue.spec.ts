import { describe, expect, test } from '@jest/globals';
import { FairQueue, type Lane } from '../../../src/database/fair-queue.js';

interface Item {
  readonly name: string;
  readonly bytes: number;
}

const MIB = 1024 * 1024;
const item = (name: string, bytes = 700): Item => ({ name, bytes });

function queueOf(maxItems = 1_000, maxBytes = 1_000 * MIB) {
  const queue = new FairQueue<Item>(maxItems, maxBytes);
  const push = (lane: Lane, ...items: Item[]) => items.flatMap((one) => queue.push(one, lane).map(({ name }) => name));
  const names = () => Array.from({ length: queue.size }, () => queue.shift()?.name);
  return { queue, push, names };
}

describe('FairQueue', () => {
  test('keeps the order of a lane, and takes turns between haulers and between the keys of a hauler', () => {
    const { push, names } = queueOf();
    push(['A', '1'], ...['a1', 'a2', 'a3', 'a4'].map((name) => item(name)));
    push(['A', '2'], item('b1'), item('b2'));
    push(['B', '1'], item('c1'), item('c2'));
    const order = names();
    expect(order.slice(0, 4).filter((name) => name?.startsWith('c'))).toEqual(['c1', 'c2']);
    expect(order.filter((name) => !name?.startsWith('c'))).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'a4']);
  });

  test('lets a small item of a quiet lane pass the large items of many loud ones', () => {
    const { queue, push, names } = queueOf();
    for (let i = 0; i < 100; i++) push([`loud ${i}`, ''], item('large', MIB), item('large', MIB));
    for (let i = 0; i < 50; i++) queue.shift();
    push(['quiet', ''], item('small'));
    expect(names().indexOf('small')).toBeLessThan(3);
  });

  test('shares bytes, not items', () => {
    const { push, names } = queueOf();
    push(['large', ''], ...Array.from({ length: 4 }, () => item('large', MIB / 8)));
    push(['small', ''], ...Array.from({ length: 64 }, () => item('small', 0)));
    expect(
      names()
        .slice(0, 40)
        .filter((name) => name === 'large'),
    ).toHaveLength(2);
  });

  test('evicts the newest item of the lane with the most, not the item of a quiet one', () => {
    const { queue, push } = queueOf(4);
    expect(push(['loud', 'x'], item('x1'), item('x2'), item('x3'))).toEqual([]);
    expect(push(['loud', 'y'], item('y1'))).toEqual([]);
    expect([queue.hasRoom(700, ['loud', 'x']), queue.hasRoom(700, ['quiet', ''])]).toEqual([false, true]);
    expect(push(['loud', 'x'], item('x4'))).toEqual(['x4']);
    expect(push(['quiet', ''], item('q1'))).toEqual(['x3']);
    expect(push(['loud', 'y'], item('y2'))).toEqual(['y2']);
    expect([queue.size, queue.bytes]).toEqual([4, 2800]);
  });

  test('evicts by bytes as well, and refuses an item that never fits', () => {
    const { queue, push } = queueOf(100, 10 * MIB);
    expect(push(['loud', ''], ...Array.from({ length: 10 }, (_, i) => item(`l${i}`, MIB)))).toEqual([]);
    expect(push(['quiet', ''], item('q', MIB))).toEqual(['l9']);
    expect(push(['other', ''], item('o', 11 * MIB))).toEqual(['o']);
    expect(queue.bytes).toBe(10 * MIB);
  });
});
