import { describe, expect, test } from '@jest/globals';
import {
  contentRange,
  continues,
  endsVisibly,
  isPlain,
  strongValidator,
} from '../../src/storage/download/answer-rules.js';
import { connectionFailure } from '../../src/storage/download/download-failure.js';
import { storageName } from '../../src/storage/storage-name.js';

const date = 'Tue, 02 Jan 2024 10:00:10 GMT';

test.each([
  [{ etag: '"a"' }, '"a"'],
  [{ etag: '""' }, '""'],
  [{ etag: 'W/"a"', 'last-modified': 'Tue, 02 Jan 2024 09:00:00 GMT', date }, undefined],
  [{ etag: 'bare' }, undefined],
  [{ 'last-modified': 'Tue, 02 Jan 2024 10:00:09 GMT', date }, 'Tue, 02 Jan 2024 10:00:09 GMT'],
  [{ 'last-modified': date, date }, undefined],
  [{ 'last-modified': 'Tue, 02 Jan 2024 10:00:09 GMT' }, undefined],
  [{ 'last-modified': 'yesterday', date }, undefined],
  [{}, undefined],
])('the validator of %j', (headers, validator) => expect(strongValidator(headers)).toBe(validator));

test.each([
  ['bytes 0-9/10', { start: 0, end: 9, total: 10 }],
  ['bytes 5-9/*', { start: 5, end: 9, total: undefined }],
  ['bytes 9-5/10', undefined],
  ['bytes 5-10/10', undefined],
  ['bytes */10', undefined],
  ['items 0-9/10', undefined],
  [undefined, undefined],
])('Content-Range %s', (header, range) => expect(contentRange(header)).toEqual(range));

describe('an answer of 206 continues a file of 100 bytes after 40', () => {
  const kept = { validator: '"a"', total: 100 };
  const range = 'bytes 40-99/100';
  test.each([
    [{ 'content-range': range, 'content-length': '60', etag: '"a"' }, true],
    [{ 'content-range': range }, true],
    [{ 'content-range': range, etag: '"b"' }, false],
    [{ 'content-range': range, etag: 'W/"a"' }, false],
    [{ 'content-range': range, 'content-length': '59' }, false],
    [{ 'content-range': 'bytes 40-98/100' }, false],
    [{ 'content-range': 'bytes 40-99/*' }, false],
    [{ 'content-range': 'bytes 41-99/100' }, false],
    [{ 'content-range': 'bytes 40-100/101' }, false],
    [{}, false],
  ])('%j: %s', (headers, expected) => expect(continues(kept, 40, headers)).toBe(expected));
});

test('what ends visibly, what is plain', () => {
  expect(endsVisibly({ 'content-length': '5' })).toBe(true);
  expect(endsVisibly({ 'transfer-encoding': 'gzip, chunked' })).toBe(true);
  expect(endsVisibly({})).toBe(false);
  expect([undefined, 'identity', 'gzip', 'br'].map((coding) => isPlain({ 'content-encoding': coding }))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test.each([
  ['ECONNREFUSED', 'takes no connection'],
  ['ENOTFOUND', 'unknown name'],
  ['CERT_HAS_EXPIRED', 'failed (CERT_HAS_EXPIRED)'],
])('%s is told in words, and is worth another try', (code, words) => {
  const failure = connectionFailure('video.example.com', Object.assign(new Error('internals'), { code }));
  expect(failure).toMatchObject({ kind: 'retryable', message: expect.stringContaining(words) });
  expect(failure.message).toMatch(/^video\.example\.com /);
});

test('names are spread by the end of an id, whose beginning is its time', () => {
  const id = '01990000-0000-7000-8000-0000000000AB';
  expect(storageName('recordings', id)).toBe('recordings/ab/01990000-0000-7000-8000-0000000000ab.mp4');
  expect(() => storageName('recordings', '../../x')).toThrow(TypeError);
  expect(() => storageName('../x', id)).toThrow(TypeError);
});
