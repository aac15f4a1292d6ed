import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runCommandLine } from '../../../src/cli/program.js';
import { visibleOutput, visibleText } from '../../../src/contracts/common/visible-text.js';
import { json, type ScriptedPartner, startScriptedPartner } from '../../support/scripted-partner.js';

/** ANSI, C1, DEL, bidirectional, zero-width, line separators, soft hyphen, tag and filler characters, a line break. */
const HOSTILE = [
  ...['\u001b[2J\u001b]0;title\u0007', '\u009b31m', '\u007f', '\u202e\u2066\u200f\u061c', '\u200b\u200d\u2060\ufeff'],
  ...['\u2028\u2029\u0085', '\u00ad\u{e0041}\u3164\u180e', '\r\nforged-line\t'],
].join('x');
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

let server: ScriptedPartner;
beforeAll(async () => {
  server = await startScriptedPartner();
});
afterAll(() => server.stop());

async function command(...words: string[]) {
  let [out, err] = ['', ''];
  const streams = { out: (text: string) => (out += text), err: (text: string) => (err += text) };
  const code = await runCommandLine(words, streams, { url: server.url, token: 'token' });
  return { code, out, err };
}
const exchange = {
  ...{
    id: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d',
    at: '2026-01-31T08:30:00Z',
    direction: 'inbound',
    interface: 'site',
  },
  ...{ route: null, method: 'GET', path: `/${HOSTILE}`, status: 200, result: HOSTILE, failure: HOSTILE },
};
const message = {
  headers: { [HOSTILE]: HOSTILE },
  body: { text: HOSTILE, sizeBytes: 1, sha256: 'a', truncated: false },
};
const detail = { ...exchange, request: message, response: message, explanation: HOSTILE };
const references = [{ kind: 'siteId', value: HOSTILE }];
const error = { error: { message: HOSTILE, details: { violations: [{ path: HOSTILE, message: HOSTILE }] } } };
const entry = { at: '2026-01-31T08:30:00Z', event: 'created', text: HOSTILE, changes: [HOSTILE], requestId: HOSTILE };
const pagination = { page: 1, totalPages: 1, totalItems: 1 };
const ID = exchange.id;

test.each<[string[], string, object]>([
  [
    ['hauler', 'list'],
    '/haulers',
    { data: [{ id: 1, [HOSTILE]: HOSTILE, tags: [HOSTILE, { a: HOSTILE }] }], pagination },
  ],
  [['hauler', 'show', ID], `/haulers/${ID}`, { name: HOSTILE, more: { [HOSTILE]: HOSTILE } }],
  [['exchange', 'list'], '/exchanges', { data: [exchange], next: HOSTILE }],
  [['exchange', 'show', ID], `/exchanges/${ID}`, { ...detail, references }],
  [['exchange', 'tail'], '/exchanges', { data: [exchange], next: null }],
  [['ticket', 'history', ID], `/tickets/${ID}/history`, { data: [entry], pagination }],
])('%j prints unseen characters as escapes, as a table and as JSON', async (words, path, body) => {
  server.on(`GET /admin/v1${path}`, json(body));
  const table = await command(...words);
  expect(table).toMatchObject({ code: 0, err: '' });
  expect(table.out.replaceAll('\n', '')).not.toMatch(UNSEEN);
  // The lines of a body are shown as lines.
  if (words[1] !== 'show' || words[0] !== 'exchange') expect(table.out).not.toMatch(/^forged/m);
  expect(table.out).toContain('\\u001b[2J');
  const asJson = await command(...words, '--json');
  expect(asJson.out.replaceAll('\n', '')).not.toMatch(UNSEEN);
  const shown: unknown = JSON.parse(asJson.out);
  expect(shown).toEqual(words[1] === 'tail' ? (body as { data: unknown[] }).data[0] : body);
});

test('a list of more rows than have page numbers ends with the cursor of the next page', async () => {
  const position = { page: 500, totalPages: 500, totalItems: 10_000, more: true, next: HOSTILE };
  server.on('GET /admin/v1/haulers', json({ data: [{ id: 1 }], pagination: position }));
  const { out } = await command('hauler', 'list', '--page', '500');
  expect(out).toMatch(/\n10000\+ in all, page 500 of 500\+\nmore: --cursor [^\n]*\\u001b[^\n]*\n$/);
});

test.each([400, 401, 404, 500])('an error message with status %d is one line of visible characters', async (status) => {
  server.on('GET /admin/v1/haulers', json(error, { status }));
  const { err } = await command('hauler', 'list');
  expect(err).toMatch(/^error: [^\n]+\n$/);
  expect(err.trimEnd()).not.toMatch(UNSEEN);
});

test('escapes are those of JSON: both halves of a character beyond U+FFFF, and the value stays', () => {
  expect(visibleText('a\u202eb\u{e0041}c\nd\t')).toBe('a\\u202eb\\udb40\\udc41c\\nd\\t');
  const value = { [HOSTILE]: [HOSTILE, 'a\\b"c', 'München 東京'] };
  expect(JSON.parse(visibleOutput(JSON.stringify(value, undefined, 2)))).toEqual(value);
  expect(visibleOutput('München 東京 ✓\n')).toBe('München 東京 ✓\n');
});
