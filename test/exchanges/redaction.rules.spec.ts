import { describe, expect, test } from '@jest/globals';
import { redactBody, redactHeaders, redactQuery } from '../../src/exchanges/redaction.rules.js';
import { BoundedQueue } from '../../src/exchanges/exchange-queue.js';
import { BodyCapture } from '../../src/exchanges/body-capture.js';

const body = (text: string, secrets: string[] = []) => redactBody(text, 'every value', secrets).text;

describe('members with secret names', () => {
  test.each([
    ['{"apiKey":"s3cret","a":1.50}', '{"apiKey":"[redacted]","a":1.50}'],
    ['{"a":[{"nextApiKey" : "s"}]}', '{"a":[{"nextApiKey" : "[redacted]"}]}'],
    ['{"token":12345}', '{"token":"[redacted]"}'],
    ['{"secret":{"a":["x",{"b":"}"}]},"c":1}', '{"secret":"[redacted]","c":1}'],
    ['{"password":["a","b"],"key":null}', '{"password":"[redacted]","key":"[redacted]"}'],
    ['{"\\u0061piKey":"s"}', '{"\\u0061piKey":"[redacted]"}'],
    ['{"key":"a\\"b","c":2}', '{"key":"[redacted]","c":2}'],
    ['{"keyed":"stays","monkey":"stays"}', '{"keyed":"stays","monkey":"stays"}'],
    ['{"a":"key","b":"token"}', '{"a":"key","b":"token"}'],
    ['{"a":1,"apiKey":"s3cr', '{"a":1,"apiKey":"[redacted]"'],
    ['{"apiKey":"s3cret" "broken', '{"apiKey":"[redacted]" "broken'],
    ['{"API_KEY":"s"}', '{"API_KEY":"[redacted]"}'],
  ])('%s', (given, expected) => expect(body(given)).toBe(expected));
});

describe('links', () => {
  test.each([
    [
      '{"downloadUrl":"https://cdn.example/a.mp4?sig=s&e=1"}',
      '{"downloadUrl":"https://cdn.example/a.mp4?sig=[redacted]&e=[redacted]"}',
    ],
    ['{"u":"https:\\/\\/cdn.example\\/a?sig=s"}', '{"u":"https://cdn.example/a?sig=[redacted]"}'],
    ['<a href="https://cdn.example/a?sig=s">', '<a href="https://cdn.example/a?sig=[redacted]">'],
    ['{"u":"https://me:pass@cdn.example/"}', '{"u":"https://[redacted]@cdn.example/"}'],
  ])('of a partner lose every value: %s', (given, expected) => expect(body(given)).toBe(expected));

  test('of ours lose their signature', () => {
    expect(redactQuery('/media/v1/clips/1.mp4?expires=5&signature=abc', 'signature')).toBe(
      '/media/v1/clips/1.mp4?expires=5&signature=[redacted]',
    );
    expect(redactQuery('/sites?haulerId=1&api-key=abc&api%4Bey=x', 'signature')).toBe(
      '/sites?haulerId=1&api-key=[redacted]&api%4Bey=[redacted]',
    );
  });
});

test('a known secret is removed wherever it occurs', () => {
  expect(body('{"note":"my key is hb_0123456789"}', ['hb_0123456789'])).toBe('{"note":"my key is [redacted]"}');
});

test('headers with keys, cookies and credentials lose their values', () => {
  const headers = { 'API-KEY': 'a', authorization: 'b', Cookie: 'c', 'set-cookie': 'd', accept: '*/*' };
  expect(Object.values(JSON.parse(redactHeaders(headers)) as object)).toEqual([
    '[redacted]',
    '[redacted]',
    '[redacted]',
    '[redacted]',
    '*/*',
  ]);
});

test('a long hostile body is redacted in linear time', () => {
  const started = performance.now();
  body(`{"key":${'['.repeat(200_000)}`);
  body('"'.repeat(200_001));
  body(`{"a":"${'\\'.repeat(200_001)}`);
  expect(performance.now() - started).toBeLessThan(2_000);
});

describe('the queue', () => {
  test('drops the oldest beyond its bounds, and counts them', () => {
    const queue = new BoundedQueue<number>(3, 100);
    expect([1, 2, 3, 4].map((value) => queue.push(value, 10))).toEqual([0, 0, 0, 1]);
    expect(queue.push(5, 85)).toBe(2);
    expect(queue.shift(9)).toEqual([4, 5]);
    expect(queue.length).toBe(0);
  });

  test('returns as many bytes as a batch may have, and at least one element', () => {
    const queue = new BoundedQueue<number>(9, 1_000);
    [10, 40, 90, 5].forEach((bytes) => queue.push(bytes, bytes));
    expect([50, 60, 60, 60].map((bytes) => queue.shift(9, bytes))).toEqual([[10, 40], [90], [5], []]);
  });
});

test('a captured body ends with a whole character', () => {
  const capture = new BodyCapture(4);
  capture.add('aäää');
  expect(capture.kept()).toMatchObject({ content: Buffer.from('aä'), sizeBytes: 7, truncated: true });
});
