import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import { SlowClient } from '../../support/slow-client.js';
import { flow, Hauler, ONE_SITE, TICKET } from '../support/hauler.js';
import { HostedCustomer } from '../support/hosted.js';
import { unique } from '../support/posts.js';
import { administer, listed, target } from '../support/target.js';

/** When the client closes its direction, in milliseconds after the last byte. */
const END_AFTER_MS = [0, 20, 500];
/** Longer than a new connection may be silent. */
const SILENCE_MS = 14_000;

const requestOf = (line: string, headers: readonly string[] = [], body = '') =>
  [
    `${line} HTTP/1.1`,
    'Host: x',
    ...headers,
    ...(body === '' ? [] : [`Content-Length: ${body.length}`]),
    '',
    body,
  ].join('\r\n');

describe('a client that closes its direction after its last request reads every answer (decision 10)', () => {
  let hauler: Hauler;
  let key: string;
  let customer: HostedCustomer;
  beforeAll(async () => {
    [hauler, customer] = await Promise.all([Hauler.create({ sites: ONE_SITE }), HostedCustomer.create()]);
    key = await hauler.key();
    await customer.upload(0, {}, sampleVideo(300_000));
    await hauler.push({ inboundFlow: flow(unique()) });
  });

  const push = (opening = key) =>
    requestOf(
      'POST /platform-api/v1/tickets',
      [`PLATFORM-API-KEY: ${opening}`, 'Content-Type: application/json'],
      JSON.stringify({ ...TICKET, inboundFlow: flow(unique()) }),
    );
  const admin = (path: string, ...headers: string[]) =>
    requestOf(`GET /admin/v1${path}`, [`Authorization: Bearer ${target.adminToken}`, ...headers]);

  /** Everything that comes before the server closes the connection. */
  async function answersOf(text: string, endAfterMs: number): Promise<string> {
    const client = await SlowClient.open(target.url);
    if (endAfterMs === 0) client.sendLast(text);
    else {
      client.send(text);
      await delay(endAfterMs);
      client.sendLast();
    }
    expect(await client.cutAfter).toBeLessThan(30_000);
    return client.answer;
  }
  const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);

  test.each(END_AFTER_MS)('of a ticket, %i ms after the last byte', async (endAfterMs) => {
    const answer = await answersOf(push(), endAfterMs);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain('"disposalTicketId"');
  });

  test('of a ticket that takes two seconds, whenever after the last byte', async () => {
    const slow = await Hauler.create({ sites: ONE_SITE });
    const scenario = { forSeconds: 600, parameters: { seconds: 2 } };
    await administer('PUT', `/sandbox/haulers/${slow.id}/scenarios/slow-answer`, scenario);
    const slowKey = await slow.key();
    const answers = await Promise.all(END_AFTER_MS.map((endAfterMs) => answersOf(push(slowKey), endAfterMs)));
    expect(answers.filter((answer) => !answer.includes('"disposalTicketId"'))).toEqual([]);
  });

  test('of a refused body, a path that is not known and a page', async () => {
    const refused = requestOf(
      'POST /platform-api/v1/tickets',
      ['Content-Type: text/plain', `PLATFORM-API-KEY: ${key}`],
      'x',
    );
    const requests = [refused, requestOf('GET /nope'), requestOf('GET /docs/')];
    const answers = await Promise.all(requests.map((request) => answersOf(request, 0)));
    expect(answers.flatMap(statuses)).toEqual(['415', '404', '200']);
  });

  test('of a file', async () => {
    const { body } = await customer.continuous();
    const { pathname, search } = new URL(body.data.recordings[0]?.downloadUrl ?? '');
    const answer = await answersOf(requestOf(`GET ${pathname}${search}`), 20);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    const client = await SlowClient.open(target.url);
    await client.sendLast(requestOf(`GET ${pathname}${search}`)).cutAfter;
    expect(client.received).toBeGreaterThan(300_000);
  });

  test('of a list as CSV', async () => {
    const answer = await answersOf(admin(`/tickets?haulerId=${hauler.id}`, 'Accept: text/csv'), 20);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain(hauler.id);
    // The last chunk.
    expect(answer).toMatch(/\r\n0\r\n\r\n$/);
  });

  test('and a body that ends before its announced length is refused', async () => {
    const answer = await answersOf(push().slice(0, -20), 0);
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*"code":"INVALID_PAYLOAD"/);
  });
});

describe('requests that are sent before the answer to the first one (decision 63)', () => {
  const first = requestOf('GET /health/live');
  const answersIn = (text: string) => text.split('HTTP/1.1 ').length - 1;

  test.each([2, 64, 2_000])('are not served: of %i the first is answered, and the connection ends', async (count) => {
    const client = (await SlowClient.open(target.url)).send(first.repeat(count));
    expect(await client.cutAfter).toBeLessThan(30_000);
    expect(client.answer).toMatch(/^HTTP\/1\.1 200 (?:.*\r\n)*?Connection: close\r\n/);
    expect(answersIn(client.answer)).toBe(1);
  });

  test('have no effect: of five tickets the first is stored', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const headers = [`PLATFORM-API-KEY: ${await hauler.key()}`, 'Content-Type: application/json'];
    const pushes = Array.from({ length: 5 }, () =>
      requestOf('POST /platform-api/v1/tickets', headers, JSON.stringify({ ...TICKET, inboundFlow: flow(unique()) })),
    );
    const client = (await SlowClient.open(target.url)).sendLast(pushes.join(''));
    await client.cutAfter;
    expect(answersIn(client.answer)).toBe(1);
    expect(client.answer).toContain('"disposalTicketId"');
    expect(await listed(`/tickets?haulerId=${hauler.id}`)).toHaveLength(1);
  });

  test('end a page that is larger than the buffers of the connection after its last byte', async () => {
    const path = 'GET /docs/swagger-ui-bundle.js';
    const alone = await SlowClient.open(target.url);
    await alone.sendLast(requestOf(path)).cutAfter;
    const client = await SlowClient.open(target.url);
    await client.send(requestOf(path) + first.repeat(100)).cutAfter;
    const headerBytes = (text: string) => text.indexOf('\r\n\r\n');
    expect(client.received - headerBytes(client.answer)).toBe(alone.received - headerBytes(alone.answer));
  });

  test('are served one after another where each follows the answer before it', async () => {
    const client = await SlowClient.open(target.url);
    for (let count = 1; count <= 20; count++) {
      client.send(first);
      await eventually(() => expect(client.answer.split('"status":"ok"')).toHaveLength(count + 1));
    }
    client.close();
  });
});

describe('a connection that is opened early (decisions 10, 63)', () => {
  test.concurrent('and has sent nothing is closed without an answer', async () => {
    const client = await SlowClient.open(target.url);
    expect(await client.cutAfter).toBeLessThan(30_000);
    expect(client.answer).toBe('');
  });

  test.concurrent('never has an answer before its first request', async () => {
    const client = await SlowClient.open(target.url);
    await delay(SILENCE_MS);
    client.sendLast(requestOf('GET /health/live'));
    await client.cutAfter;
    expect(client.answer).not.toContain(' 408 ');
  });

  test.concurrent('serves a request that comes within some seconds', async () => {
    const client = await SlowClient.open(target.url);
    await delay(5_000);
    await client.sendLast(requestOf('GET /health/live')).cutAfter;
    expect(client.answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  test.concurrent.each(['G', 'POST /platform-api/v1/tickets HTTP/1.1\r\nHost: x\r\nX-'])(
    'and has sent a part of a head is answered with 408: %j',
    async (text) => {
      const client = (await SlowClient.open(target.url)).send(text);
      expect(await client.cutAfter).toBeLessThan(30_000);
      expect(client.answer).toMatch(/^HTTP\/1\.1 408 [^]*"code":"INVALID_PAYLOAD"/);
    },
  );

  test.concurrent('so is a part of a second head', async () => {
    const client = (await SlowClient.open(target.url)).send(`${requestOf('GET /health/live')}GET /`);
    expect(await client.cutAfter).toBeLessThan(30_000);
    expect(client.answer).toMatch(/^HTTP\/1\.1 200 [^]*HTTP\/1\.1 408 /);
  });
});
