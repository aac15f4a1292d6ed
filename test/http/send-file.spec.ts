import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import express from 'express';
import { sendFile } from '../../src/http/send-file.js';
import { held } from '../support/held.js';

test('a caller that disconnects while the file is opened is no error, and the file is closed', async () => {
  const bytes = Readable.from([Buffer.from('data')]);
  const caller = new AbortController();
  let report: (sent: Promise<void>) => void;
  const sending = new Promise<{ sent: Promise<void> }>((done) => (report = (sent) => done({ sent })));
  const app = express().get('/file', (request, response) => {
    const open = async () => {
      caller.abort();
      await once(response, 'close');
      return bytes;
    };
    report(sendFile(request, response, { size: 4, etag: '"e"', contentType: 'video/mp4', open }));
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  const stop = held(async () => void (await new Promise((done) => server.close(done))));
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await expect(fetch(`http://127.0.0.1:${port}/file`, { signal: caller.signal })).rejects.toThrow('aborted');
  const { sent } = await sending;
  await expect(sent).resolves.toBeUndefined();
  expect(bytes.destroyed).toBe(true);
  await stop();
});
