import { describe, expect, test } from '@jest/globals';
import { isPublicAddress, urlFault } from '../../../src/core/outbound/address-guard.js';
import { networkFailure } from '../../../src/core/outbound/network-errors.js';
import { readHosts } from '../../../src/core/outbound/name-resolver.js';
import { redactUrl, redactUrls } from '../../../src/core/observability/redaction.js';
import { retryAfterDate } from '../../../src/core/outbound/retry-after.js';

const v4 = (...addresses: string[]) => addresses.map((address) => ({ address, family: 4 }));

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
  ['https://h.example: no answer', 'https://h.example: no answer'],
  ['https://u:p@h.example:8443, it failed', 'https://h.example:8443/, it failed'],
  ['http://[::1]:8080/a; http://[::1].', 'http://[::1]:8080/a; http://[::1].'],
  ['https://127.0.0.1/a?sig=a.b!', 'https://127.0.0.1/a?[redacted]'],
  ['https://h.example/a#sig=a.', 'https://h.example/a'],
  // Nothing of a URL with an invalid host may be shown.
  ['https://:pass@h.example/a?sig=abc', 'https://h.example/a?[redacted]'],
  ['https://ö.example/a?sig=abc.', 'https://xn--nda.example/a?[redacted]'],
  ['https://./?sig=abc', 'https://./?[redacted]'],
  ['https://u:p@h.example:99999/a.', '[redacted].'],
])('redactUrls keeps the text around a URL: %s', (text, shown) => expect(redactUrls(text)).toBe(shown));

const now = new Date('2026-01-31T08:30:00Z');

describe('Retry-After', () => {
  test.each([
    ['120', 120_000],
    ['0', 0],
    ['1.5', 1_500],
    ['0.0004', 1],
    [' 7 ', 7_000],
    ['Sat, 31 Jan 2026 08:31:30 GMT', 90_000],
    ['Saturday, 31-Jan-26 08:31:30 GMT', 90_000],
    ['Sat Jan 31 08:31:30 2026', 90_000],
    ['Sat, 31 Jan 2026 08:00:00 GMT', 0],
    ['-5', undefined],
    ['soon', undefined],
    ['2026-01-31T08:31:30Z', undefined],
    ['1e9', undefined],
    ['Sat, 99 Jan 2026 08:31:30 GMT', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s is %s ms', (header, expected) => {
    const at = retryAfterDate(header, now);
    expect(at && at.getTime() - now.getTime()).toBe(expected);
  });
});

test('the hosts file names addresses, each line one', () => {
  const hosts = readHosts(
    '# comment\n127.0.0.1\tlocalhost  me.local # self\n\n10.0.0.5 Inner.example\n::1 me.local\nnonsense x\n',
  );
  expect(Object.fromEntries(hosts)).toEqual({
    localhost: v4('127.0.0.1'),
    'me.local': [...v4('127.0.0.1'), { address: '::1', family: 6 }],
    'inner.example': v4('10.0.0.5'),
  });
});

const strict = { allowPrivate: false };
const open = { allowPrivate: true };

describe('isPublicAddress', () => {
  test.each(
    [
      '8.8.8.8 93.184.216.34 100.63.255.255 100.128.0.1 172.15.255.255 172.32.0.1 192.0.1.1 198.17.255.255',
      '223.255.255.255 2606:4700:4700::1111 2001:4860:4860::8888 2a00:1450::1 1.0.0.0 9.255.255.255 11.0.0.0',
      '126.255.255.255 128.0.0.0 168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 191.255.255.255',
      '192.0.3.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 198.20.0.0 198.51.99.255 198.51.101.0',
      '203.0.112.255 203.0.114.0 2000:: 2001:200:: 2001:db7:ffff:: 2001:db9:: 2001:ffff:: 2003:: 3ffe:ffff::',
      '3fff:1000::',
    ].flatMap((line) => line.split(' ')),
  )('%s is a public address', (address) => expect(isPublicAddress(address)).toBe(true));

  test.each(
    [
      '0.0.0.0 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254 168.63.129.16 169.254.169.254',
      '172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.168.1.1 198.18.0.1 198.51.100.7 203.0.113.9 224.0.0.1',
      '255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:0:127.0.0.1 64:ff9b::7f00:1',
      '64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1:: 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1',
      'fe80::1%eth0 fec0::1 ff02::1 example.com 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255',
      '127.0.0.0 169.254.0.0 169.254.255.255 172.16.0.0 192.0.0.255 192.0.2.255 192.88.99.0 192.88.99.255',
      '192.168.0.0 192.168.255.255 198.19.255.255 198.51.100.255 203.0.113.255 239.255.255.255 240.0.0.0',
      '1fff:ffff:: 2001:1ff:ffff:: 2001:db8:ffff:: 2002:ffff:: 3fff:fff:ffff:: 4000::',
      '',
    ].flatMap((line) => line.split(' ')),
  )('%s is no public address', (address) => expect(isPublicAddress(address)).toBe(false));
});

describe('urlFault', () => {
  test.each([
    ['https://video.example.com/a?b=c', undefined],
    ['https://8.8.8.8/', undefined],
    ['https://[2606:4700::1]:8443/', undefined],
    ['http://video.example.com/', 'https://'],
    ['ftp://video.example.com/', 'https://'],
    ['file:///etc/passwd', 'https://'],
    ['nonsense', 'valid URL'],
    ['https://user@example.com/', 'user name'],
    ['https://:secret@example.com/', 'user name'],
    ['https://127.0.0.1/', 'public'],
    ['https://2130706433/', 'public'],
    ['https://0x7f.1/', 'public'],
    ['https://0177.0.0.1/', 'public'],
    ['https://127.1/', 'public'],
    ['https://①②⑦.0.0.1/', 'public'],
    ['https://[::1]/', 'public'],
    ['https://[::ffff:7f00:1]/', 'public'],
    ['https://localhost/', 'public'],
    ['https://api.LOCALHOST./', 'public'],
    ['https://localhost.example.com/', undefined],
    ['https://notlocalhost/', undefined],
  ])('%s', (url, fault) => {
    if (fault === undefined) expect(urlFault(url, strict)).toBeUndefined();
    else expect(urlFault(url, strict)).toContain(fault);
  });

  test('with private addresses allowed, http is allowed too, credentials and other schemes are not', () => {
    expect(urlFault('http://127.0.0.1:3000/x', open)).toBeUndefined();
    expect(urlFault('http://localhost:3000/x', open)).toBeUndefined();
    expect(urlFault('ftp://127.0.0.1/x', open)).toContain('https://');
    expect(urlFault('http://a:b@127.0.0.1/x', open)).toContain('user name');
  });
});

test.each([
  ['ECONNREFUSED', 'unreachable', 'partner could not be reached: it refuses connections.'],
  ['ENOTFOUND', 'unreachable', 'partner could not be reached: its name is not known.'],
  ['CERT_HAS_EXPIRED', 'unreachable', 'partner could not be reached: its certificate has expired.'],
  ['EOTHER', 'unreachable', 'partner could not be reached: the connection failed (EOTHER).'],
  [undefined, 'unreachable', 'partner could not be reached: the connection failed.'],
  ['EPIPE', 'broken', 'The connection to partner broke before its whole answer had come.'],
  ['HPE_INVALID_CONSTANT', 'broken', 'partner sent invalid HTTP (HPE_INVALID_CONSTANT).'],
])('an error with the code %s is %s: %s', (code, kind, message) => {
  expect(networkFailure({ code }, 'partner', false)).toMatchObject({ kind, message });
});
