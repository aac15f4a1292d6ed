import { expect, test } from '@jest/globals';
import { redactSecrets, redactUrl, redactUrls } from '../../src/outbound/redaction.js';

test.each([
  ['https://u:p@h.example/a/b.mp4?sig=abc&x=1#f', 'https://h.example/a/b.mp4?[redacted]'],
  ['https://h.example:8443/a', 'https://h.example:8443/a'],
  ['not a url ?sig=abc', '[redacted]'],
])('redactUrl %s', (url, shown) => expect(redactUrl(url)).toBe(shown));

test('redactUrls finds the addresses within a text', () => {
  expect(redactUrls('GET "https://h.example/a?sig=abc" failed, see HTTP://i.example/?k=v.')).toBe(
    'GET "https://h.example/a?[redacted]" failed, see http://i.example/?[redacted]',
  );
});

test('redactSecrets removes a secret in each form it may be echoed in', () => {
  const secret = 'k/y+"1"=';
  const echoed = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify({ key: secret }),
    Buffer.from(secret).toString('base64'),
  ];
  const text = redactSecrets(echoed.join(' | '), [secret, '']);
  for (const form of [secret, encodeURIComponent(secret), 'k/y', Buffer.from(secret).toString('base64')])
    expect(text).not.toContain(form);
  expect(text.match(/\[redacted\]/g)).toHaveLength(4);
});
