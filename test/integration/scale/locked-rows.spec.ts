import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { nameDigest } from '../../../src/accounts/account-name.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { whileNameIsTaken, whileTableIsLocked, whileTicketIs } from '../../support/rows.js';
import { ScaleHouse } from '../../support/scale-house.js';

/** The service answers within this time (decision 13); the machine may be busy. */
const MAX_ANSWER_MS = 6_000;

let app: TestApp;
let house: ScaleHouse;
beforeAll(async () => {
  app = await startTestApp();
  house = await ScaleHouse.open(app);
});
afterAll(() => app.close());

const flow = (ticketNumber: string, minute: number) => ({
  inboundFlow: { ticketNumber, updatedAt: `2026-01-31T08:${String(10 + minute)}:00Z` },
});

async function timed<R>(call: Promise<R>): Promise<R & { readonly ms: number }> {
  const started = performance.now();
  const reply = await call;
  return { ...reply, ms: performance.now() - started };
}

const push = (name: string, minute: number, headers: Record<string, string> = {}) =>
  house.push(house.ticket(flow(name, minute)), headers);

describe('a ticket whose row another transaction has locked', () => {
  test.each([
    ['without a key', () => ({})],
    ['with an Idempotency-Key', (name: string, minute: number) => ({ 'Idempotency-Key': `${name}-${minute}` })],
  ])(
    'waits alone, pushed %s, and is stored after its end (decisions 13, 67)',
    async (how, headers) => {
      const send = (name: string, minute: number) => push(name, minute, headers(name.replaceAll(' ', '-'), minute));
      const names = Array.from({ length: 12 }, (_, i) => `${how} ${i}`);
      const [locked = '', ...others] = names;
      const first = await Promise.all(names.map((name) => send(name, 0)));
      expect(first.map(({ status }) => status)).toEqual(names.map(() => 200));
      await whileTicketIs(app, 'locked', first[0]?.body.disposalTicketId ?? '', async (release) => {
        const waiting = send(locked, 1);
        const answered = await Promise.all([...others, `${how} new`].map((name) => send(name, 1)));
        expect(answered.map(({ status }) => status)).toEqual(answered.map(() => 200));
        // Another push of the same ticket delays nobody either.
        const again = send(locked, 2);
        expect((await send(`${how} newer`, 1)).status).toBe(200);
        await release();
        expect([(await waiting).status, (await again).status]).toEqual([200, 200]);
      });
      expect(await house.revisions(first[0]?.body.disposalTicketId ?? '')).toHaveLength(3);
    },
    30_000,
  );
});

const create = (key: string, accountName: string, idempotencyKey?: string) =>
  timed(
    app.call<{ accountId?: string }>('POST', '/platform-api/v1/accounts', {
      headers: { 'PLATFORM-API-KEY': key, ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }) },
      body: { accountName },
    }),
  );

describe('an account whose name another transaction is about to take', () => {
  test('waits alone: ten repeats of its key hold no connection, and other accounts with keys are created (decision 67)', async () => {
    const { key } = await issueKey(app, ['account']);
    const { body } = await create(key, 'First');
    await whileNameIsTaken(app, body.accountId ?? '', nameDigest('Contended'), async (release) => {
      const repeats = Array.from({ length: 10 }, () => create(key, 'Contended', 'one-key'));
      const others = await Promise.all([
        create(key, 'Other', 'other-key'),
        create(key, 'Without a key'),
        timed(app.admin('GET', '/accounts')),
      ]);
      expect(others.map(({ status }) => status)).toEqual([200, 200, 200]);
      await release();
      const answers = await Promise.all(repeats);
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect(new Set(answers.map((answer) => answer.body.accountId)).size).toBe(1);
    });
  });
});

test('a ticket and an account that stay locked are refused with 503 and Retry-After in time (decision 13)', async () => {
  const { key } = await issueKey(app, ['account']);
  const { body: account } = await create(key, 'Second');
  const { body: ticket } = await push('stuck', 0);
  await whileTicketIs(app, 'locked', ticket.disposalTicketId, () =>
    whileNameIsTaken(app, account.accountId ?? '', nameDigest('Stuck'), async () => {
      const refused = await Promise.all([
        timed(push('stuck', 1)),
        ...['a', 'a', 'b', undefined].map((one) => create(key, 'Stuck', one)),
      ]);
      for (const { status, headers, ms } of refused) {
        expect([status, headers.get('retry-after')]).toEqual([503, '1']);
        expect(ms).toBeLessThan(MAX_ANSWER_MS);
      }
    }),
  );
  expect([(await push('stuck', 1)).status, (await create(key, 'Stuck', 'a')).status]).toEqual([200, 200]);
});

test('a key that cannot be checked in time is 503 with Retry-After, and stays valid (decision 13)', async () => {
  const { key } = await issueKey(app, ['account']);
  await whileTableIsLocked(app, 'api_keys', async () => {
    const { status, headers, ms } = await create(key, 'Third');
    expect([status, headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[1-9]\d*$/)]);
    expect(ms).toBeLessThan(MAX_ANSWER_MS);
  });
  expect((await create(key, 'Third')).status).toBe(200);
});
