import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { nameDigest } from '../../../src/accounts/account-name.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { whileNameIsTaken, whileTicketIs } from '../../support/rows.js';
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

describe.each([
  ['without a key', () => ({})],
  ['with an Idempotency-Key', (name: string) => ({ 'Idempotency-Key': name })],
])('a ticket whose row another transaction has locked, pushed %s', (how, headers) => {
  const push = (name: string, minute: number) =>
    house.push(house.ticket(flow(name, minute)), headers(`${name} ${minute}`.replaceAll(' ', '-')));

  test.each(['locked', 'changed'] as const)(
    '%s by another transaction: waits alone, and is stored after its end (decisions 13, 67)',
    async (what) => {
      const names = Array.from({ length: 12 }, (_, i) => `${how} ${what} ${i}`);
      const [locked = '', ...others] = names;
      const first = await Promise.all(names.map((name) => push(name, 0)));
      expect(first.map(({ status }) => status)).toEqual(names.map(() => 200));
      await whileTicketIs(app, what, first[0]?.body.disposalTicketId ?? '', async (release) => {
        const waiting = push(locked, 1);
        const answered = await Promise.all([...others, `${how} ${what} new`].map((name) => push(name, 1)));
        expect(answered.map(({ status }) => status)).toEqual(answered.map(() => 200));
        // Another push of the same ticket delays nobody either.
        const again = push(locked, 2);
        expect((await push(`${how} ${what} newer`, 1)).status).toBe(200);
        await release();
        expect([(await waiting).status, (await again).status]).toEqual([200, 200]);
      });
      expect(await house.revisions(first[0]?.body.disposalTicketId ?? '')).toHaveLength(3);
    },
    30_000,
  );

  test('that stays locked is refused with 503 and Retry-After in time (decision 13)', async () => {
    const name = `${how} stuck`;
    const { body } = await push(name, 0);
    await whileTicketIs(app, 'locked', body.disposalTicketId, async () => {
      const refused = await timed(push(name, 1));
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect(refused.ms).toBeLessThan(MAX_ANSWER_MS);
    });
    expect((await push(name, 1)).status).toBe(200);
  });
});

describe('an account whose name another transaction is about to take', () => {
  const create = (key: string, accountName: string, idempotencyKey?: string) =>
    timed(
      app.call<{ accountId?: string }>('POST', '/platform-api/v1/accounts', {
        headers: { 'PLATFORM-API-KEY': key, ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }) },
        body: { accountName },
      }),
    );
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

  test('is refused with 503 in time if the other transaction does not end (decision 13)', async () => {
    const { key } = await issueKey(app, ['account']);
    const { body } = await create(key, 'First');
    await whileNameIsTaken(app, body.accountId ?? '', nameDigest('Stuck'), async () => {
      const refused = await Promise.all(['a', 'a', 'b', undefined].map((one) => create(key, 'Stuck', one)));
      for (const { status, ms } of refused) {
        expect(status).toBe(503);
        expect(ms).toBeLessThan(MAX_ANSWER_MS);
      }
    });
    expect((await create(key, 'Stuck', 'a')).status).toBe(200);
  });
});
