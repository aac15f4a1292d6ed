import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { flow, Hauler, ONE_SITE, type Plain, TICKET } from '../../acceptance/support/hauler.js';
import { type Answered, countOf, postAs, POSTS } from '../../acceptance/support/posts.js';
import { type OwnService, ownDatabase, startOwnService } from '../../acceptance/support/service.js';
import { listed, read } from '../../acceptance/support/target.js';

const [SCALE, ACCOUNT] = POSTS as [(typeof POSTS)[0], (typeof POSTS)[0]];

interface Exchange extends Plain {
  readonly id: string;
  readonly result?: string;
  readonly references: readonly { readonly kind: string; readonly value: string }[];
  readonly explanation?: string;
}

let proxy: TcpProxy;
/** An instance behind a network that may lose what its database answers. */
let hauler: Hauler;
/** The same hauler at an instance whose network is whole. */
let beside: Hauler;
beforeAll(async () => {
  const { url } = await ownDatabase();
  const path = new URL(url);
  proxy = await startTcpProxy({ host: path.hostname, port: Number(path.port) });
  path.port = String(proxy.port);
  const service = await startOwnService({ databaseUrl: path.href });
  const whole: OwnService = await startOwnService({ databaseUrl: url, beside: service });
  hauler = await Hauler.create({ service, sites: ONE_SITE });
  await hauler.key();
  beside = hauler.at(whole);
});

/** Sends a call whose commit succeeds and whose connection is lost before the result of the commit comes. */
async function losingTheAnswerTo(
  statement: string,
  call: () => Promise<Answered>,
  isStored: () => Promise<void>,
): Promise<Answered> {
  // The instance knows the key, and has its connections.
  expect((await postAs(hauler, ACCOUNT, ACCOUNT.body())).status).toBe(200);
  proxy.loseAnswersTo(statement);
  try {
    const reply = call();
    await eventually(isStored);
    proxy.reset();
    return await reply;
  } finally {
    proxy.pass();
  }
}

/** The exchange of a call, as a list shows it and by itself. */
async function exchangesOf({ headers }: Answered): Promise<[Exchange, Exchange]> {
  const filter = new URLSearchParams({ requestId: headers.get('x-request-id') ?? '' }).toString();
  const shown = await eventually(async () => {
    const { data } = await read<{ data: Exchange[] }>(`/exchanges?${filter}`, beside.service);
    expect(data).toHaveLength(1);
    return data[0] as Exchange;
  });
  return [shown, await read<Exchange>(`/exchanges/${shown.id}`, beside.service)];
}

async function expectDecided(reply: Answered, result: string, reference: { kind: string; value: string }) {
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1']);
  for (const exchange of await exchangesOf(reply)) {
    expect(exchange).toMatchObject({ status: 503, errorCode: 'INTERNAL_ERROR', result });
    expect(exchange.references).toContainEqual(reference);
    if (exchange.explanation !== undefined) expect(exchange.explanation).toContain('nothing is stored twice');
  }
}

const tickets = () => listed<Plain>(`/tickets?haulerId=${hauler.id}`, beside.service);
const accountNamed = async (accountName: string): Promise<Plain[]> =>
  (await listed<Plain>(`/accounts?haulerId=${hauler.id}`, beside.service)).filter(
    (account) => account['accountName'] === accountName,
  );

describe('a commit whose result was lost is 503, and its exchange has the result and the id when it is read (decision 66)', () => {
  test.each([
    ['a push', 'IN-LOST-1', 'IN-LOST-1', {}],
    ['a push with an Idempotency-Key', 'IN-LOST-2', 'COMMIT', { 'Idempotency-Key': 'lost-push' }],
  ])('%s', async (_what, number, statement, headers) => {
    const ticket = { ...TICKET, inboundFlow: flow(number) };
    const before = await countOf(beside, SCALE);
    const reply = await losingTheAnswerTo(
      statement,
      () => postAs(hauler, SCALE, ticket, headers),
      async () => expect(await countOf(beside, SCALE)).toBe(before + 1),
    );
    const repeated = await postAs(hauler, SCALE, ticket, headers);
    await expectDecided(reply, 'created', { kind: 'ticketId', value: String(repeated.body['disposalTicketId']) });
  });

  test('a push without flows, which always makes a ticket', async () => {
    const known = new Set((await tickets()).map(({ id }) => id));
    const materials = [{ ...TICKET.materials[0], name: 'no flow of this' }];
    const reply = await losingTheAnswerTo(
      'no flow of this',
      () => postAs(hauler, SCALE, { ...TICKET, materials }),
      async () => expect(await tickets()).toHaveLength(known.size + 1),
    );
    const made = (await tickets()).find(({ id }) => !known.has(id));
    const id = String(made?.['id']);
    await expectDecided(reply, 'created', { kind: 'ticketId', value: id });
    const history = await listed<Plain>(`/tickets/${id}/history`, beside.service);
    expect(history).toEqual([expect.objectContaining({ event: 'push', result: 'created', status: 503 })]);
  });

  test('a push that updates a ticket', async () => {
    const first = await postAs(hauler, SCALE, { ...TICKET, inboundFlow: flow('IN-LOST-3') });
    const id = String(first.body['disposalTicketId']);
    const customFields = { corrected: 'yes' };
    const reply = await losingTheAnswerTo(
      '"updated"',
      () => postAs(hauler, SCALE, { ...TICKET, inboundFlow: flow('IN-LOST-3', 1), customFields }),
      async () => expect((await tickets()).find((ticket) => ticket['id'] === id)).toMatchObject({ customFields }),
    );
    await expectDecided(reply, 'updated', { kind: 'ticketId', value: id });
  });

  test.each([
    ['an account', 'Lost 1', 'Lost 1', {}],
    ['an account with an Idempotency-Key', 'Lost 2', 'COMMIT', { 'Idempotency-Key': 'lost-account' }],
  ])('%s', async (_what, accountName, statement, headers) => {
    const reply = await losingTheAnswerTo(
      statement,
      () => postAs(hauler, ACCOUNT, { accountName }, headers),
      async () => expect(await accountNamed(accountName)).toHaveLength(1),
    );
    const [account] = await accountNamed(accountName);
    await expectDecided(reply, 'created', { kind: 'accountId', value: String(account?.['accountId']) });
  });
});

test.each([
  ['a push', SCALE, () => ({ ...TICKET, inboundFlow: flow('IN-LOST-4') })],
  ['an account', ACCOUNT, () => ({ accountName: 'Lost 4' })],
] as const)(
  '%s that did not reach the database has no result, also when it was sent again and stored then (decision 66)',
  async (_what, post, body) => {
    expect((await postAs(hauler, ACCOUNT, ACCOUNT.body())).status).toBe(200);
    proxy.freeze();
    const pending = postAs(hauler, post, body());
    await delay(300);
    proxy.pass();
    const reply = await pending;
    expect(reply.status).toBe(503);
    await eventually(async () => expect((await postAs(hauler, post, body())).status).toBe(200));
    for (const exchange of await exchangesOf(reply)) {
      expect(exchange).toMatchObject({ status: 503, errorCode: 'INTERNAL_ERROR', result: '503 INTERNAL_ERROR' });
      expect(exchange.references.map(({ kind }) => kind)).not.toContain(post === SCALE ? 'ticketId' : 'accountId');
    }
  },
);
