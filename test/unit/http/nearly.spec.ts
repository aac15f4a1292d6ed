import { expect, test } from '@jest/globals';
import { isNearly } from '../../../src/core/http/json-body.js';

test.each([
  ['truckID', 'truckId', true],
  ['quantty', 'quantity', true],
  ['quantityy', 'quantity', true],
  ['quantizy', 'quantity', true],
  ['qunatity', 'quantity', true],
  ['qty', 'quantity', false],
  ['quanty', 'quantity', false],
  ['siteId', 'sideIt', false],
])('%s is nearly %s: %s', (name, other, expected) => expect(isNearly(name, other)).toBe(expected));
