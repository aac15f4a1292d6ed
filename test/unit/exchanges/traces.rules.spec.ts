import { describe, expect, test } from '@jest/globals';
import { parseTraceparent } from '../../../src/core/outbound/trace-context.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const TRACEPARENT = `00-${TRACE}-${PARENT}-01`;

describe('traceparent', () => {
  test.each([
    [TRACEPARENT, { traceId: TRACE, parentId: PARENT, isSampled: true }],
    [`00-${TRACE}-${PARENT}-00`, { traceId: TRACE, parentId: PARENT, isSampled: false }],
    [`cc-${TRACE}-${PARENT}-01-what-follows`, { traceId: TRACE, parentId: PARENT, isSampled: true }],
    [`ff-${TRACE}-${PARENT}-01`, undefined],
    [`00-${TRACE}-${PARENT}-01-more`, undefined],
    [`cc-${TRACE}-${PARENT}-01.more`, undefined],
    [`00-${'0'.repeat(32)}-${PARENT}-01`, undefined],
    [`00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
    [TRACEPARENT.toUpperCase(), undefined],
    [`${TRACEPARENT}, ${TRACEPARENT}`, undefined],
    ['', undefined],
  ])('%s', (header, expected) => expect(parseTraceparent(header)).toEqual(expected));
});
