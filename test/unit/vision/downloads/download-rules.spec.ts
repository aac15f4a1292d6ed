import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { redactText } from '../../../../src/core/observability/redaction.js';
import { AddressRefusedError } from '../../../../src/core/outbound/address-guard.js';
import {
  connectionError,
  type DownloadErrorKind,
  statusError,
} from '../../../../src/vision/downloads/download-error.js';
import { type FetchState, nextStep, type NextStep } from '../../../../src/vision/downloads/download.rules.js';
import {
  contentLength,
  contentRange,
  continuesFile,
  hasVisibleEnd,
  isUncompressed,
  strongValidator,
} from '../../../../src/core/media/file-headers.js';
import { TransferWatch } from '../../../../src/vision/downloads/transfer-watch.js';
import { Mp4BoxValidator } from '../../../../src/core/media/mp4-box-validator.js';
import { fetchBy } from '../../../../src/vision/recordings/recording.rules.js';
import { box, FTYP, MOOV, sampleVideo } from '../../../support/sample-video.js';

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
  ['aws-chunked', true],
  ['utf-8', true],
  ['base64, binary', true],
  ['aws-chunked, gzip', false],
])('Content-Encoding %s is the file itself: %s', (encoding, unencoded) => {
  expect(isUncompressed({ 'content-encoding': encoding })).toBe(unencoded);
});

test('a refused address keeps the message of the guard, and a DownloadError stays unchanged', () => {
  const refused = new AddressRefusedError('The address is private.');
  const failure = connectionError('video.example.com', refused, false);
  expect(failure).toMatchObject({ kind: 'address-refused', message: 'The address is private.', cause: refused });
  expect(connectionError('other.example.com', failure, false)).toBe(failure);
});

test.each<[number[], DownloadErrorKind, boolean]>([
  [[400, 401, 403, 404, 410], 'link-refused', true],
  [[202, 408, 409, 423, 425, 429, 500, 599], 'retryable', true],
  [[101, 204, 402, 405, 411, 424, 426, 428, 430, 499], 'bad-answer', false],
])('the statuses %j are %s, and earlier bytes are kept: %s', (statuses, kind, keepsBytes) => {
  for (const status of statuses)
    expect(statusError('h', status, undefined, new Date())).toMatchObject({ kind, keepsBytes });
});

describe('a host that may send nothing for 15 s at first, then for 1 s, and at least 100 bytes per second over 10 s', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());
  const late = 'h sent no byte of the file for 15 seconds.';
  const idle = 'h sent nothing for 1 seconds.';
  const slow = 'h sends too slowly.';
  const tick = (ms = 100) => jest.advanceTimersByTime(ms);

  const repeat = (times: number, work: () => void): void => {
    for (let n = 0; n < times; n++) work();
  };

  test.each<[string, (send: (bytes: number) => void, watchdog: TransferWatch) => void, string[]]>([
    ['sends no byte for 14.9 s', () => tick(14_900), []],
    ['sends no byte for 15 s', () => tick(15_000), [late]],
    ['sends the first byte after 14 s', (send) => (tick(14_000), send(1_000), tick(900)), []],
    ['sends a byte in time', (send) => (send(1), tick(900), send(1), tick(900)), []],
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
    const limits = { firstByteMs: 15_000, idleMs: 1_000, minBytesPerSecond: 100, slowMs: 10_000 };
    const onExpired = ({ message }: Error) => void messages.push(message);
    const watchdog = new TransferWatch('h', limits, { onStalled: () => undefined, onExpired });
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

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test('a link without an expiry is treated as if it lived an hour (decision 47)', () => {
  const now = Date.parse('2026-01-31T08:00:00Z');
  expect(fetchBy('2026-01-31T08:59:59.999999Z', now)).toEqual(new Date('2026-01-31T08:59:59.999Z'));
  expect(fetchBy(undefined, now)).toEqual(new Date('2026-01-31T09:00:00Z'));
});

describe('the next step after a failed try (decision 47)', () => {
  const DAY = 24 * HOUR;
  const state: FetchState = { relinks: 0, attempt: 1, listedAt: 0, expiresAt: 9 * HOUR, givesUpAt: 7 * DAY };
  const fails = (
    kind: DownloadErrorKind,
    more: Partial<FetchState> = {},
    { madeNoProgress = false, now = HOUR }: { madeNoProgress?: boolean; now?: number } = {},
  ) => nextStep({ ...state, ...more }, { kind, retryAt: undefined, madeNoProgress }, now);
  const relink = (afterMs: number): NextStep => ({ step: 'relink', afterMs });
  const retry = (afterMs: number): NextStep => ({ step: 'retry', afterMs });

  test.each<[DownloadErrorKind, boolean]>([
    ['link-refused', false],
    ['bad-answer', false],
    ['wrong-length', false],
    ['empty', false],
    ['invalid-mp4', false],
    ['retryable', true],
  ])(
    'after %s (without progress: %s) the partner lists the recording again, after growing delays',
    (kind, madeNoProgress) => {
      const steps = [0, 1, 2, 5, 10, 11, 900].map((relinks) => fails(kind, { relinks }, { madeNoProgress }));
      expect(steps).toEqual([0, 1_000, 2_000, 16_000, 512_000, 15 * MINUTE, 15 * MINUTE].map(relink));
    },
  );

  test('an unavailable host is retried after growing delays', () => {
    const steps = [1, 2, 3, 7, 10, 11, 90].map((attempt) => fails('retryable', { attempt }));
    expect(steps).toEqual([1_000, 2_000, 4_000, 64_000, 512_000, 15 * MINUTE, 15 * MINUTE].map(retry));
  });

  test.each<[string, number | undefined, number, NextStep]>([
    ['while its link lives', 9 * HOUR, 9 * HOUR - 1_000, retry(1_000)],
    ['for another link once its link has expired', 9 * HOUR, 9 * HOUR, relink(0)],
    ['for a day if its link has no expiry', undefined, DAY, retry(1_000)],
    ['for another link after a day without an expiry', undefined, DAY + 1, relink(0)],
  ])('an unavailable host is asked %s', (_, expiresAt, now, step) => {
    expect(fails('retryable', { expiresAt }, { now })).toEqual(step);
  });

  test.each<[string, number | undefined, number]>([
    ['not beyond the expiry of the link', 9 * HOUR, 8 * HOUR],
    ['no longer than a day if the link lives longer', 90 * HOUR, DAY],
  ])('a Retry-After of 30 hours is respected, but %s', (_, expiresAt, afterMs) => {
    const failure = { kind: 'retryable', retryAt: new Date(31 * HOUR), madeNoProgress: false } as const;
    expect(nextStep({ ...state, expiresAt }, failure, HOUR)).toEqual(retry(afterMs));
  });

  test('no wait is longer than the time that is left', () => {
    const now = 7 * DAY - 10_000;
    expect(fails('link-refused', { relinks: 20, expiresAt: 9 * DAY }, { now })).toEqual(relink(10_000));
    expect(fails('retryable', { attempt: 20, expiresAt: 9 * DAY }, { now })).toEqual(retry(10_000));
  });

  test.each<[DownloadErrorKind, 'failed' | 'expired']>([
    ['link-refused', 'expired'],
    ['retryable', 'failed'],
    ['invalid-mp4', 'failed'],
    ['bad-answer', 'failed'],
  ])('%s at the deadline ends the download as %s', (kind, status) => {
    expect(fails(kind, {}, { now: 7 * DAY })).toEqual({ step: 'end', status });
  });

  test.each(['address-refused', 'too-large'] as const)('%s ends the download at once', (kind) => {
    expect(fails(kind)).toEqual({ step: 'end', status: 'failed' });
  });
});

/** The number of trailing bytes, or the message of the error. */
function validate(body: Buffer, step = body.length): number | string {
  const validator = new Mp4BoxValidator(redactText);
  try {
    for (let at = 0; at < body.length; at += step) validator.update(body.subarray(at, at + step));
    return validator.end();
  } catch (error) {
    return (error as Error).message;
  }
}

/** A box whose size is in eight bytes. */
function longBox(type: string, content: Buffer, size = 16 + content.length): Buffer {
  const header = Buffer.from(`\0\0\0\x01${type}\0\0\0\0\0\0\0\0`, 'latin1');
  header.writeBigUInt64BE(BigInt(size), 8);
  return Buffer.concat([header, content]);
}

const toTheEnd = (type: string, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`\0\0\0\0${type}`, 'latin1'), content]);

const rest = Buffer.alloc(300, 'x');
const fragment = Buffer.concat([box('moof', rest), box('mdat', rest)]);
const whole = Buffer.concat([FTYP, MOOV, box('mdat', rest)]);

describe('a valid MP4', () => {
  test.each<[string, Buffer[]]>([
    ['of the usual boxes', [sampleVideo(400)]],
    ['with its moov box at the end', [FTYP, box('free'), box('mdat', rest), MOOV]],
    ['with a size of 64 bits', [FTYP, MOOV, longBox('mdat', rest)]],
    ['with an empty box that has a size of 64 bits', [FTYP, longBox('free', Buffer.alloc(0)), MOOV, box('mdat')]],
    ['with the shortest ftyp box', [box('ftyp', Buffer.from('isom\0\0\0\0', 'latin1')), MOOV, box('mdat')]],
    ['whose last box continues to the end', [FTYP, MOOV, toTheEnd('mdat', rest)]],
    ...['free', 'skip', 'wide'].map((type): [string, Buffer[]] => [
      `with ${type} first`,
      [box(type), FTYP, MOOV, box('mdat')],
    ]),
    ['with mdat first', [box('mdat', rest), MOOV]],
    ['with uuid first', [box('uuid', rest), FTYP, MOOV, box('mdat')]],
    ['with styp and sidx first', [box('styp', rest), box('sidx', rest), MOOV, fragment]],
    ['with moov first and without ftyp', [MOOV, box('mdat', rest)]],
    ['in fragments', [FTYP, MOOV, box('sidx', rest), fragment, fragment, box('mfra', rest)]],
    ['with a box type that has a ©', [FTYP, MOOV, box('mdat'), box('\xa9nam', rest)]],
  ])('%s is accepted', (_, boxes) => {
    const body = Buffer.concat(boxes);
    for (const step of [1, 3, 7, 8, 9, 100, body.length]) expect(validate(body, step)).toBe(0);
  });

  const folders = ['../../../../src/demo/recordings', '../../../fixtures/videos'].map((path) =>
    join(import.meta.dirname, path),
  );
  const files = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.mp4'))
      .map((name) => join(folder, name)),
  );
  test('of a camera or an encoder is accepted', () => {
    expect(files.length).toBeGreaterThan(10);
    for (const path of files) expect([path, validate(readFileSync(path), 65_521)]).toEqual([path, 0]);
  });
});

test.each<[string, Buffer]>([
  ['a byte', Buffer.from('x')],
  ['zeros', Buffer.alloc(64)],
  ['text', Buffer.from('<!-- served by x -->')],
  ['the beginning of a page', Buffer.from('<html><body>')],
  ['a box of an impossible size', Buffer.from('\0\0\0\x07mdat', 'latin1')],
])('%s after the last box of a whole file is counted as trailing bytes', (_, trailing) => {
  const body = Buffer.concat([whole, trailing]);
  for (const step of [1, 5, body.length]) expect(validate(body, step)).toBe(trailing.length);
});

describe('an invalid MP4', () => {
  test.each<[string, Buffer[], string]>([
    ['of a few bytes', [Buffer.from('abc')], 'it is "abc"'],
    [
      'that is a page',
      [Buffer.from('<!DOCTYPE html><title>Sign in</title>')],
      'it begins with "<!DOCTYPE html><title>Sign in</title>"',
    ],
    ['that is an AVI', [Buffer.from('RIFF\x10\0\0\0AVI LIST', 'latin1')], 'it begins with "RIFF....AVI LIST" instead'],
    ['with a signed link', [Buffer.from('{"url":"https://a.example/f?sig=secret"}')], 'https://a.example/f?[redact'],
    ['with an empty ftyp box', [box('ftyp'), MOOV], 'instead of an ftyp box'],
    ['with a short ftyp box', [box('ftyp', Buffer.from('isom\0\0\0', 'latin1')), MOOV], 'instead of an ftyp box'],
    ['without a moov box', [FTYP, box('mdat', rest)], 'it has no moov box'],
    ['of a table of contents only', [FTYP, MOOV], 'it has no mdat box'],
    [
      'that ends in a box',
      [FTYP, MOOV, box('mdat', rest).subarray(0, 100)],
      'its mdat box ends 208 bytes after the end',
    ],
    ['that ends in its second mdat box', [whole, box('mdat', rest).subarray(0, 100)], 'its mdat box ends 208 bytes'],
    ['that ends in the ftyp box', [FTYP.subarray(0, 20)], 'its ftyp box ends 4 bytes after the end'],
    ['that ends in a header', [FTYP, MOOV, box('mdat').subarray(0, 5)], 'it ends within the header of a box'],
    ['that ends in a long header', [FTYP, MOOV, longBox('mdat', rest).subarray(0, 12)], 'within the header of a box'],
    ['with zeros before its media', [FTYP, MOOV, Buffer.alloc(64)], 'it has no box at byte'],
    ['with an impossible size', [FTYP, MOOV, Buffer.from('\0\0\0\x07mdat', 'latin1')], 'it has no box at byte'],
    ['with an impossible long size', [FTYP, MOOV, longBox('mdat', rest, 15)], 'it has no box at byte'],
    ['with a huge size', [FTYP, MOOV, longBox('mdat', rest, 2 ** 53)], 'after the end of the file'],
  ])('%s is refused with the reason', (_, boxes, reason) => {
    const body = Buffer.concat(boxes);
    expect(validate(body)).toContain(reason);
    expect(validate(body, 1)).toBe(validate(body, 5));
    expect(validate(body, 5)).toEqual(expect.any(String));
  });
});
