import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { REASONS } from '../../../src/contracts/common/error-help.js';
import { RULES } from '../../../src/contracts/common/rules.js';
import { PUBLICATIONS } from '../../../src/docs/documents.js';
import { createHauler, issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';

const codes = [...new Set(PUBLICATIONS.flatMap(({ api }) => api.codes))].sort();

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

  it('names the line of /docs/errors for its code, which has one for every code, reason and rule (decision 11)', async () => {
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
