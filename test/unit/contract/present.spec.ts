import { expect, test } from '@jest/globals';
import { Flag, Integer, Text, Time } from '../../../src/contracts/common/fields/decorators.js';
import { nullable, optional } from '../../../src/contracts/common/fields/options.js';
import { present } from '../../../src/contracts/common/present.js';

class Base {
  @Text('Id') id!: string;
}

class Example extends Base {
  @Time('When it ended', nullable) endedAt!: string | null;
  @Text('Why', optional) reasonText?: string;
  @Integer('How many') count!: number;
  @Flag('Whether it is open') isOpen!: boolean;
}

const ROW = { id: 'a', ended_at: new Date('2026-01-31T08:30:00.5Z'), reason_text: 'late', count: '12', is_open: false };

test.each<[string, object, object]>([
  [
    'columns in snake case, times as instants, a bigint as a number',
    ROW,
    { id: 'a', endedAt: '2026-01-31T08:30:00.500Z', reasonText: 'late', count: 12, isOpen: false },
  ],
  [
    'null where the field is nullable, and nothing where it is not',
    { ...ROW, ended_at: null, reason_text: null },
    { id: 'a', endedAt: null, count: 12, isOpen: false },
  ],
  [
    'a decided value before that of the column, also one that is absent',
    { ...ROW, isOpen: true, endedAt: null, reasonText: undefined },
    { id: 'a', endedAt: null, count: 12, isOpen: true },
  ],
  [
    'nothing that the class does not name',
    { ...ROW, sealed_secret: 'x', toString: 'y' },
    { id: 'a', endedAt: '2026-01-31T08:30:00.500Z', reasonText: 'late', count: 12, isOpen: false },
  ],
])('an answer has %s', (_, row, answer) => {
  expect(present(Example, row)).toEqual(answer);
  expect(Object.keys(present(Example, row))).toEqual(Object.keys(answer));
});
