import 'reflect-metadata';
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Call, type CallLog, checkCalls, isRepeat } from '../../../src/conformance/client/client-rule.js';
import { recordCalls } from '../../../src/conformance/client/listener.js';
import { PARTNER_CLIENT } from '../../../src/conformance/client/partner-client.js';
import { runKit } from '../../../src/conformance/kit.js';
import type { Report } from '../../../src/conformance/report/report.js';
import { testServer } from '../../support/test-run.js';
import {
  added,
  change,
  type ClientMutant,
  isMet,
  type Pick,
  set,
  withBody,
  withHeader,
  without,
  wronglyFound,
} from './client-mutants.js';

const KEY = 'the-key-of-the-kit';
const CLIENT = join(import.meta.dirname, '../../../clients/typescript/haulbridge.ts');

/** A partner that uses our client: eight pushes of seven tickets, and seven accounts. */
const PROGRAM = (url: string) => `
  import { createClient } from ${JSON.stringify(CLIENT)};
  const client = createClient({ url: ${JSON.stringify(url)}, key: '${KEY}', retries: 4 });
  const options = (name) => ({ idempotencyKey: name });
  const ticket = (n, minute) => ({
    siteId: '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10',
    materials: [{ id: '7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21', name: 'Debris', quantity: 12.48 + minute, unitPriceCents: 15.5, unitOfMeasure: 'Ton' }],
    inboundFlow: { ticketNumber: 'IN-' + n, updatedAt: '2026-01-31T08:3' + minute + ':00Z' },
    outboundFlow: { ticketNumber: 'OUT-' + n, updatedAt: '2026-01-31T09:3' + minute + ':00Z' },
    customFields: { truckNumber: '42' },
  });
  const tickets = async () => {
    for (let n = 1; n <= 7; n++) await client.createTicket(ticket(n, 0), options('t' + n)).catch(() => undefined);
    await client.createTicket(ticket(1, 1), options('t1-1'));
  };
  const billingAddress = { street: '120 Quarry Road', unit: '4', city: 'Austin', state: 'TX', country: 'USA', zip: '78701' };
  const primaryContact = { firstName: 'Dana', lastName: 'Reyes', email: 'dana@example.com', phone: '+1 (512) 555-0100' };
  const accounts = async () => {
    for (let n = 1; n <= 7; n++) {
      const body = { accountName: 'Lone Star ' + n, billingAddress, primaryContact };
      await client.createAccount(body, options('a' + n)).catch(() => undefined);
    }
  };
  await Promise.all([tickets(), accounts()]);
`;

async function startPartner(url: string): Promise<void> {
  const folder = mkdtempSync(join(testServer().folder, 'partner-'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'partner.ts'), PROGRAM(url));
  await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', join(folder, 'partner.ts')]);
}

let log: CallLog;
beforeAll(async () => {
  const stop = new AbortController();
  const calls = await recordCalls(PARTNER_CLIENT.peer(KEY), {
    host: '127.0.0.1',
    port: 0,
    idleMs: 30_000,
    stop: stop.signal,
    onListening: (url) => void startPartner(url).finally(() => stop.abort()),
  });
  log = { calls, apiKey: KEY };
});

test('our client passes every rule of partner-client', () => {
  const results = checkCalls(PARTNER_CLIENT, log, 'http://kit');
  const others = results.filter(({ outcome }) => outcome !== 'passed');
  expect(others.map(({ rule, outcome, message }) => `${rule.id} ${outcome}: ${message}`)).toEqual([]);
});

const ticket: Pick = ({ operation }) => operation === 'createTicket';
const account: Pick = ({ operation }) => operation === 'createAccount';
const of = (pick: Pick, path: string, to: unknown) =>
  change(
    pick,
    withBody((body) => set(body, path.split('.'), to)),
  );

/** The last push is the changed ticket. */
const changed =
  (updatedAt: string) =>
  (calls: readonly Call[]): Call[] => {
    const last = calls.findLast(ticket);
    const direct = (body: Record<string, unknown>) => set(body, ['inboundFlow', 'updatedAt'], updatedAt);
    return calls.map((call) => (call === last ? withBody(direct)(call) : call));
  };

const unrepeated = (operation: string, scenario: string) =>
  without((call, calls) => {
    const first = calls.find(isMet(operation, scenario));
    return first !== undefined && isRepeat(first, call);
  });

const tooEarly =
  (operation: string, scenario: string) =>
  (calls: readonly Call[]): Call[] => {
    const first = calls.find(isMet(operation, scenario));
    return calls.map((call) => (first !== undefined && isRepeat(first, call) ? { ...call, at: first.at + 200 } : call));
  };

const retries = (operation: string, tens: number): ClientMutant[] => [
  [`PARTNER-0${tens}0`, unrepeated(operation, 'too-many-requests')],
  [`PARTNER-0${tens}1`, tooEarly(operation, 'too-many-requests')],
  [`PARTNER-0${tens}2`, unrepeated(operation, 'unavailable')],
  [`PARTNER-0${tens}3`, tooEarly(operation, 'unavailable')],
  [`PARTNER-0${tens}4`, unrepeated(operation, 'server-error')],
  [`PARTNER-0${tens}5`, unrepeated(operation, 'answer-lost')],
  [`PARTNER-0${tens}6`, added(isMet(operation, 'invalid'))],
];

const MUTANTS: readonly ClientMutant[] = [
  ['PARTNER-001', added(ticket, (call) => ({ ...call, operation: '', path: '/tickets' }))],
  ['PARTNER-002', change(ticket, withHeader('PLATFORM-API-KEY'))],
  ['PARTNER-003', change(ticket, withHeader('PLATFORM-API-KEY', KEY, KEY))],
  ['PARTNER-004', change(ticket, withHeader('PLATFORM-API-KEY', `Bearer ${KEY}`))],
  ['PARTNER-005', change(ticket, withHeader('Authorization', `Bearer ${KEY}`))],
  ['PARTNER-006', change(ticket, withHeader('Content-Type', 'text/plain'))],
  ['PARTNER-007', change(ticket, (call) => ({ ...call, body: Buffer.from('{"siteId":') }))],
  ['PARTNER-010', of(ticket, 'siteId', 'site-1')],
  ['PARTNER-011', of(ticket, 'materials', [])],
  ['PARTNER-012', of(ticket, 'materials.id', 'material-1')],
  ['PARTNER-013', of(ticket, 'materials.name', 7)],
  ['PARTNER-014', of(ticket, 'materials.quantity', '12.48')],
  ['PARTNER-015', of(ticket, 'materials.unitPriceCents', '15.5')],
  ['PARTNER-016', of(ticket, 'materials.unitOfMeasure', 'Bushel')],
  ['PARTNER-017', of(ticket, 'inboundFlow', 'IN-1')],
  ['PARTNER-018', of(ticket, 'inboundFlow.ticketNumber', 204817)],
  ['PARTNER-019', of(ticket, 'inboundFlow.updatedAt', '31/01/2026')],
  ['PARTNER-020', of(ticket, 'outboundFlow', 'OUT-1')],
  ['PARTNER-021', of(ticket, 'outboundFlow.ticketNumber', '')],
  ['PARTNER-022', of(ticket, 'outboundFlow.updatedAt', '2026-01-31T08:30:00')],
  ['PARTNER-023', of(ticket, 'customFields', { truckNumber: 42 })],
  ['PARTNER-024', of(ticket, 'inBoundFlow', {})],
  ['PARTNER-030', of(account, 'accountName', '')],
  ['PARTNER-031', of(account, 'billingAddress', 'Austin')],
  ['PARTNER-032', of(account, 'billingAddress.street', 'x'.repeat(101))],
  ['PARTNER-033', of(account, 'billingAddress.unit', 4)],
  ['PARTNER-034', of(account, 'billingAddress.city', 'x'.repeat(51))],
  ['PARTNER-035', of(account, 'billingAddress.state', 'Texas')],
  ['PARTNER-036', of(account, 'billingAddress.country', 'x'.repeat(51))],
  ['PARTNER-037', of(account, 'billingAddress.zip', '787')],
  ['PARTNER-038', of(account, 'primaryContact', 'Dana')],
  ['PARTNER-039', of(account, 'primaryContact.firstName', 7)],
  ['PARTNER-040', of(account, 'primaryContact.lastName', 'x'.repeat(51))],
  ['PARTNER-041', of(account, 'primaryContact.email', 'dana')],
  ['PARTNER-042', of(account, 'primaryContact.phone', 'call me')],
  ['PARTNER-043', of(account, 'billingAddress.zipCode', '78701')],
  [
    'PARTNER-050',
    of((call) => ticket(call) && call.body.includes('08:31:00'), 'outboundFlow.updatedAt', '2026-01-31T09:30:00Z'),
  ],
  ['PARTNER-052', changed('2099-01-31T08:30:00Z')],
  ...retries('createTicket', 6),
  ['PARTNER-067', added(isMet('createTicket', 'rule-violated'))],
  ...retries('createAccount', 7),
  ['PARTNER-077', added(isMet('createAccount', 'conflict'))],
  ['PARTNER-080', change(ticket, withHeader('Idempotency-Key', 'a', 'b'))],
  [
    'PARTNER-081',
    added(
      account,
      withBody((body) => set(body, ['accountName'], 'Another')),
    ),
  ],
  [
    'PARTNER-082',
    (calls) => {
      const first = calls.find(isMet('createAccount', 'answer-lost'));
      return change((call) => first !== undefined && isRepeat(first, call), withHeader('Idempotency-Key'))(calls);
    },
  ],
];

describe('each rule of partner-client', () => {
  test('finds a client that breaks it, and no other rule does', () => {
    expect(wronglyFound(PARTNER_CLIENT, log, MUTANTS)).toEqual([]);
  });

  test('has a client that breaks it', () => {
    const broken = new Set(MUTANTS.map(([rule]) => rule));
    expect(PARTNER_CLIENT.rules.map(({ id }) => id).filter((id) => !broken.has(id))).toEqual([]);
  });
});

test('changes of a ticket may be sent in any order: the newest updatedAt wins (decision 21)', () => {
  const late = changed('2026-01-31T08:29:00Z');
  expect(wronglyFound(PARTNER_CLIENT, log, [['', late]])).toEqual([]);
});

/** Runs the kit until 300 ms after the last call. */
async function kit(call: (url: string) => Promise<unknown>, ...words: string[]) {
  let [out, err] = ['', ''];
  const code = await runKit(
    ['--role', 'partner-client', '--listen', '0', '--api-key', KEY, '--timeout', '300ms', ...words],
    {
      out: (text) => void (out += text),
      err: (text) => {
        err += text;
        void call(/http:\/\/\S+(?=;)/.exec(text)?.[0] ?? '').catch(() => undefined);
      },
    },
  );
  return { code, out, err };
}

const nothing = () => Promise.resolve();

test('a run without a call proves nothing, and fails nothing', async () => {
  const { code, out, err } = await kit(nothing, '--format', 'json');
  const { summary, rules, url } = JSON.parse(out) as Report;
  expect(code).toBe(0);
  expect(summary.notProven).toBe(rules.length);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(err).toContain(`listening at ${url}`);
});

test('the report shows the call, its answer and what to change, without the key', async () => {
  const headers = { 'PLATFORM-API-KEY': KEY, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ siteId: 'site-1' });
  const push = (url: string) => fetch(`${url}/platform-api/v1/tickets`, { method: 'POST', headers, body });
  const { code, out } = await kit(push, '--format', 'json');
  expect(code).toBe(1);
  expect(out).not.toContain(KEY);
  const failed = (JSON.parse(out) as Report).rules.filter(({ outcome }) => outcome === 'failed');
  expect(failed.map(({ id }) => id)).toEqual(['PARTNER-010', 'PARTNER-011']);
  expect(failed[0]).toMatchObject({ section: '2.2', request: { method: 'POST', body }, response: { status: 400 } });
  expect(failed[0]?.request?.curl).toContain('-H "PLATFORM-API-KEY: $API_KEY"');
  expect(failed[0]?.remedy).toContain('siteId');
});

test.each<[string, string[]]>([
  ['--listen is required', []],
  ['--listen must be a port', ['--listen', 'here']],
  ['--listen must be a port', ['--listen', '99999']],
  ['--listen 203.0.113.1:80', ['--listen', '203.0.113.1:80']],
])('a wrong call exits with 2: %s', async (sentence, words) => {
  let err = '';
  const streams = { out: () => undefined, err: (text: string) => void (err += text) };
  expect(await runKit(['--role', 'partner-client', '--api-key', KEY, ...words], streams)).toBe(2);
  expect(err).toContain(sentence);
});
