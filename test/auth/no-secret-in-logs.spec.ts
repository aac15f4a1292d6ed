import { expect, test } from '@jest/globals';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { createApp } from '../../src/app.setup.js';
import { createKey } from '../../src/auth/api-key.js';
import { issueKey } from '../support/api-keys.js';
import { startTestApp } from '../support/app.js';
import { rawRequest } from '../support/raw-request.js';

test('no key and no token reaches the log, whatever happens to the request', async () => {
  const first = await startTestApp();
  let log = '';
  const app = await createApp(first.env, pino({ level: 'trace' }, { write: (line: string) => (log += line) }));
  try {
    const { key } = await issueKey(first, ['account']);
    const wrong = createKey().key;
    await app.listen(0, '127.0.0.1');
    const url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
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
  } finally {
    await app.close();
    await first.close();
  }
});
