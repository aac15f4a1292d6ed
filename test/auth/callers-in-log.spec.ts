import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { createApp } from '../../src/app.setup.js';
import { startTestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';

test('a request is logged with its id, the shown prefix of its key, and the hauler of the key', async () => {
  const first = await startTestApp();
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) });
  const app = await createApp(first.env, logger);
  try {
    await app.listen(0, '127.0.0.1');
    const url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
    /** The line of that response, which is logged after it. */
    const lineOf = (reply: Response) =>
      eventually(() => {
        const line = lines.find(({ requestId }) => requestId === reply.headers.get('x-request-id'));
        expect(line).toBeDefined();
        return line;
      });
    for (const [name, path, haulerId] of [
      ['site', '/scale-platform/v1/sites', undefined],
      ['vision', '/video-platform/v1/videos', undefined],
      ['site', '/scale-platform/v1/sites', randomUUID()],
    ] as const) {
      const request = { interfaces: [name], haulerId };
      const issued = await first.admin<{ key: string; prefix: string }>('POST', '/api-keys', request);
      const { key, prefix } = issued.body;
      const ask = (sent: string) => fetch(url + path, { headers: { 'API-KEY': sent } });
      const known = { method: 'GET', path, status: 400, keyPrefix: prefix, ...(haulerId && { haulerId }) };
      expect(await lineOf(await ask(key))).toMatchObject(known);
      const line = await lineOf(await ask(`${key}x`));
      expect(line).toMatchObject({ method: 'GET', path, status: 401 });
      expect([line?.['keyPrefix'], line?.['haulerId']]).toEqual([undefined, undefined]);
      expect(JSON.stringify(lines)).not.toContain(key);
    }
  } finally {
    await app.close();
    await first.close();
  }
});
