import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  contentLength,
  contentRange,
  continues,
  endsVisibly,
  isKept,
  isPlain,
  strongValidator,
} from '../../src/storage/download/answer-rules.js';
import {
  connectionFailure,
  DownloadFailed,
  type DownloadFailureKind,
  noFilm,
  statusFailure,
} from '../../src/storage/download/download-failure.js';
import { DOWNLOAD_LIMITS } from '../../src/storage/download/limits.js';
import { keepPace, type Pace } from '../../src/storage/download/pace.js';
import { NotAFilm } from '../../src/storage/storage-errors.js';
import type { Memo } from '../../src/storage/storage.js';
import { storageName } from '../../src/storage/storage-name.js';

const date = 'Tue, 02 Jan 2024 10:00:10 GMT';

test.each([
  [{ etag: '"a"' }, '"a"'],
  [{ etag: '""' }, '""'],
  [{ etag: 'W/"a"', 'last-modified': 'Tue, 02 Jan 2024 09:00:00 GMT', date }, undefined],
  [{ etag: 'bare' }, undefined],
  [{ etag: '"a" or "b"' }, undefined],
  [{ etag: '"a"b' }, undefined],
  [{ 'last-modified': 'Tue, 02 Jan 2024 10:00:09 GMT', date }, 'Tue, 02 Jan 2024 10:00:09 GMT'],
  [{ 'last-modified': date, date }, undefined],
  [{ 'last-modified': 'Tue, 02 Jan 2024 10:00:09 GMT' }, undefined],
  [{ 'last-modified': 'yesterday', date }, undefined],
  [{}, undefined],
])('the validator of %j', (headers, validator) => expect(strongValidator(headers)).toBe(validator));

test.each([
  ['bytes 0-9/10', { start: 0, end: 9, total: 10 }],
  ['bytes 5-9/*', { start: 5, end: 9, total: undefined }],
  ['Bytes 5-5/10', { start: 5, end: 5, total: 10 }],
  ['kilobytes 0-9/10', undefined],
  ['bytes 0-9/10, 20-29/30', undefined],
  ['bytes 9-5/10', undefined],
  ['bytes 5-10/10', undefined],
  ['bytes */10', undefined],
  ['items 0-9/10', undefined],
  [undefined, undefined],
])('Content-Range %s', (header, range) => expect(contentRange(header)).toEqual(range));

test.each([
  ['0', 0],
  ['60', 60],
  ['60, 60', undefined],
  ['-60', undefined],
  ['6e1', undefined],
  [undefined, undefined],
])('Content-Length %s', (header, length) => {
  expect(contentLength({ 'content-length': header })).toBe(length);
});

test.each<[Memo | undefined, boolean]>([
  [{ validator: '"a"', total: 1 }, true],
  [{ validator: '"a"' }, false],
  [{ total: 1 }, false],
  [{}, false],
  [undefined, false],
])('whether a memo of %j tells of a file that was begun: %s', (memo, kept) => expect(isKept(memo)).toBe(kept));

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

  test('by its date, whatever its ETag', () => {
    expect(continues({ ...kept, validator: date }, 40, { 'content-range': range, etag: '"b"' })).toBe(true);
  });
});

test('what ends visibly, what is plain', () => {
  expect(endsVisibly({ 'content-length': '5' })).toBe(true);
  expect(endsVisibly({ 'transfer-encoding': 'gzip, chunked' })).toBe(true);
  expect(endsVisibly({ 'transfer-encoding': 'Chunked' })).toBe(true);
  expect(endsVisibly({})).toBe(false);
  for (const [coding, plain] of [
    [undefined, true],
    ['identity', true],
    ['Identity', true],
    ['gzip', false],
    ['br', false],
  ] as const)
    expect([coding, isPlain({ 'content-encoding': coding })]).toEqual([coding, plain]);
});

test.each([
  ['ECONNREFUSED', 'takes no connection'],
  ['ENOTFOUND', 'unknown name'],
  ['ECONNRESET', 'broke the connection'],
  ['EPIPE', 'broke the connection'],
  ['EAI_AGAIN', 'could not be resolved just now'],
  ['ETIMEDOUT', 'in time'],
  ['EHOSTUNREACH', 'could not be reached.'],
  ['ENETUNREACH', 'could not be reached.'],
  ['HPE_INVALID_CONSTANT', 'broke HTTP (HPE_INVALID_CONSTANT)'],
  ['', 'failed (internals)'],
  ['CERT_HAS_EXPIRED', 'failed (CERT_HAS_EXPIRED)'],
])('%s is told in words, and is worth another try', (code, words) => {
  const failure = connectionFailure('video.example.com', Object.assign(new Error('internals'), { code }));
  expect(failure).toMatchObject({ kind: 'retryable', message: expect.stringContaining(words) });
  expect(failure.message).toMatch(/^video\.example\.com /);
});

test('what the guard refuses is told in its own words; what was judged before stays', () => {
  const refused = Object.assign(new Error('The address is private.'), { code: 'ADDRESS_REFUSED' });
  const failure = connectionFailure('video.example.com', refused);
  expect(failure).toMatchObject({ kind: 'address-refused', message: 'The address is private.', cause: refused });
  expect(connectionFailure('other.example.com', failure)).toBe(failure);
});

test.each<[number, DownloadFailureKind, boolean]>([
  ...[401, 403, 404, 410].map((status): [number, DownloadFailureKind, boolean] => [status, 'link-refused', true]),
  ...[408, 425, 429, 500, 599].map((status): [number, DownloadFailureKind, boolean] => [status, 'retryable', true]),
  ...[101, 204, 400, 402, 405, 409, 411, 424, 426, 428, 430, 499].map(
    (status): [number, DownloadFailureKind, boolean] => [status, 'bad-answer', false],
  ),
])('an answer of %i is %s, and what came before is kept: %s', (status, kind, keepsBytes) => {
  expect(statusFailure('h', status, undefined, new Date())).toMatchObject({ kind, keepsBytes });
});

test.each<[DownloadFailureKind, boolean]>([
  ['cancelled', true],
  ['address-refused', false],
  ['too-large', false],
  ['wrong-length', false],
  ['empty', false],
  ['not-a-film', false],
])('what came of a download that is %s is kept: %s', (kind, kept) => {
  expect(new DownloadFailed(kind, 'x').keepsBytes).toBe(kept);
});

test.each([
  ['text/html; charset=utf-8', 'What h sent as text/html is no MP4 film: it is "x".'],
  ['<text/html>', 'What h sent is no MP4 film: it is "x".'],
  [undefined, 'What h sent is no MP4 film: it is "x".'],
])('what is no film is told with its type, as far as %j is one', (type, message) => {
  expect(noFilm('h', type, new NotAFilm('it is "x"')).message).toBe(message);
  expect(noFilm(undefined, type, new NotAFilm('x')).message).toContain('What the host sent');
});

describe('a host that may send nothing for 1 s, and 100 bytes a second over 10 s', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());
  const pass = (ms: number) => jest.advanceTimersByTime(ms);
  const silent = 'h sent nothing for 1 seconds.';
  const slow = 'h sends too slowly.';
  /** Every half a second so many bytes, worked on for a while. */
  const send = (pace: Pace, times: number, bytes: number, workMs = 0) => {
    for (let n = 0; n < times; n++) {
      pace.wait();
      pass(500);
      pace.heard(bytes);
      pace.rest();
      pass(workMs);
    }
  };

  test.each<[string, (pace: Pace) => void, string[]]>([
    ['sends nothing for nearly a second', (pace) => (pace.wait(), pass(999)), []],
    ['sends nothing for a second', (pace) => (pace.wait(), pass(1000)), [silent]],
    ['is not waited for', (pace) => (pace.wait(), pace.rest(), pass(5000)), []],
    ['sends while it is not waited for', (pace) => (pace.wait(), pace.rest(), pace.heard(9), pass(5000)), []],
    ['is waited for again', (pace) => (pace.wait(), pace.rest(), pass(5000), pace.wait(), pass(1000)), [silent]],
    ['sends at its last moment', (pace) => (pace.wait(), pass(999), pace.heard(1), pass(999)), []],
    ['sends at its last moment, and no more', (pace) => (pace.wait(), pass(999), pace.heard(1), pass(1000)), [silent]],
    ['sends just enough', (pace) => send(pace, 20, 50), []],
    ['sends too little', (pace) => send(pace, 20, 49), [slow]],
    ['sends too little for not yet so long', (pace) => send(pace, 19, 1), []],
    ['has sent too little for long, and enough since', (pace) => (send(pace, 20, 49), send(pace, 20, 50)), [slow]],
    ['has sent much, and too little since', (pace) => (send(pace, 20, 5000), send(pace, 20, 49)), [slow]],
    ['sends enough to a slow storage', (pace) => send(pace, 40, 50, 5000), []],
  ])('%s', (_, happens, told) => {
    const failures: string[] = [];
    const limits = { ...DOWNLOAD_LIMITS, idleMs: 1000, slowestRate: 100, slowMs: 10_000 };
    const pace = keepPace('h', limits, (failure) => failures.push(failure.message));
    happens(pace);
    expect(failures).toEqual(told);
    pace.stop();
    expect(jest.getTimerCount()).toBe(0);
  });
});

test('names are spread by the end of an id, whose beginning is its time', () => {
  const id = '01990000-0000-7000-8000-0000000000AB';
  expect(storageName('recordings', id)).toBe('recordings/ab/01990000-0000-7000-8000-0000000000ab.mp4');
  expect(() => storageName('recordings', '../../x')).toThrow(TypeError);
  expect(() => storageName('../x', id)).toThrow(TypeError);
});
