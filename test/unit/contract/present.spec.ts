import { expect, test } from '@jest/globals';
import {
  BooleanField,
  InstantField,
  IntegerField,
  TextField,
} from '../../../src/contracts/common/fields/scalar-fields.js';
import { present } from '../../../src/contracts/common/present.js';

class Base {
  @TextField({ description: 'Id', max: 36 })
  id!: string;
}

class Example extends Base {
  @InstantField({ description: 'When it ended', nullable: true })
  endedAt!: string | null;

  @TextField({ description: 'Why', max: 100, optional: true })
  reasonText?: string;

  @IntegerField({ description: 'How many', min: 0, max: Number.MAX_SAFE_INTEGER })
  count!: number;

  @BooleanField({ description: 'Whether it is open' })
  isOpen!: boolean;
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
