import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { type ErrorKind, KIND_STATUS } from '../../../src/contracts/common/api-contract.js';
import { KIND_HELP, REASONS } from '../../../src/contracts/common/error-help.js';
import { type ErrorHelp, RULES } from '../../../src/contracts/common/rules.js';
import { PUBLICATIONS } from '../../../src/docs/documents.js';
import { createHauler, issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';

const PAGE = join(import.meta.dirname, '../../../docs/errors.md');
const INTRODUCTION = `# Errors

<!-- Generated from src/contracts: \`npm run errors\` writes it. -->

Every failure has the same body: \`error.code\` is one of a closed set, \`error.message\` is a sentence, and \`error.details\` may have the members
of this page. The list of continuous recordings has no \`details\`: its message names the fields. Where the operator has set \`PUBLIC_URL\`,
\`error.details.help\` is the address of the line of this page. Every response has \`X-Request-Id\`: quote it when you ask for help.
`;

const codes = [...new Set(PUBLICATIONS.flatMap(({ api }) => api.codes))].sort();

/** The interfaces in which a kind of failure has this code. */
const interfacesOf = (code: string, kind: ErrorKind) =>
  PUBLICATIONS.filter(({ api }) => (api.errors as Partial<Record<ErrorKind, string>>)[kind] === code).map(
    ({ api }) => api.name,
  );

function codeTable(code: string): string {
  const rows = (Object.keys(KIND_STATUS) as ErrorKind[]).flatMap((kind) => {
    const names = interfacesOf(code, kind);
    const { cause, remedy } = KIND_HELP[kind];
    const which = names.length === PUBLICATIONS.length ? 'all' : names.join(', ');
    return names.length === 0 ? [] : [`| ${KIND_STATUS[kind]} | ${which} | ${cause} | ${remedy} |`];
  });
  return [
    `\n### \`${code}\`\n`,
    '| status | interfaces | cause | what to do |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function helpTable(title: string, name: string, entries: Readonly<Record<string, ErrorHelp>>): string {
  const rows = Object.entries(entries).map(([key, { cause, remedy }]) => `| \`${key}\` | ${cause} | ${remedy} |`);
  return [`\n${title}\n`, `| ${name} | cause | what to do |`, '| --- | --- | --- |', ...rows, ''].join('\n');
}

const sorted = (entries: Readonly<Record<string, ErrorHelp>>) =>
  Object.fromEntries(Object.entries(entries).sort(([one], [other]) => (one < other ? -1 : 1)));

const errorsPage = () =>
  [
    INTRODUCTION,
    '\n## Codes\n',
    ...codes.map(codeTable),
    helpTable('## Reasons\n\n`details.reason` of a 409 or 422:', 'reason', REASONS),
    helpTable(
      '## Rules\n\n`details.violations[].rule`, beside the `path` of the field and a `message`:',
      'rule',
      sorted(RULES),
    ),
  ].join('');

test('docs/errors.md has every code, reason and rule: UPDATE_ERRORS=1 writes it', () => {
  if (process.env['UPDATE_ERRORS'] === '1') writeFileSync(PAGE, errorsPage());
  expect(readFileSync(PAGE, 'utf8')).toBe(errorsPage());
  for (const { cause, remedy } of Object.values({ ...KIND_HELP, ...REASONS, ...RULES })) {
    for (const sentence of [cause, remedy]) expect(sentence).toMatch(/^[A-Z`].*\.$/);
  }
});

interface Failure {
  readonly error: { readonly code: string; readonly details?: { readonly help?: string; readonly reason?: string } };
}

describe('details.help', () => {
  let service: TestApp;
  let plain: TestApp;
  beforeAll(async () => {
    service = await startTestApp({ env: { PUBLIC_URL: 'https://haul.example.com/' } });
    plain = await startTestApp();
  });
  afterAll(async () => {
    await service.close();
    await plain.close();
  });

  it('names an anchor of /docs/errors for the code, with PUBLIC_URL', async () => {
    const { text } = await service.call<string>('GET', '/docs/errors');
    const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    for (const name of [...codes, ...Object.keys(REASONS), ...Object.keys(RULES)])
      expect([name, ids.has(name)]).toEqual([name, true]);
    const refused = await Promise.all(
      ['/nowhere', '/admin/v1/haulers', '/platform-api/v1/tickets', '/scale-platform/v1/sites', '/partner/v1/me'].map(
        (path) => service.call<Failure>('GET', path),
      ),
    );
    for (const { status, body } of refused) {
      expect(status).toBeGreaterThan(399);
      expect(body.error.details?.help).toBe(`https://haul.example.com/docs/errors#${body.error.code}`);
    }
  });

  it('names the reason where there is one, in a replay as in the first answer', async () => {
    const haulerId = await createHauler(service);
    const { key } = await issueKey(service, ['scale', 'account'], { haulerId });
    const send = (path: string, body: object) =>
      service.call<Failure>('POST', `/platform-api/v1/${path}`, {
        headers: { 'PLATFORM-API-KEY': key, 'Idempotency-Key': path },
        body,
      });
    const id = '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10';
    const ticket = { siteId: id, materials: [{ id, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' }] };
    const [first, again] = [await send('tickets', ticket), await send('tickets', ticket)];
    expect([first.status, again.headers.get('idempotency-replayed')]).toEqual([422, 'true']);
    expect(again.text).toBe(first.text);
    expect(first.body.error.details?.help).toMatch(/#VALIDATION_ERROR$/);
    const other = await send('tickets', { ...ticket, materials: [...ticket.materials, ...ticket.materials] });
    expect(other.body.error.details?.help).toMatch(/#IDEMPOTENCY_KEY_REUSED$/);
    await send('accounts', { accountName: 'Prairie' });
    const reused = await send('accounts', { accountName: 'Concrete' });
    expect([reused.status, reused.body.error.details?.help]).toEqual([409, other.body.error.details?.help]);
  });

  it('is in the answer to what is no HTTP', async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.write('nonsense\r\n\r\n');
    expect(await text(socket)).toContain('"details":{"help":"https://haul.example.com/docs/errors#INVALID_PAYLOAD"}');
  });

  it('is absent without PUBLIC_URL, and from the list that has no details', async () => {
    const { body } = await plain.call<Failure>('GET', '/nowhere');
    expect(body.error.details).toBeUndefined();
    const list = await service.call<Failure>('GET', '/video-platform/v1/videos/continuous');
    expect([list.status, list.body.error.details]).toEqual([401, undefined]);
  });
});
