import 'reflect-metadata';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { httpTransport } from '../../../src/conformance/http-transport.js';
import { runKit } from '../../../src/conformance/kit.js';
import type { Report } from '../../../src/conformance/report/report.js';
import * as serverDoes from '../../support/scripted-partner.js';

const SITES = 'GET /scale-platform/v1/sites';
const HAULER = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';

let server: serverDoes.ScriptedPartner;
beforeAll(async () => {
  server = await serverDoes.startScriptedPartner();
});
afterAll(() => server.stop());

async function kit(format: string) {
  let out = '';
  const words = [
    '--role',
    'site-server',
    '--url',
    server.url,
    '--api-key',
    'k',
    '--hauler-id',
    HAULER,
    '--timeout',
    '1500ms',
  ];
  const code = await runKit([...words, '--format', format], {
    out: (text) => void (out += text),
    err: (text) => void (out += text),
  });
  return { code, out };
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

test.each<[string, serverDoes.ScriptedReply, string, string]>([
  ['hangs', serverDoes.hangs(), 'SITE-001', 'no complete answer within 1.5 s'],
  ['sends a byte now and then', serverDoes.trickles(50), 'SITE-001', 'no complete answer within 1.5 s'],
  ['redirects', serverDoes.redirects('http://127.0.0.1:1/'), 'SITE-001', 'API calls follow no redirect'],
  ['streams without end', serverDoes.endless(), 'SITE-00[19]', /larger than 256 MiB|no complete answer/.source],
  ['closes the connection', serverDoes.breaks('{}', 0), 'SITE-001', 'closed the connection without an answer'],
  ['breaks off', serverDoes.breaks('{"success":true}', 4), 'SITE-001', 'closed before the answer was complete'],
  [
    'answers with control characters',
    serverDoes.raw('{"success":\u0007\u001b[31m}', { headers: JSON_TYPE }),
    'SITE-003',
    'must be valid JSON',
  ],
  [
    'answers with bytes that are not UTF-8',
    serverDoes.raw(Buffer.from([0x7b, 0xff, 0x7d]), { headers: JSON_TYPE }),
    'SITE-003',
    'must be UTF-8',
  ],
  [
    'nests arrays deeply',
    serverDoes.raw(`{"success":true,"data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, { headers: JSON_TYPE }),
    'SITE-005',
    'data must be an object',
  ],
  ['answers with HTML', serverDoes.html(), 'SITE-002', 'text/html'],
  [
    'breaks its compression',
    serverDoes.raw('no gzip', { headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' } }),
    'SITE-001',
    'cannot be decoded as gzip',
  ],
])('a server that %s gets a clear outcome', async (_, reply, rule, message) => {
  server.on(SITES, reply);
  const { code, out } = await kit('json');
  expect(code).toBe(1);
  const { rules, summary } = JSON.parse(out) as Report;
  const first = rules.find(({ outcome }) => outcome === 'failed');
  expect(first?.id).toMatch(new RegExp(`^${rule}$`));
  expect(first?.message).toMatch(new RegExp(message));
  expect(summary.kitError).toBe(0);
});

test('no control character of a server reaches the terminal or an XML file', async () => {
  server.on(SITES, serverDoes.raw('{"success":\u0007\u001b[31m}', { headers: JSON_TYPE }));
  for (const format of ['text', 'junit', 'html']) {
    // eslint-disable-next-line no-control-regex -- these are the characters
    expect((await kit(format)).out).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
  }
});

const ROLES = ['site-server', 'vision-server', 'scale-server', 'account-server'] as const;
const WRITES = ['--write', '--truck-id', 'TRUCK-7'];

/** Runs a role against a server that gives every request the same answer. */
async function runAgainst(role: string, start: () => Promise<{ url: string; stop: () => Promise<void> }>) {
  const { url, stop } = await start();
  try {
    let out = '';
    const words = ['--role', role, '--url', url, '--api-key', 'some-key', '--hauler-id', HAULER, ...WRITES];
    const streams = { out: (text: string) => void (out += text), err: (text: string) => void (out += text) };
    const code = await runKit([...words, '--timeout', '2s', '--format', 'json'], streams);
    const { rules, summary } = JSON.parse(out) as Report;
    return { code, summary, failed: rules.filter(({ outcome }) => outcome === 'failed') };
  } finally {
    await stop();
  }
}

const always = (listener: RequestListener) => async () => {
  const http = createServer(listener).listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    stop: async () => {
      http.close().closeAllConnections();
      await once(http, 'close');
    },
  };
};

/** The rule that a call without a key is answered with 401. */
const WITHOUT_KEY = {
  'site-server': 'SITE-050',
  'vision-server': 'VISION-210',
  'scale-server': 'SCALE-005',
  'account-server': 'ACCOUNT-005',
} as const;

/** A list, an acknowledgement and a ticket in one. */
const EVERYTHING = {
  success: true,
  data: { sites: [], kiosks: [], materials: [], videos: [], recordings: [] },
  requestId: 'r',
  status: 'processing',
  disposalTicketId: HAULER,
};

describe.each(ROLES)('%s', (role) => {
  test('does not believe a server that answers 200 to everything', async () => {
    const accepting = always((_, response) => void response.writeHead(200, JSON_TYPE).end(JSON.stringify(EVERYTHING)));
    const { code, failed, summary } = await runAgainst(role, accepting);
    expect([code, summary.kitError]).toEqual([1, 0]);
    expect(failed.map(({ id }) => id)).toContain(WITHOUT_KEY[role]);
    expect(failed.every(({ message }) => message !== undefined && message !== '')).toBe(true);
  });

  test('asks a server that answers 401 to everything for the key, once', async () => {
    const error = { success: false, error: { code: 'UNAUTHORIZED', message: 'no' } };
    const refusing = always((_, response) => void response.writeHead(401, JSON_TYPE).end(JSON.stringify(error)));
    const { code, failed, summary } = await runAgainst(role, refusing);
    expect([code, failed.length, summary.kitError]).toEqual([1, 1, 0]);
    expect(failed[0]?.message).toContain('is the key right?');
  });

  test('reports a server that does not speak HTTP', async () => {
    const speaking = async () => {
      const tcp = createTcpServer(
        (socket) =>
          void socket
            .on('error', () => undefined)
            .resume()
            .end('\u0000\u001b[31mSSH-2.0\r\n'),
      );
      tcp.listen(0, '127.0.0.1');
      await once(tcp, 'listening');
      const { port } = tcp.address() as AddressInfo;
      const stop = async () => {
        tcp.close();
        await once(tcp, 'close');
      };
      return { url: `http://127.0.0.1:${port}`, stop };
    };
    const { code, failed, summary } = await runAgainst(role, speaking);
    expect([code, failed.length, summary.kitError]).toEqual([1, 1, 0]);
    expect(failed[0]?.message).toMatch(/not valid HTTP|closed the connection/);
  });
});

test('a request that was answered with 421 is not sent again', async () => {
  const sent: string[] = [];
  const { url, stop } = await always((request, response) => {
    sent.push(`${request.method} ${request.url}`);
    response.writeHead(421, JSON_TYPE).end('{}');
  })();
  const transport = httpTransport(10_000);
  await transport.send({ operation: 'createTicket', method: 'POST', url: `${url}/tickets`, headers: {}, body: '{}' });
  transport.close();
  await stop();
  expect(sent).toEqual(['POST /tickets']);
});

test('an answer of 300 MB is not read to its end', async () => {
  let sent = 0;
  const part = Buffer.alloc(1024 * 1024, '[');
  const large = always((_, response) => {
    response.on('error', () => undefined).writeHead(200, { ...JSON_TYPE, 'Content-Length': String(300 * part.length) });
    const write = (): void => {
      while (sent < 300) {
        sent++;
        if (!response.write(part)) return void response.once('drain', write);
      }
      response.end();
    };
    write();
  });
  const { code, failed } = await runAgainst('account-server', large);
  expect(code).toBe(1);
  expect(failed[0]?.message).toBe('the answer is larger than 8 MiB');
  expect(sent).toBeLessThan(100);
});

test('a client that sends garbage, odd times and large bodies ends no run of a client role', async () => {
  let out = '';
  const call = async (url: string): Promise<void> => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket
      .on('error', () => undefined)
      .resume()
      .end('\u0000garbage\r\n\r\n');
    await once(socket, 'close');
    const headers = { 'API-KEY': 'k' };
    const range = 'startTime=%2B275760-09-12T23:59:00Z&endTime=%2B275760-09-13T00:00:00Z';
    const early = 'startTime=-271821-04-20T00:00:00Z&endTime=-271821-04-21T00:00:00Z';
    for (const query of [range, range, early]) {
      const path = `/video-platform/v1/videos/continuous?customerId=c&truckId=t&${query}`;
      await fetch(url + path, { headers });
    }
    const post = { method: 'POST', headers, body: Buffer.alloc(9 * 1024 * 1024, '[') };
    expect((await fetch(`${url}/video-platform/v1/videos/requests`, post)).status).toBe(202);
  };
  let done: Promise<void> | undefined;
  const stop = new AbortController();
  const words = ['--role', 'platform-client', '--listen', '0', '--api-key', 'k', '--timeout', '20s'];
  const code = await runKit([...words, '--format', 'json'], {
    out: (text) => void (out += text),
    err: (text) => void (done = call(/http:\/\/\S+(?=;)/.exec(text)?.[0] ?? '').finally(() => stop.abort())),
    stop: stop.signal,
  });
  await done;
  expect(code).toBe(1);
  const { rules, summary } = JSON.parse(out) as Report;
  expect(summary.kitError).toBe(0);
  expect(rules.find(({ id }) => id === 'PLATFORM-007')?.outcome).toBe('failed');
});
