import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { createApp } from '../../../src/app.setup.js';
import { createKey } from '../../../src/auth/api-key.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { rawRequest } from '../../support/raw-request.js';

let first: TestApp;
let app: NestExpressApplication;
let url: string;
let log = '';
beforeAll(async () => {
  first = await startTestApp();
  app = await createApp(first.env, pino({ level: 'trace' }, { write: (line: string) => (log += line) }));
  await app.listen(0, '127.0.0.1');
  url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
});
afterAll(async () => {
  await app.close();
  await first.close();
});

test('a request is logged with its id, the shown prefix of its key, and the hauler of the key', async () => {
  const lines = () =>
    log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  /** The line of that response, which is logged after it. */
  const lineOf = (reply: Response) =>
    eventually(() => {
      const line = lines().find(({ requestId }) => requestId === reply.headers.get('x-request-id'));
      expect(line).toBeDefined();
      return line;
    });
  for (const [name, path, haulerId] of [
    ['site', '/scale-platform/v1/sites', undefined],
    ['vision', '/video-platform/v1/videos', undefined],
    ['site', '/scale-platform/v1/sites', randomUUID()],
  ] as const) {
    const request = { interfaces: [name], haulerId, allCustomers: name === 'vision' };
    const issued = await first.admin<{ key: string; prefix: string }>('POST', '/api-keys', request);
    const { key, prefix } = issued.body;
    const ask = (sent: string) => fetch(url + path, { headers: { 'API-KEY': sent } });
    const address = '127.0.0.1';
    const known = { address, method: 'GET', path, status: 400, keyPrefix: prefix, ...(haulerId && { haulerId }) };
    expect(await lineOf(await ask(key))).toMatchObject(known);
    const line = await lineOf(await ask(`${key}x`));
    expect(line).toMatchObject({ address, method: 'GET', path, status: 401 });
    expect([line?.['keyPrefix'], line?.['haulerId']]).toEqual([undefined, undefined]);
    expect(log).not.toContain(key);
  }
});

test('no key and no token reaches the log, whatever happens to the request', async () => {
  const { key } = await issueKey(first, ['account']);
  const wrong = createKey().key;
  const { ADMIN_TOKEN } = first.env;
  const json = ['Content-Type', 'application/json'];
  const accounts = `${url}/platform-api/v1/accounts`;
  for (const sent of ['{"accountName":"Logged"}', '{}', '{"']) {
    await rawRequest(accounts, 'POST', [...json, 'PLATFORM-API-KEY', key], sent);
    await rawRequest(accounts, 'POST', [...json, 'PLATFORM-API-KEY', wrong], sent);
  }
  await rawRequest(`${accounts}?key=${key}`, 'POST', [...json, 'PLATFORM-API-KEY', key], '{}');
  await rawRequest(`${url}/admin/v1/haulers`, 'GET', ['Authorization', `Bearer ${ADMIN_TOKEN}`]);
  await rawRequest(`${url}/admin/v1/haulers`, 'GET', ['Authorization', `Bearer ${ADMIN_TOKEN}x`]);
  await first.dataSource.query('ALTER TABLE accounts RENAME TO accounts_gone');
  const failed = await rawRequest(accounts, 'POST', [...json, 'PLATFORM-API-KEY', key], '{"accountName":"Failing"}');
  expect(failed.status).toBe(500);
  const requestId = failed.headers['x-request-id'];
  const message = 'An unexpected error happened; it has been logged under the request id';
  const error = { code: 'INTERNAL_ERROR', message, details: { requestId } };
  expect(JSON.parse(failed.text)).toEqual({ success: false, error });
  expect(log).toContain(String(requestId));
  expect(log).toContain('/platform-api/v1/accounts');
  expect(log).toContain('accounts');
  expect(log).toContain('relation \\"accounts\\" does not exist');
  // `Failing` is a parameter of the failed statement.
  for (const secret of [key, wrong, ADMIN_TOKEN, 'Failing']) expect(log).not.toContain(secret);
});
