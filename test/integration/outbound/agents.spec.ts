import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { createServer, request as plainRequest, type Server } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { resolvedUrlFault } from '../../../src/outbound/address-guard.js';
import { guardedAgents, lookupBy } from '../../../src/outbound/guarded-agents.js';
import { NameResolver } from '../../../src/outbound/name-resolver.js';
import { type DnsServer, startDnsServer } from '../../support/dns-server.js';
import { eventually } from '../../support/eventually.js';

const strict = { allowPrivate: false };
const open = { allowPrivate: true };

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
    const hanging = Promise.allSettled(Array.from({ length: 40 }, () => resolver.resolve('hangs.example')));
    expect(await resolver.resolve('healthy.example')).toEqual(v4('93.184.216.34'));
    const first = await Promise.race([hanging, Promise.resolve('they still wait')]);
    expect(first).toBe('they still wait');
    const results = await hanging;
    expect(results[0]).toMatchObject({ status: 'rejected', reason: { code: 'EAI_AGAIN' } });
    const asked = dns.asked.length;
    await expect(resolver.resolve('hangs.example')).rejects.toMatchObject({ code: 'EAI_AGAIN' });
    expect(dns.asked).toHaveLength(asked);
  });
});

describe('lookup', () => {
  const lookup = (name: string, options: object) =>
    new Promise((resolve) => lookupBy((host) => resolver.resolve(host))(name, options, (...answer) => resolve(answer)));

  test('answers as dns.lookup does', async () => {
    expect(await lookup('localhost', {})).toEqual([null, '127.0.0.1', 4]);
    expect(await lookup('localhost', { family: 6 })).toEqual([null, '::1', 6]);
    expect(await lookup('localhost', { all: true, family: 4 })).toEqual([null, v4('127.0.0.1')]);
    expect(await lookup('127.0.0.1', { family: 6 })).toMatchObject([{ code: 'ENOTFOUND' }, '', 0]);
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

describe('a name that rebinds', () => {
  const PUBLIC = '93.184.216.34';
  const asked = (name: string) => dns.asked.filter((each) => each === name).length;

  /** What the next connection of the agent would go to. */
  function addressesOf(name: string): Promise<string | readonly LookupAddress[] | undefined> {
    const policy = { ...strict, nameServers: [`127.0.0.1:${dns.port}`] };
    const { lookup } = guardedAgents(policy).httpsAgent.options as { lookup: LookupFunction };
    return new Promise((done) => lookup(name, { all: true }, (error, found) => done(error?.code ?? found)));
  }

  test('is called at the address that was checked: one question for both', async () => {
    dns.answer('once.example', [PUBLIC], ['127.0.0.1']);
    expect(await addressesOf('once.example')).toEqual(v4(PUBLIC));
    expect(asked('once.example')).toBe(1);
  });

  test.each([
    ['turns to this machine', 'turned.example', ['127.0.0.1']],
    ['turns to the metadata of a cloud', 'metadata.example', ['169.254.169.254']],
    ['gets a private address beside its public one', 'mixed.example', [PUBLIC, '10.0.0.5']],
  ])('is refused at the connection at which it %s', async (_, name, later) => {
    dns.answer(name, [PUBLIC], later);
    expect(await addressesOf(name)).toEqual(v4(PUBLIC));
    await eventually(async () => expect(await addressesOf(name)).toBe('ADDRESS_REFUSED'));
  });
});

test('a date of Retry-After is read as UTC, whatever the time zone of the service', () => {
  const source = pathToFileURL(join(import.meta.dirname, '../../../src/outbound/retry-after.ts')).href;
  const dates = ['Sat Jan 31 08:31:30 2026', 'Sat, 31 Jan 2026 08:31:30 GMT'];
  const script = `import { retryAfterDate } from ${JSON.stringify(source)};
    console.log(${JSON.stringify(dates)}.map((date) => retryAfterDate(date, new Date(0)).toISOString()).join())`;
  const env = { ...process.env, TZ: 'America/New_York' };
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' });
  expect(printed).toBe('2026-01-31T08:31:30.000Z,2026-01-31T08:31:30.000Z\n');
});
