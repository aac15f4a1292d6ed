import 'reflect-metadata';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
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
  const words = `--role site-server --url ${server.url} --api-key k --hauler-id ${HAULER} --timeout 1500ms`.split(' ');
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
    // oxlint-disable-next-line no-control-regex -- these are the characters
    expect((await kit(format)).out).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
  }
});

test('an answer of 300 MB is not read to its end', async () => {
  let sent = 0;
  const part = Buffer.alloc(1024 * 1024, '[');
  server.on(SITES, (response) => {
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
  const url = `${server.url}/scale-platform/v1/sites`;
  const transport = httpTransport(2_000);
  try {
    const request = { operation: 'requestVideo', method: 'GET', url, headers: {}, maxBytes: 4 * part.length };
    expect(await transport.send(request)).toMatchObject({ status: 200, exceeds: 4 * part.length });
    expect(sent).toBeLessThan(100);
  } finally {
    transport.close();
  }
});
