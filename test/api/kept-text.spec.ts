import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import { cacheText } from '../../src/docs/swagger.js';
import { startTestApp, type TestApp } from '../support/app.js';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

test('a text is made once, whoever asks for it', async () => {
  let made = 0;
  const server: Server = express()
    .get(
      '/text',
      cacheText(() => 'http://127.0.0.1'),
      (_request, response) => {
        response.type('text/yaml').send(`made: ${++made}`);
      },
    )
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/text`;
  const answers = await Promise.all(
    [{}, {}, { 'If-None-Match': '"x"' }].map(async (headers) => {
      const answer = await fetch(url, { headers });
      return [answer.status, answer.headers.get('content-type'), await answer.text()];
    }),
  );
  expect(answers).toEqual(Array(3).fill([200, 'text/yaml; charset=utf-8', 'made: 1']));
  server.close();
});

test.each([
  ['admin.json', 'application/json; charset=utf-8'],
  ['admin.yaml', 'text/yaml; charset=utf-8'],
])('/docs/%s has an entity tag, and is not sent to who has it', async (name, type) => {
  const [first, again] = [await service.call('GET', `/docs/${name}`), await service.call('GET', `/docs/${name}`)];
  const etag = first.headers.get('etag') ?? '';
  expect(etag).toMatch(/^"[\w-]{43}"$/);
  expect([again.status, again.headers.get('etag'), again.headers.get('content-type')]).toEqual([200, etag, type]);
  expect(again.text).toBe(first.text);
  expect(Number(again.headers.get('content-length'))).toBe(Buffer.byteLength(first.text));
  const known = await service.call('GET', `/docs/${name}`, { headers: { 'If-None-Match': `W/${etag}` } });
  expect([known.status, known.text, known.headers.get('etag')]).toEqual([304, '', etag]);
  const head = await service.call('HEAD', `/docs/${name}`);
  expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', etag]);
});
