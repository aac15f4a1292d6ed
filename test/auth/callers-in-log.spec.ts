import { expect, test } from '@jest/globals';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { createApp } from '../../src/app.setup.js';
import { startTestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';

test('a request is logged with the shown prefix of its key, which need not have a hauler', async () => {
  const first = await startTestApp();
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) });
  const app = await createApp(first.env, logger);
  try {
    await app.listen(0, '127.0.0.1');
    const url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
    for (const [name, path] of [
      ['site', '/scale-platform/v1/sites'],
      ['vision', '/video-platform/v1/videos'],
    ] as const) {
      const issued = await first.admin<{ key: string; prefix: string }>('POST', '/api-keys', { interfaces: [name] });
      const { key, prefix } = issued.body;
      expect((await fetch(url + path, { headers: { 'API-KEY': key } })).status).toBe(400);
      expect((await fetch(url + path, { headers: { 'API-KEY': `${key}x` } })).status).toBe(401);
      await eventually(() => {
        const logged = lines.filter((line) => line['path'] === path);
        expect(logged.map(({ status, keyPrefix }) => [status, keyPrefix])).toEqual([
          [400, prefix],
          [401, undefined],
        ]);
      });
      expect(JSON.stringify(lines)).not.toContain(key);
    }
  } finally {
    await app.close();
    await first.close();
  }
});
