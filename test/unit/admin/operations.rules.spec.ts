import { describe, expect, test } from '@jest/globals';
import {
  clockNotices,
  lateNotices,
  replicationNotices,
  slotNotice,
} from '../../../src/admin/attention/footage-attention.rules.js';

const NOW = Date.parse('2026-11-28T12:00:00Z');

describe('the clock', () => {
  test.each([
    ['ahead of', 5_000],
    ['behind', -5_000],
  ])('of an instance is 5 s %s that of the database', (words, difference) => {
    const [found] = clockNotices(NOW - 10, NOW - difference, NOW + 10);
    expect(found).toMatchObject({ kind: 'clock', severity: 'soon' });
    expect(found?.sentence).toContain(`is 5.0 s ${words} the clock of the database`);
  });

  test.each([
    ['differs by less than two seconds', NOW - 10, NOW - 1_900, NOW + 10],
    ['may agree, because the database was slow to answer', NOW - 4_000, NOW - 3_000, NOW + 4_000],
  ])('%s', (_, before, database, after) => {
    expect(clockNotices(before, database, after)).toEqual([]);
  });
});

describe('a standby', () => {
  const standby = (fields: object) => ({
    ...{ name: 'db2', state: 'streaming', sync_state: 'async', lag_seconds: 0 },
    ...fields,
  });
  const found = (standbys: Parameters<typeof replicationNotices>[0], synchronous = '') =>
    replicationNotices(standbys, synchronous, NOW).map(({ severity, subject }) => [severity, subject]);

  test('that is away is none of the connected ones, unless commits wait for it', () => {
    expect(found([])).toEqual([]);
    expect(found([standby({})], 'db1')).toEqual([['now', 'synchronous standby']]);
    expect(found([standby({ sync_state: 'sync' })], 'db1')).toEqual([]);
    expect(found([standby({ sync_state: 'quorum' })], 'ANY 1 (*)')).toEqual([]);
  });

  test('that is a minute behind, or is not streaming, is named', () => {
    expect(found([standby({ lag_seconds: 59 })])).toEqual([]);
    expect(found([standby({ lag_seconds: 61 }), standby({ name: 'db3', state: 'catchup' })])).toEqual([
      ['soon', 'db2'],
      ['soon', 'db3'],
    ]);
  });
});

test('a replication slot that nothing reads is named with what is kept for it', () => {
  const found = slotNotice({ name: 'db2', kept_bytes: 3.2e9 }, NOW);
  expect(found).toMatchObject({ kind: 'replication', severity: 'soon', subject: 'replication slot db2' });
  expect(found.sentence).toContain('slot db2, and PostgreSQL keeps all write-ahead log since then, 3,052 MB so far');
});

test('work is late after 15 minutes, and stands still after an hour', () => {
  const severities = [900, 901, 3_601].map((seconds) => lateNotices('downloads', seconds, NOW)[0]?.severity);
  expect(severities).toEqual([undefined, 'soon', 'now']);
});
