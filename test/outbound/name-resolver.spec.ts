import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NameResolver, readHosts } from '../../src/outbound/name-resolver.js';
import { type DnsServer, startDnsServer } from '../support/dns-server.js';

let dns: DnsServer;
let resolver: NameResolver;
beforeAll(async () => {
  dns = await startDnsServer(0);
  resolver = new NameResolver([`127.0.0.1:${dns.port}`]);
});
afterAll(() => dns.close());

const v4 = (...addresses: string[]) => addresses.map((address) => ({ address, family: 4 }));

describe('a name', () => {
  test('has the addresses of the name server, in any case and with a final dot', async () => {
    dns.answer('files.example', ['93.184.216.34', '93.184.216.35']);
    expect(await resolver.resolve('files.example')).toEqual(v4('93.184.216.34', '93.184.216.35'));
    expect(await resolver.resolve('FILES.example.')).toEqual(v4('93.184.216.34', '93.184.216.35'));
  });

  test('is resolved once for concurrent callers', async () => {
    dns.answer('shared.example', ['93.184.216.34']);
    await Promise.all(Array.from({ length: 20 }, () => resolver.resolve('shared.example')));
    expect(dns.asked.filter((name) => name === 'shared.example')).toHaveLength(1);
  });

  test('that is unknown is ENOTFOUND', async () => {
    await expect(resolver.resolve('nobody.example')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  test.each([
    ['127.0.0.1', v4('127.0.0.1')],
    ['::1', [{ address: '::1', family: 6 }]],
    ['localhost', [...v4('127.0.0.1'), { address: '::1', family: 6 }]],
    ['api.localhost.', [...v4('127.0.0.1'), { address: '::1', family: 6 }]],
  ])('%s needs no name server', async (name, addresses) => {
    const asked = dns.asked.length;
    expect(await resolver.resolve(name)).toEqual(addresses);
    expect(dns.asked).toHaveLength(asked);
  });

  test('that hangs ends within the deadline, delays no other, and fails at once from then on', async () => {
    dns.hang('hangs.example');
    dns.answer('healthy.example', ['93.184.216.34']);
    const started = performance.now();
    const hanging = Promise.allSettled(Array.from({ length: 40 }, () => resolver.resolve('hangs.example')));
    expect(await resolver.resolve('healthy.example')).toEqual(v4('93.184.216.34'));
    expect(performance.now() - started).toBeLessThan(1_000);
    const results = await hanging;
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(results[0]).toMatchObject({ status: 'rejected', reason: { code: 'EAI_AGAIN' } });
    const again = performance.now();
    await expect(resolver.resolve('hangs.example')).rejects.toMatchObject({ code: 'EAI_AGAIN' });
    expect(performance.now() - again).toBeLessThan(50);
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

describe('lookup', () => {
  const lookup = (name: string, options: object) =>
    new Promise((resolve) => resolver.lookup(name, options, (...answer) => resolve(answer)));

  test('answers as dns.lookup does', async () => {
    expect(await lookup('localhost', {})).toEqual([null, '127.0.0.1', 4]);
    expect(await lookup('localhost', { family: 6 })).toEqual([null, '::1', 6]);
    expect(await lookup('localhost', { all: true, family: 4 })).toEqual([null, v4('127.0.0.1')]);
    expect(await lookup('127.0.0.1', { family: 6 })).toMatchObject([{ code: 'ENOTFOUND' }, '', 0]);
  });
});
