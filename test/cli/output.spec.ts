import { describe, expect, test } from '@jest/globals';
import { render } from '../../src/cli/output.js';

describe('a field of a result that is an object', () => {
  test.each<[string, object, string]>([
    [
      'the counts of a run in words',
      { sites: { received: 2, stale: 0 }, kiosks: { received: 0 } },
      'sites: received 2; kiosks: none',
    ],
    ['other objects as JSON', { note: 'Export was empty' }, '{"note":"Export was empty"}'],
    ['members that are null as JSON', { customerId: null }, '{"customerId":null}'],
  ])('prints %s', (_, changes, expected) => {
    expect(render({ changes }, false)).toBe(`changes  ${expected}\n`);
  });
});
