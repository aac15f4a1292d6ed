import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SCALE_API } from '../../../src/contracts/scale/scale.api.js';
import { receivingBytes } from '../../../src/core/http/body-reader.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { SlowClient } from '../../support/slow-client.js';

const TICKETS = `${SCALE_API.prefix}${SCALE_API.routes.createTicket.path}`;

describe('while all places but the reserved ones are taken', () => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startTestApp({ limits: { connections: 1, reservedConnections: 2 } });
    const { key } = await issueKey(service, ['scale']);
    // The service works for it: it is closed for no other connection.
    const lines = ['Content-Type: application/json', `PLATFORM-API-KEY: ${key}`, 'Content-Length: 1000'];
    await open(`POST ${TICKETS}`, ...lines);
    await eventually(async () => expect(receivingBytes(service.app.getHttpAdapter().getInstance())).toBe(1000));
  });
  afterAll(() => service.close());

  const open = async (line: string, ...headers: string[]) =>
    (await SlowClient.open(service.url)).send([`${line} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n'));

  async function answerTo(line: string, ...headers: string[]): Promise<string> {
    const client = await open(line, ...headers);
    await client.cutAfter;
    return client.answer;
  }

  test.each(['GET /health/live', 'GET /console/api/session'])('%s is served', async (line) => {
    expect(await answerTo(line)).toMatch(/^HTTP\/1\.1 (200|401) (?:.*\r\n)*?Connection: close\r\n/);
  });

  test.each([`POST ${TICKETS}`, 'GET /docs', 'GET /healthy'])('%s is 503, and is counted', async (line) => {
    const answer = await answerTo(line, 'X-Request-Id: of-the-caller');
    expect(answer).toMatch(/^HTTP\/1\.1 503 (?:.*\r\n)*?X-Request-Id: of-the-caller\r\n/);
    expect(answer).toMatch(/^Retry-After: 1\r$/m);
    expect(answer).toMatch(/"code":"INTERNAL_ERROR","message":"too many connections are open; try again shortly"/);
    const metrics = await answerTo('GET /metrics', `Authorization: Bearer ${service.env.ADMIN_TOKEN}`);
    expect(metrics).toMatch(/^overload_refusals_total\{reason="connections"\} [1-9]/m);
  });
});
