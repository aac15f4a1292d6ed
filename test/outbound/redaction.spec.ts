import { describe, expect, test } from '@jest/globals';
import { redactSecrets, redactUrl, redactUrls } from '../../src/outbound/redaction.js';

test.each([
  ['https://u:p@h.example/a/b.mp4?sig=abc&x=1#f', 'https://h.example/a/b.mp4?[redacted]'],
  ['https://h.example:8443/a', 'https://h.example:8443/a'],
  ['not a url ?sig=abc', '[redacted]'],
])('redactUrl %s', (url, shown) => expect(redactUrl(url)).toBe(shown));

test('redactUrls finds the URLs in a text', () => {
  expect(redactUrls('GET "https://h.example/a?sig=abc" failed, see HTTP://i.example/?k=v.')).toBe(
    'GET "https://h.example/a?[redacted]" failed, see http://i.example/?[redacted]',
  );
});

test.each([
  ['The address must begin with https://.', 'The address must begin with https://.'],
  ['Neither http://, https://… nor HTTPS:// is one!', 'Neither http://, https://… nor HTTPS:// is one!'],
  ['Is it https://h.example/a?', 'Is it https://h.example/a?'],
  ['See https://h.example/a.', 'See https://h.example/a.'],
  ['(see https://h.example/a/b.mp4), or later', '(see https://h.example/a/b.mp4), or later'],
  ['https://h.example: no answer', 'https://h.example/: no answer'],
  ['https://u:p@h.example:8443, it failed', 'https://h.example:8443/, it failed'],
  ['http://[::1]:8080/a; http://[::1].', 'http://[::1]:8080/a; http://[::1]/.'],
  ['https://127.0.0.1/a?sig=a.b!', 'https://127.0.0.1/a?[redacted]'],
  ['https://h.example/a#sig=a.', 'https://h.example/a'],
  // Nothing of a URL with an invalid host may be shown.
  ['https://:pass@h.example/a?sig=abc', 'https://h.example/a?[redacted]'],
  ['https://ö.example/a?sig=abc.', 'https://xn--nda.example/a?[redacted]'],
  ['https://./?sig=abc', 'https://./?[redacted]'],
  ['https://u:p@h.example:99999/a.', '[redacted].'],
])('redactUrls keeps the text around a URL: %s', (text, shown) => expect(redactUrls(text)).toBe(shown));

describe('redactSecrets removes a secret in each form it may be echoed in', () => {
  const secret = 'k/y+"1"=>??';
  const base64 = Buffer.from(secret).toString('base64');

  test.each([
    ['as it is', secret],
    ['percent-encoded', encodeURIComponent(secret)],
    ['percent-encoded in lower case', 'k%2fy%2b%221%22%3d%3e%3f%3f'],
    ['within JSON', JSON.stringify(`Key ${secret}.`).slice(5, -2)],
    ['in base64', base64],
    ['in base64 without its padding', base64.replace('=', '')],
    ['in base64, percent-encoded', encodeURIComponent(base64)],
    ['in base64, percent-encoded in lower case', 'ay95KyIxIj0%2bPz8%3d'],
  ])('%s', (_, form) => {
    expect(redactSecrets(`key ${form}, key ${form}.`, [secret, ''])).toBe('key [redacted], key [redacted].');
  });

  test('as a whole if it contains another one', () => {
    expect(redactSecrets('abcdef abc', ['abc', 'abcdef'])).toBe('[redacted] [redacted]');
  });
});
