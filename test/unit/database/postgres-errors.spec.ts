import { describe, expect, test } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import {
  asDatabaseError,
  DatabaseConnectionError,
  endsConnection,
  isDatabaseUnavailable,
  isTransient,
  isUniqueViolation,
  mayHaveCommitted,
  sqlState,
} from '../../../src/core/database/postgres-errors.js';

/** As pg throws it, and as TypeORM wraps it. */
const formsOf = (fields: object) => {
  const error = Object.assign(new Error('x'), fields);
  return [error, new QueryFailedError('SELECT 1', [], error)];
};

/** `acceptance/faults/database-away` shows what callers get. */
describe('a code of PostgreSQL', () => {
  test.each([
    ['08006', 'the connection failed', { unavailable: true, ends: true, committed: true }],
    ['25006', 'a standby takes no writes', { unavailable: true, ends: true }],
    ['25P03', 'the transaction was idle for too long', { unavailable: true, ends: true }],
    ['53200', 'the server is out of memory', { unavailable: true }],
    ['53300', 'there are too many connections', { unavailable: true }],
    ['55P03', 'a lock is not available', { unavailable: true }],
    ['57014', 'the statement timed out', { unavailable: true }],
    ['57P01', 'the server is stopped', { unavailable: true, ends: true, committed: true }],
    ['57P02', 'the server has crashed', { unavailable: true, ends: true, committed: true }],
    ['57P03', 'the server is starting', { unavailable: true, ends: true, committed: true }],
    ['26000', 'a pooler has lost the statement', { ends: true }],
    ['40001', 'a serialization failure', { transient: true }],
    ['40P01', 'a deadlock', { transient: true }],
    ['22012', 'a division by zero', {}],
    ['23505', 'a unique violation', {}],
    ['42601', 'a syntax error', {}],
  ])('%s: %s', (code, _what, expected) => {
    for (const error of formsOf({ code })) {
      expect(sqlState(error)).toBe(code);
      expect({
        unavailable: isDatabaseUnavailable(error),
        ends: endsConnection(error),
        committed: mayHaveCommitted(error),
        transient: isTransient(error),
      }).toEqual({ unavailable: false, ends: false, committed: false, transient: false, ...expected });
    }
  });
});

test.each(['ECONNRESET', 'EPIPE', 'ETIMEDOUT'])('a socket of the database that failed by %s', (code) => {
  const failure = asDatabaseError(Object.assign(new Error(`write ${code}`), { code }));
  for (const error of [failure, new QueryFailedError('SELECT 1', [], failure as Error)]) {
    expect([sqlState(error), isDatabaseUnavailable(error)]).toEqual([undefined, true]);
  }
  expect([endsConnection(failure), mayHaveCommitted(failure)]).toEqual([true, true]);
});

test.each([
  ['nothing', undefined],
  ['null', null],
  ['a text', 'ECONNREFUSED'],
  ['an error of our own', new Error('no')],
  ['a socket of a partner', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })],
])('%s does not make the database unavailable', (_what, error) => {
  expect(isDatabaseUnavailable(error)).toBe(false);
});

test('a connection that never was cannot have committed', () => {
  const error = new DatabaseConnectionError(new Error('timeout'));
  expect([isDatabaseUnavailable(error), mayHaveCommitted(error)]).toEqual([true, false]);
});

test('a unique violation is recognised by the name of its constraint', () => {
  for (const error of formsOf({ code: '23505', constraint: 'uq_things_name' })) {
    expect(isUniqueViolation(error, 'uq_things_name')).toBe(true);
    expect(isUniqueViolation(error, 'pk_things')).toBe(false);
  }
  expect(isUniqueViolation(new Error('23505'), 'pk_things')).toBe(false);
});

test.each([TypeError, RangeError, SyntaxError])('a mistake of our own stays what it is: %p', (type) => {
  const error = new type('ours');
  expect(asDatabaseError(error)).toBe(error);
});
