import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ExplainedExchangeList } from '../../../src/contracts/admin/exchange.dto.js';
import { DEMO } from '../../../src/demo/demo-data.js';
import { ExchangeLog } from '../../../src/exchanges/exchange-log.service.js';
import { eventually } from '../../support/eventually.js';
import { type SandboxScene, startSandboxScene } from '../../support/sandbox-scene.js';

let scene: SandboxScene;
beforeAll(async () => {
  scene = await startSandboxScene();
});
afterAll(() => scene.service.close());

type Body = Readonly<Record<string, unknown>>;
type Headers = Readonly<Record<string, string>>;
interface Push {
  readonly body: Body;
  readonly headers?: Headers;
  /** The client closes the connection before the answer. */
  readonly isImpatient?: boolean;
}

const flow = (ticketNumber: string, second = 5) => ({ ticketNumber, updatedAt: `2026-11-20T14:00:0${second}Z` });
const ticket = (inboundFlow: object, quantity = 1): Body => ({
  siteId: DEMO.siteId,
  materials: [{ id: DEMO.materialId, name: 'Debris', quantity, unitOfMeasure: 'Ton' }],
  inboundFlow,
});

async function send({ body, headers = {}, isImpatient = false }: Push): Promise<string> {
  const requestId = randomUUID();
  const slow = { forSeconds: 1, parameters: { seconds: 1 } };
  if (isImpatient) await scene.start(`haulers/${scene.haulerId}`, 'slow-answer', slow);
  const options = {
    method: 'POST',
    headers: {
      'PLATFORM-API-KEY': scene.platformKey,
      'Content-Type': 'application/json',
      'X-Request-Id': requestId,
      ...headers,
    },
    body: JSON.stringify(body),
    ...(isImpatient ? { signal: AbortSignal.timeout(300) } : {}),
  };
  await fetch(`${scene.service.url}/platform-api/v1/tickets`, options)
    .then((reply) => reply.text())
    .catch(() => 'no answer');
  return requestId;
}

/** One call with the key of the push. */
const explanationOf = (filter: string) =>
  eventually(async () => {
    await scene.service.app.get(ExchangeLog).flush();
    const { body } = await scene.service.call<ExplainedExchangeList>('GET', `/partner/v1/exchanges?${filter}`, {
      headers: { 'PLATFORM-API-KEY': scene.platformKey },
    });
    expect(body.data).not.toEqual([]);
    return body.data[0]?.explanation ?? '';
  });

const LOST = { 'Sandbox-Scenario': 'answer-lost' };
const NOTHING = 'Nothing was stored.';
const AGAIN = 'Send the same request again: nothing is stored twice.';
const IF_NEEDED = 'Send the same request again if you need it: nothing is stored twice.';
const STALE = 'The contents of 2026-11-20T14:00:05Z won: they were pushed with the key hb_';
const unknownMaterial = (inboundFlow: object): Body => ({
  ...ticket(inboundFlow),
  materials: [{ id: randomUUID(), name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' }],
});
const withKey = (body: Body, key: string, more: Headers = {}): Push => ({
  body,
  headers: { 'Idempotency-Key': key, ...more },
});
const refusedOnce = withKey(unknownMaterial(flow('K-422')), 'k-422');

/** What is pushed one after the other, and what the explanation of the last one says. */
const CASES: Record<string, [Push[], string[]]> = {
  'accepted: created': [[{ body: ticket(flow('A-1')) }], ['received 200', 'A new record was created. It is stored']],
  'accepted: updated': [
    [{ body: ticket(flow('A-2', 1)) }, { body: ticket(flow('A-2', 2), 2) }],
    ['this push updated it. Its contents are those of this push'],
  ],
  'accepted: unchanged': [
    [{ body: ticket(flow('A-3')) }, { body: ticket(flow('A-3')) }],
    ['already had exactly this content', 'nothing is left to do'],
  ],
  stale: [
    [{ body: ticket(flow('S-1')) }, { body: ticket(flow('S-1', 2), 2) }],
    [STALE, 'changed no contents', 'send it again with a newer updatedAt'],
  ],
  'refused: malformed': [
    [{ body: { ...ticket(flow('R-1')), siteId: 'x' } }],
    ['received 400', NOTHING, 'siteId must be a UUID', 'Correct the request'],
  ],
  'refused: more faults than are read': [
    [{ body: { ...ticket(flow('R-2')), siteId: 'x', materials: Array.from({ length: 60 }, () => ({})) } }],
    ['received 400', 'The response says: siteId must be a UUID'],
  ],
  'refused: unknown site': [
    [{ body: { ...ticket(flow('R-3')), siteId: randomUUID() } }],
    ['received 422', NOTHING, 'siteId must be the id, in your own system', 'Site'],
  ],
  'refused: unknown material': [
    [{ body: unknownMaterial(flow('R-4')) }],
    ['received 422', NOTHING, 'materials[0].id must be the id, in your own system'],
  ],
  'refused: two tickets': [
    [
      { body: ticket(flow('R-5')) },
      { body: { ...ticket({}), inboundFlow: undefined, outboundFlow: flow('R-6') } },
      { body: { ...ticket(flow('R-5')), outboundFlow: flow('R-6') } },
    ],
    ['received 422', NOTHING, 'inboundFlow.ticketNumber belongs to ticket 0', 'the other flow to ticket 0'],
  ],
  'refused: reused key': [
    [withKey(ticket(flow('K-1')), 'k-1'), withKey(ticket(flow('K-2')), 'k-1')],
    ['received 422', NOTHING, 'a new request needs a new key'],
  ],
  'replayed: accepted': [
    [withKey(ticket(flow('K-3')), 'k-3'), withKey(ticket(flow('K-3')), 'k-3')],
    ['this is the first response again, and nothing was done twice'],
  ],
  'replayed: refused': [
    [refusedOnce, refusedOnce],
    ['this is the first refusal again', NOTHING, 'with a new key'],
  ],
  'timed out: the client leaves': [
    [{ body: ticket(flow('T-1')), isImpatient: true }],
    ['received no response', 'The caller left', 'The answer would have been: created.', IF_NEEDED],
  ],
  'timed out: the service answers 503': [
    [{ body: ticket(flow('T-2')), headers: { 'Sandbox-Scenario': 'unavailable' } }],
    ['received 503', 'nothing is known to be stored', AGAIN, 'scenario unavailable.'],
  ],
  'answer lost: accepted': [
    [{ body: ticket(flow('L-1')), headers: LOST }],
    ['received no response', 'A new record was created. It is stored', IF_NEEDED],
  ],
  'answer lost: stale': [
    [{ body: ticket(flow('L-2')) }, { body: ticket(flow('L-2', 2), 2), headers: LOST }],
    ['received no response', STALE, 'changed no contents'],
  ],
  'answer lost: the repetition': [
    [{ body: ticket(flow('L-3')), headers: LOST }, { body: ticket(flow('L-3')) }],
    ['received 200', 'Nothing was written'],
  ],
  'answer lost: the repetition with its key': [
    [withKey(ticket(flow('L-4')), 'k-4', LOST), withKey(ticket(flow('L-4')), 'k-4')],
    ['received 200', 'this is the first response again'],
  ],
};

test.each(Object.entries(CASES))('one call explains a push that is %s', async (_case, [pushes, says]) => {
  let last = '';
  for (const push of pushes) last = await send(push);
  const explanation = await explanationOf(`requestId=${last}`);
  for (const words of says) expect(explanation).toContain(words);
  expect(explanation).not.toMatch(/undefined|null|\w The /);
});

test('a ticket number finds each of its pushes with its own explanation', async () => {
  await send({ body: ticket(flow('N-1')) });
  await send({ body: ticket(flow('N-1', 2), 2) });
  expect(await explanationOf('reference=ticketNumber:N-1&pageSize=1')).toContain(STALE);
});
