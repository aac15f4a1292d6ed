import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createServer, request as plainRequest, type Server } from 'node:http';
import { request } from 'node:https';
import type { LookupOptions } from 'node:dns';
import type { AddressInfo, LookupFunction } from 'node:net';
import { guardedAgents, isPublicAddress, resolvedUrlFault, urlFault } from '../../src/outbound/address-guard.js';

const strict = { allowPrivate: false };
const open = { allowPrivate: true };

describe('isPublicAddress', () => {
  test.each([
    '8.8.8.8',
    '93.184.216.34',
    '100.63.255.255',
    '100.128.0.1',
    '172.15.255.255',
    '172.32.0.1',
    '192.0.1.1',
    '198.17.255.255',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2001:4860:4860::8888',
    '2a00:1450::1',
    // Just outside the blocked ranges.
    '1.0.0.0',
    '9.255.255.255',
    '11.0.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '168.63.129.15',
    '168.63.129.17',
    '169.253.255.255',
    '169.255.0.0',
    '191.255.255.255',
    '192.0.3.0',
    '192.88.98.255',
    '192.88.100.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.20.0.0',
    '198.51.99.255',
    '198.51.101.0',
    '203.0.112.255',
    '203.0.114.0',
    '2000::',
    '2001:200::',
    '2001:db7:ffff::',
    '2001:db9::',
    '2001:ffff::',
    '2003::',
    '3ffe:ffff::',
    '3fff:1000::',
  ])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));

  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.7',
    '203.0.113.9',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    'example.com',
    '',
    // The ends of the blocked ranges.
    '0.255.255.255',
    '10.0.0.0',
    '10.255.255.255',
    '100.64.0.0',
    '100.127.255.255',
    '127.0.0.0',
    '169.254.0.0',
    '169.254.255.255',
    '172.16.0.0',
    '192.0.0.255',
    '192.0.2.255',
    '192.88.99.0',
    '192.88.99.255',
    '192.168.0.0',
    '192.168.255.255',
    '198.19.255.255',
    '198.51.100.255',
    '203.0.113.255',
    '239.255.255.255',
    '240.0.0.0',
    '1fff:ffff::',
    '2001:1ff:ffff::',
    '2001:db8:ffff::',
    '2002:ffff::',
    '3fff:fff:ffff::',
    '4000::',
  ])('%s is not', (address) => expect(isPublicAddress(address)).toBe(false));
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

describe('resolvedUrlFault', () => {
  test('refuses a name that resolves to this machine', async () => {
    const { hostname } = await import('node:os');
    await expect(resolvedUrlFault(`https://${hostname()}/`, strict)).resolves.toContain('public');
    await expect(resolvedUrlFault('https://8.8.8.8/', strict)).resolves.toBeUndefined();
    await expect(resolvedUrlFault('https://[2606:4700::1]/', strict)).resolves.toBeUndefined();
  });
  test('refuses an invalid URL without resolving its name', async () => {
    await expect(resolvedUrlFault('nonsense', strict)).resolves.toContain('valid URL');
    await expect(resolvedUrlFault('ftp://no-such-host.invalid/', strict)).resolves.toContain('https://');
  });
  test('accepts any name if private addresses are allowed', async () => {
    await expect(resolvedUrlFault('http://localhost/', open)).resolves.toBeUndefined();
  });
  test('accepts a name that does not resolve, because each call checks it again', async () => {
    await expect(resolvedUrlFault('https://no-such-host.invalid/', strict)).resolves.toBeUndefined();
  });
});

describe('guardedAgents', () => {
  let server: Server;
  let hits = 0;
  beforeAll(async () => {
    server = createServer((_, res) => {
      hits += 1;
      res.end('reached');
    });
    await new Promise<void>((done) => server.listen(0, done));
  });
  afterAll(() => void server.close());

  const call = (policy: { allowPrivate: boolean }): Promise<string> => {
    const { httpAgent } = guardedAgents(policy);
    const { port } = server.address() as AddressInfo;
    return new Promise((done) => {
      plainRequest({ host: 'localhost', port, agent: httpAgent }, (res) => {
        res.resume();
        res.on('end', () => done(String(res.statusCode)));
      })
        .on('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message))
        .end();
    });
  };

  test('refuse a name that resolves to a private address before anything is sent', async () => {
    await expect(call(strict)).resolves.toBe('ADDRESS_REFUSED');
    expect(hits).toBe(0);
    await expect(call(open)).resolves.toBe('200');
    expect(hits).toBe(1);
  });

  test('refuse it over https too', async () => {
    const { httpsAgent } = guardedAgents(strict);
    const code = await new Promise((done) => {
      request({ host: 'localhost', port: 1, agent: httpsAgent })
        .on('error', (error: NodeJS.ErrnoException) => done(error.code))
        .end();
    });
    expect(code).toBe('ADDRESS_REFUSED');
  });

  test('return public addresses in the requested form, one or all', async () => {
    const { lookup } = guardedAgents(strict).httpsAgent.options as { lookup: LookupFunction };
    const ask = (options: LookupOptions) =>
      new Promise((done) => lookup('8.8.8.8', options, (...answer) => done(answer)));
    await expect(ask({})).resolves.toEqual([null, '8.8.8.8', 4]);
    await expect(ask({ all: true })).resolves.toEqual([null, [{ address: '8.8.8.8', family: 4 }]]);
  });

  test.each([strict, open])('keep their other options: %p', (policy) => {
    const { httpAgent, httpsAgent } = guardedAgents(policy, { keepAlive: true, maxFreeSockets: 3 });
    for (const agent of [httpAgent, httpsAgent]) {
      expect(agent).toMatchObject({ options: { keepAlive: true, maxFreeSockets: 3 } });
    }
  });
});
