import { describe, expect, test } from '@jest/globals';
import { type Difference, differences } from '../../../src/scale/ticket-changes.rules.js';
import fc from '../../support/fast-check.js';

type Step = string | number;

/** The later value, made from the earlier one and the differences: the removed elements first, then the added ones. */
function apply(before: unknown, found: readonly Difference[], depth = 0): unknown {
  if (found.length === 0) return before;
  const whole = found.find(({ path }) => path.length === depth);
  if (whole !== undefined) return whole.after;
  const own = Map.groupBy(found, ({ path }) => path[depth] as Step);
  const ends = found.filter(({ path }) => path.length === depth + 1);
  const at = ({ path }: Difference) => path[depth] as number;
  if (Array.isArray(before)) {
    const removed = new Set(ends.filter(({ after }) => after === undefined).map(at));
    const list: unknown[] = before.filter((_, i) => !removed.has(i));
    for (const each of ends.filter(({ before: was }) => was === undefined)) list.splice(at(each), 0, each.after);
    return list.map((element, i) => {
      const changes = (own.get(i) ?? []).filter(
        (each) => each.path.length > depth + 1 || (each.before !== undefined && each.after !== undefined),
      );
      return changes.length === 0 ? element : apply(element, changes, depth + 1);
    });
  }
  const members = new Map(Object.entries(before as object));
  for (const [name, changes] of own) {
    const value = apply(members.get(String(name)), changes, depth + 1);
    if (value === undefined) members.delete(String(name));
    else members.set(String(name), value);
  }
  return Object.fromEntries(members);
}

const shown = (before: unknown, after: unknown) =>
  differences(before, after).map((each) => [each.path.join('/'), each.before, each.after]);
const line = (id: string, quantity: number) => ({ id, quantity });

describe('two JSON values differ', () => {
  test.each<[string, unknown, unknown, unknown[][]]>([
    ['in a number', { a: 14.9, b: 1 }, { a: 12.48, b: 1 }, [['a', 14.9, 12.48]]],
    ['not in the form of a number', JSON.parse('[14.90, 1e2, -0]'), [14.9, 100, 0], []],
    ['in null and nothing', { a: null }, {}, [['a', null, undefined]]],
    ['not in a member that is undefined', { a: undefined }, {}, []],
    [
      'in what is added and what is removed',
      { a: 1 },
      { b: { c: 2 } },
      [
        ['b', undefined, { c: 2 }],
        ['a', 1, undefined],
      ],
    ],
    ['in their kinds', { a: [1] }, { a: { 0: 1 } }, [['a', [1], { 0: 1 }]]],
    ['as a whole', 1, [1], [['', 1, [1]]]],
    [
      'in names with dots and brackets',
      { 'a.b': 1 },
      { 'a.b': 2, 'a[0]': 3 },
      [
        ['a.b', 1, 2],
        ['a[0]', undefined, 3],
      ],
    ],
    [
      'in names that every object inherits',
      JSON.parse('{"constructor":1}'),
      JSON.parse('{"__proto__":2}'),
      [
        ['__proto__', undefined, 2],
        ['constructor', 1, undefined],
      ],
    ],
    ['in a line', [line('a', 1), line('b', 2)], [line('a', 1), line('b', 3)], [['1/quantity', 2, 3]]],
    ['in a line in front of others', [1, 2, 3], [0, 1, 2, 3], [['0', undefined, 0]]],
    ['in a line between others', [1, 2, 3], [1, 3], [['1', 2, undefined]]],
    [
      'in a line that moved, because another one was removed',
      [line('a', 1), line('b', 2), line('c', 3)],
      [line('b', 5), line('c', 3)],
      [
        ['0', line('a', 1), undefined],
        ['0/quantity', 2, 5],
      ],
    ],
    ['in one of two lines with one id', [line('a', 1), line('a', 2)], [line('a', 2)], [['0', line('a', 1), undefined]]],
    ['in the id of the only line', [line('a', 1)], [line('b', 1)], [['0/id', 'a', 'b']]],
    [
      'in lines of which nobody knows which became which',
      ['a', 'b'],
      ['c'],
      [
        ['0', 'a', undefined],
        ['1', 'b', undefined],
        ['0', undefined, 'c'],
      ],
    ],
    [
      'in the order of their lines',
      ['a', 'b'],
      ['b', 'a'],
      [
        ['0', 'a', undefined],
        ['1', undefined, 'a'],
      ],
    ],
  ])('%s', (_title, before, after, found) => expect(shown(before, after)).toEqual(found));

  test('and the differences make the later one of the earlier one', () => {
    const name = fc.constantFrom('a', 'b', 'id', 'a.b', '[0]', '__proto__', 'constructor');
    const leaf = fc.oneof(
      fc.constantFrom(null, true, '', 'a', '__proto__', 0, 1.5),
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        fc.array(tie('value'), { maxLength: 6 }),
        fc
          .array(fc.tuple(name, tie('value')), { maxLength: 5 })
          .map((members) => Object.fromEntries(members) as unknown),
      ),
    }));
    const list = fc.array(fc.record({ id: fc.constantFrom('a', 'b', 'c'), quantity: fc.nat(3) }), { maxLength: 7 });
    const text = (each: unknown) =>
      JSON.stringify(each, (_, member: unknown) =>
        typeof member === 'object' && member !== null && !Array.isArray(member)
          ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
          : member,
      );
    const isMade = (before: unknown, after: unknown) => {
      const made = apply(before, differences(before, after));
      expect(text(made)).toBe(text(after));
      expect(differences(after, after)).toEqual([]);
    };
    fc.assert(fc.property(value, value, isMade), { numRuns: 1_000 });
    fc.assert(fc.property(list, list, isMade), { numRuns: 1_000 });
  });

  test('in long lists, place by place', () => {
    const before = Array.from({ length: 1_000 }, (_, i) => line(`m${i}`, i));
    const after = before.map(({ id, quantity }) => line(id, quantity + 1));
    expect(differences(before, after)).toHaveLength(1_000);
    expect(shown(before, after.toSpliced(500, 1)).length).toBeGreaterThan(999);
    expect(shown(before, before.toSpliced(500, 1))).toEqual([['500', before[500], undefined]]);
  });
});
