import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  connectionError,
  DownloadError,
  type DownloadErrorKind,
  invalidMp4,
  statusError,
} from '../../../src/vision/downloads/download-error.js';
import { InvalidMp4Error } from '../../../src/vision/downloads/mp4-box-validator.js';
import {
  contentLength,
  contentRange,
  continuesFile,
  hasVisibleEnd,
  isUnencoded,
  strongValidator,
  TransferWatchdog,
} from '../../../src/vision/downloads/link-request.js';

const date = 'Tue, 02 Jan 2024 10:00:10 GMT';

test.each([
  [{ etag: '"a"' }, '"a"'],
  [{ etag: 'W/"a"', 'last-modified': 'Tue, 02 Jan 2024 09:00:00 GMT', date }, undefined],
  [{ etag: 'bare' }, undefined],
  [{ etag: '"a" or "b"' }, undefined],
  [{ 'last-modified': 'Tue, 02 Jan 2024 10:00:09 GMT', date }, 'Tue, 02 Jan 2024 10:00:09 GMT'],
  [{ 'last-modified': date, date }, undefined],
  [{ 'last-modified': 'Tue, 02 Jan 2024 10:00:09 GMT' }, undefined],
  [{ 'last-modified': 'yesterday', date }, undefined],
  [{}, undefined],
])('the validator of %j is %s', (headers, validator) => expect(strongValidator(headers)).toBe(validator));

test.each([
  ['bytes 0-9/10', { start: 0, end: 9, total: 10 }],
  ['bytes 5-9/*', { start: 5, end: 9, total: undefined }],
  ['Bytes 5-5/10', { start: 5, end: 5, total: 10 }],
  ['bytes 0-9/10, 20-29/30', undefined],
  ['bytes 9-5/10', undefined],
  ['bytes 5-10/10', undefined],
  ['bytes */10', undefined],
  ['items 0-9/10', undefined],
  [undefined, undefined],
])('Content-Range %s is read as %j', (header, range) => expect(contentRange(header)).toEqual(range));

test.each([
  ['0', 0],
  ['60', 60],
  ['60, 60', undefined],
  ['-60', undefined],
  ['6e1', undefined],
  [undefined, undefined],
])('Content-Length %s is read as %s', (header, length) => {
  expect(contentLength({ 'content-length': header })).toBe(length);
});

describe('whether a 206 continues a file of 100 bytes after 40', () => {
  const file = { validator: '"a"', total: 100 };
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
  ])('%j: %s', (headers, expected) => expect(continuesFile(file, 40, headers)).toBe(expected));

  test('an ETag does not matter if the file is identified by its date', () => {
    expect(continuesFile({ ...file, validator: date }, 40, { 'content-range': range, etag: '"b"' })).toBe(true);
  });
});

test.each([
  [{ 'content-length': '5' }, true],
  [{ 'transfer-encoding': 'gzip, chunked' }, true],
  [{ 'transfer-encoding': 'Chunked' }, true],
  [{}, false],
])('the end of a body with %j is visible: %s', (headers, visible) => expect(hasVisibleEnd(headers)).toBe(visible));

test.each([
  [undefined, true],
  ['Identity', true],
  ['gzip', false],
  ['br', false],
])('Content-Encoding %s is the file itself: %s', (encoding, unencoded) => {
  expect(isUnencoded({ 'content-encoding': encoding })).toBe(unencoded);
});

test.each([
  ['ECONNREFUSED', 'refused the connection'],
  ['ENOTFOUND', 'has an unknown name'],
  ['ECONNRESET', 'broke the connection'],
  ['EAI_AGAIN', 'could not be resolved'],
  ['ETIMEDOUT', 'in time'],
  ['ENETUNREACH', 'could not be reached.'],
  ['HPE_INVALID_CONSTANT', 'sent invalid HTTP (HPE_INVALID_CONSTANT)'],
  ['', 'failed (internals)'],
  ['CERT_HAS_EXPIRED', 'failed (CERT_HAS_EXPIRED)'],
])('the error %s is described in words and can be retried', (code, words) => {
  const failure = connectionError('video.example.com', Object.assign(new Error('internals'), { code }));
  expect(failure).toMatchObject({ kind: 'retryable', message: expect.stringContaining(words) });
  expect(failure.message).toMatch(/^video\.example\.com /);
});

test('a refused address keeps the message of the guard, and a DownloadError stays unchanged', () => {
  const refused = Object.assign(new Error('The address is private.'), { code: 'ADDRESS_REFUSED' });
  const failure = connectionError('video.example.com', refused);
  expect(failure).toMatchObject({ kind: 'address-refused', message: 'The address is private.', cause: refused });
  expect(connectionError('other.example.com', failure)).toBe(failure);
});

test.each<[number[], DownloadErrorKind, boolean]>([
  [[401, 403, 404, 410], 'link-refused', true],
  [[408, 425, 429, 500, 599], 'retryable', true],
  [[101, 204, 400, 402, 405, 409, 411, 424, 426, 428, 430, 499], 'bad-answer', false],
])('the statuses %j are %s, and earlier bytes are kept: %s', (statuses, kind, keepsBytes) => {
  for (const status of statuses)
    expect(statusError('h', status, undefined, new Date())).toMatchObject({ kind, keepsBytes });
});

test.each<[DownloadErrorKind, boolean]>([
  ['cancelled', true],
  ['address-refused', false],
  ['too-large', false],
  ['wrong-length', false],
  ['empty', false],
  ['invalid-mp4', false],
])('bytes of a download that ends as %s are kept: %s', (kind, kept) => {
  expect(new DownloadError(kind, 'x').keepsBytes).toBe(kept);
});

test.each([
  ['text/html; charset=utf-8', 'The file of h, sent as text/html, is not a valid MP4: it is "x".'],
  ['<text/html>', 'The file of h is not a valid MP4: it is "x".'],
  [undefined, 'The file of h is not a valid MP4: it is "x".'],
])('the message about an invalid MP4 names the content type %s as far as it is one', (type, message) => {
  expect(invalidMp4('h', type, new InvalidMp4Error('it is "x"')).message).toBe(message);
});

describe('a host that may send nothing for 1 s, and at least 100 bytes per second over 10 s', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());
  const idle = 'h sent nothing for 1 seconds.';
  const slow = 'h sends too slowly.';
  const tick = (ms = 100) => jest.advanceTimersByTime(ms);

  const repeat = (times: number, work: () => void): void => {
    for (let n = 0; n < times; n++) work();
  };

  test.each<[string, (send: (bytes: number) => void, watchdog: TransferWatchdog) => void, string[]]>([
    ['sends nothing for 0.9 s', () => tick(900), []],
    ['sends nothing for 1 s', () => tick(1_000), [idle]],
    ['sends a byte in time', (send) => (tick(900), send(1), tick(900)), []],
    ['sends a byte in time, and then nothing', (send) => (tick(900), send(1), tick(1_200)), [idle]],
    ['waits for the storage', (_, watchdog) => (watchdog.received(1), tick(5_000)), []],
    ['stops after that', (send, watchdog) => (watchdog.received(1), tick(5_000), send(0), tick(1_000)), [idle]],
    ['sends just enough', (send) => repeat(100, () => (send(10), tick())), []],
    ['sends too little', (send) => repeat(100, () => (send(9), tick())), [slow]],
    ['sends too little for less than 10 s', (send) => repeat(99, () => (send(1), tick())), []],
    [
      'sent much, and now sends too little',
      (send) => [500, 9].forEach((bytes) => repeat(100, () => (send(bytes), tick()))),
      [slow],
    ],
  ])('that %s', (_, happens, expected) => {
    const messages: string[] = [];
    const limits = { idleMs: 1_000, minBytesPerSecond: 100, slowMs: 10_000 };
    const watchdog = new TransferWatchdog('h', limits, ({ message }) => messages.push(message));
    const send = (bytes: number): void => {
      watchdog.received(bytes);
      watchdog.waitForHost();
    };
    happens(send, watchdog);
    expect(messages).toEqual(expected);
    watchdog.stop();
    expect(jest.getTimerCount()).toBe(0);
  });
});
