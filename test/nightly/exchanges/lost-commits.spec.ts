import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { DEMO } from '../../../src/demo/demo-data.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import type { Reply } from '../../support/http.js';
import { eventually } from '../../support/eventually.js';
import { exchangeInFull } from '../../support/exchange-scene.js';
import { type SandboxScene, startSandboxScene } from '../../support/sandbox-scene.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';

let scene: SandboxScene;
let proxy: TcpProxy;
/** An instance behind a network that may lose what its database answers. */
let service: TestApp;
beforeAll(async () => {
  scene = await startSandboxScene();
  const url = new URL(scene.service.env.DATABASE_URL);
  proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(proxy.port);
  service = await startTestApp({ on: scene.service, env: { DATABASE_URL: url.href } });
});
afterAll(async () => {
  await service.close();
  await scene.service.close();
});

const material = { id: DEMO.materialId, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' };
const ticket = (ticketNumber: string, quantity = 1) => ({
  siteId: DEMO.siteId,
  materials: [{ ...material, quantity }],
  inboundFlow: { ticketNumber, updatedAt: `2026-11-20T14:00:0${quantity}Z` },
});
const post = (path: string, body: object, headers = {}) =>
  service.call('POST', `/platform-api/v1/${path}`, {
    headers: { 'PLATFORM-API-KEY': scene.platformKey, ...headers },
    body,
  });
const exists = async (sql: string, value: string): Promise<void> =>
  eventually(async () => expect(await scene.service.dataSource.query(sql, [value])).toHaveLength(1));
const found = ({ headers }: Reply) =>
  eventually(() => exchangeInFull(service, { requestId: headers.get('x-request-id') ?? '' }));

/** Sends a call whose commit succeeds and whose connection is lost before the result of the commit comes. */
async function losingTheAnswerTo(
  statement: string,
  call: () => Promise<Reply>,
  isStored: () => Promise<void>,
): Promise<Reply> {
  // The instance knows key and settings, and has its connections.
  expect((await post('accounts', { accountName: `Before ${Math.random()}` })).status).toBe(200);
  proxy.loseAnswersTo(statement);
  try {
    const reply = call();
    await isStored();
    proxy.reset();
    return await reply;
  } finally {
    proxy.pass();
  }
}

const ticketId = { kind: 'ticketId', value: expect.any(String) };
const revision = 'SELECT FROM ticket_revisions WHERE strpos(body, $1) > 0';
const account = 'SELECT FROM accounts WHERE account_name = $1';

describe('a commit whose result was lost (decision 66)', () => {
  test.each([
    ['a push', 'IN-LOST-1', 'IN-LOST-1', {}],
    ['a push with a key', 'IN-LOST-2', 'COMMIT', { 'Idempotency-Key': 'lost-push' }],
  ])('%s is answered with 503, and its exchange has the result and the id', async (_name, number, last, headers) => {
    const reply = await losingTheAnswerTo(
      last,
      () => post('tickets', ticket(number), headers),
      () => exists(revision, number),
    );
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1']);
    const exchange = await found(reply);
    expect(exchange).toMatchObject({ status: 503, result: 'created' });
    const repeated = await post('tickets', ticket(number), headers);
    const { disposalTicketId } = repeated.body as unknown as { disposalTicketId: string };
    expect(exchange.references).toContainEqual({ kind: 'ticketId', value: disposalTicketId });
  });

  test('a push without flows, which always makes a ticket', async () => {
    const reply = await losingTheAnswerTo(
      'no flow of this',
      () => post('tickets', { siteId: DEMO.siteId, materials: [{ ...material, name: 'no flow of this' }] }),
      () => exists(revision, 'no flow of this'),
    );
    expect(reply.status).toBe(503);
    expect(await found(reply)).toMatchObject({ result: 'created', references: expect.arrayContaining([ticketId]) });
  });

  test('a push that updates a ticket', async () => {
    await post('tickets', ticket('IN-LOST-3'));
    const reply = await losingTheAnswerTo(
      '"updated"',
      () => post('tickets', ticket('IN-LOST-3', 2)),
      () => exists(`${revision} AND revision = 2`, 'IN-LOST-3'),
    );
    expect(reply.status).toBe(503);
    expect(await found(reply)).toMatchObject({ status: 503, result: 'updated' });
  });

  test.each([
    ['an account', 'Lost 1', 'Lost 1', {}],
    ['an account with a key', 'Lost 2', 'COMMIT', { 'Idempotency-Key': 'lost-account' }],
  ])('%s has its result and id', async (_name, accountName, last, headers) => {
    const reply = await losingTheAnswerTo(
      last,
      () => post('accounts', { accountName }, headers),
      () => exists(account, accountName),
    );
    expect(reply.status).toBe(503);
    const exchange = await found(reply);
    expect(exchange).toMatchObject({ status: 503, result: 'created' });
    const { body } = await scene.service.admin<{ data: { accountId: string }[] }>(
      'GET',
      `/accounts?search=${encodeURIComponent(accountName)}`,
    );
    expect(exchange.references).toContainEqual({ kind: 'accountId', value: body.data[0]?.accountId });
  });

  test('a push that did not reach the database has no result', async () => {
    expect((await post('accounts', { accountName: 'Ready' })).status).toBe(200);
    proxy.freeze();
    const pending = post('tickets', ticket('IN-LOST-4'));
    await delay(300);
    proxy.pass();
    const reply = await pending;
    expect(reply.status).toBe(503);
    const exchange = await eventually(() => found(reply));
    expect(exchange).toMatchObject({ status: 503, errorCode: 'INTERNAL_ERROR' });
    expect(exchange.result).not.toBe('created');
  });
});
