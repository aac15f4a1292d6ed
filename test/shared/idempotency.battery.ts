import { beforeAll, describe, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import type { Reply } from '../support/http.js';
import { rawRequest } from '../support/raw-request.js';
import { callerOf, type Caller, type PostEndpoint, pathsOf } from './post-endpoint.js';

export interface IdempotentEndpoint extends PostEndpoint {
  /** The answer to the same key with another body. */
  readonly reused: { readonly status: 409 | 422; readonly code: string };
  /** A body that the business refuses with that same status. */
  readonly refused: (partner: Caller) => Promise<Readonly<Record<string, unknown>>>;
  /** The table of what the endpoint creates, a row of a hauler each. */
  readonly table: string;
}

/** What `Idempotency-Key` promises (decision 16). */
export function describeIdempotency(endpoint: IdempotentEndpoint, service: () => TestApp): void {
  const { api, path, reused, table } = endpoint;
  let partner: Caller;
  let keys = 0;
  const newKey = () => `key-${++keys}`;
  const under = (key: string) => ({ 'Idempotency-Key': key });
  const replayed = (reply: Reply) => reply.headers.get('idempotency-replayed');

  async function created(of = partner): Promise<number> {
    const [row] = await service().dataSource.query<[{ n: number }]>(
      `SELECT count(*)::int AS n FROM ${table} WHERE hauler_id = $1`,
      [of.haulerId],
    );
    return row.n;
  }

  /** The headers that belong to the answer, without those of the moment. */
  function own({ headers }: Reply): Record<string, string> {
    const ofTheMoment = ['date', 'x-request-id', 'idempotency-replayed', 'connection', 'keep-alive'];
    return Object.fromEntries([...headers].filter(([name]) => !ofTheMoment.includes(name)));
  }

  function expectReplay(again: Reply, first: Reply): void {
    expect(again.status).toBe(first.status);
    expect(again.text).toBe(first.text);
    expect(own(again)).toEqual(own(first));
    expect(replayed(again)).toBe('true');
  }

  describe(`Idempotency-Key at POST ${path}`, () => {
    beforeAll(async () => {
      partner = await callerOf(endpoint, service());
    });

    test('the same key and body: the first answer again, and nothing is done twice', async () => {
      const before = await created();
      const [body, headers] = [endpoint.body(), under(newKey())];
      const first = await partner.post(body, headers);
      expect([first.status, replayed(first)]).toEqual([200, null]);
      for (let i = 0; i < 3; i++) expectReplay(await partner.post(body, headers), first);
      expect(await created()).toBe(before + 1);
    });

    test('without a key nothing is replayed', async () => {
      expect(replayed(await partner.post(endpoint.body()))).toBeNull();
    });

    test('the same key with another body is refused, byte for byte; the first answer stays', async () => {
      const [body, headers] = [endpoint.body(), under(newKey())];
      const first = await partner.post(body, headers);
      const before = await created();
      for (const other of [endpoint.body(), JSON.stringify(body, null, 1), `${JSON.stringify(body)} `]) {
        const reply = await partner.post(other, headers);
        expect(reply.status).toBe(reused.status);
        expect(reply.body).toMatchObject({
          success: false,
          error: {
            code: reused.code,
            details: { reason: 'IDEMPOTENCY_KEY_REUSED', violations: [{ path: 'Idempotency-Key' }] },
          },
        });
        expect(replayed(reply)).toBeNull();
      }
      expect(await created()).toBe(before);
      expectReplay(await partner.post(body, headers), first);
    });

    test('a refusal of the business is kept too', async () => {
      const [body, headers] = [await endpoint.refused(partner), under(newKey())];
      const first = await partner.post(body, headers);
      expect([first.status, replayed(first)]).toEqual([reused.status, null]);
      expect(first.body.error.details?.reason).not.toBe('IDEMPOTENCY_KEY_REUSED');
      expectReplay(await partner.post(body, headers), first);
      expect((await partner.post(endpoint.body(), headers)).body.error.details?.reason).toBe('IDEMPOTENCY_KEY_REUSED');
    });

    test('400, 401, 413 and 415 are not kept', async () => {
      const headers = under(newKey());
      const body = JSON.stringify(endpoint.body());
      const wrongKey = { ...headers, [api.keyHeader]: 'wrong' };
      expect((await partner.post('{}', headers)).status).toBe(400);
      expect((await partner.post(body, wrongKey)).status).toBe(401);
      expect((await partner.post(body.padEnd(service().env.HTTP_BODY_LIMIT + 1), headers)).status).toBe(413);
      expect((await partner.post(body, { ...headers, 'Content-Type': 'text/plain' })).status).toBe(415);
      const first = await partner.post(body, headers);
      expect([first.status, replayed(first)]).toEqual([200, null]);
    });

    test('the body is validated first: a malformed one is 400 under a used key', async () => {
      const [body, headers] = [endpoint.body(), under(newKey())];
      await partner.post(body, headers);
      expect((await partner.post('{', headers)).status).toBe(400);
      expect((await partner.post({}, headers)).status).toBe(400);
    });

    test('a failure of ours is not kept, and leaves nothing', async () => {
      const { dataSource } = service();
      const [body, headers] = [endpoint.body(), under(newKey())];
      const before = await created();
      await dataSource.query(`
        CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$;
        CREATE TRIGGER fail BEFORE INSERT ON ${table} EXECUTE FUNCTION fail()`);
      try {
        for (let i = 0; i < 2; i++) {
          const reply = await partner.post(body, headers);
          expect([reply.status, reply.body.error.code]).toEqual([500, 'INTERNAL_ERROR']);
          expect(reply.text).not.toContain('broken');
        }
      } finally {
        await dataSource.query('DROP FUNCTION fail CASCADE');
      }
      expect(await created()).toBe(before);
      const first = await partner.post(body, headers);
      expect([first.status, replayed(first)]).toEqual([200, null]);
    });

    test("a key is the hauler's own", async () => {
      const other = await callerOf(endpoint, service());
      const headers = under(newKey());
      const body = endpoint.body();
      const first = await partner.post(body, headers);
      const reply = await other.post(body, headers);
      expect([replayed(first), replayed(reply)]).toEqual([null, null]);
      expect(reply.text).not.toBe(first.text);
    });

    test('a key is kept for 24 hours', async () => {
      const [body, headers] = [endpoint.body(), under(newKey())];
      const age = (interval: string) =>
        service().dataSource.query('UPDATE idempotency_keys SET created_at = now() - $2::interval WHERE key = $1', [
          headers['Idempotency-Key'],
          interval,
        ]);
      const first = await partner.post(body, headers);
      await age('23 hours 59 minutes');
      expectReplay(await partner.post(body, headers), first);
      await age('24 hours 1 second');
      const later = await partner.post(endpoint.body(), headers);
      expect([later.status, replayed(later)]).toEqual([200, null]);
    });

    test('30 at once, on two instances: one does the work, the others wait and get its answer', async () => {
      const second = await startTestApp({ on: service() });
      try {
        const before = await created();
        const [body, headers] = [endpoint.body(), under(newKey())];
        const replies = await Promise.all(
          Array.from({ length: 30 }, (_, i) => partner.post(body, headers, i % 2 === 0 ? service() : second)),
        );
        const first = replies.find((reply) => replayed(reply) === null) as Reply;
        expect(first.status).toBe(200);
        const others = replies.filter((reply) => reply !== first);
        for (const reply of others) expectReplay(reply, first);
        expect(await created()).toBe(before + 1);
      } finally {
        await second.close();
      }
    });

    test('20 at once with as many bodies: one is done, the others are refused', async () => {
      const before = await created();
      const headers = under(newKey());
      const replies = await Promise.all(Array.from({ length: 20 }, () => partner.post(endpoint.body(), headers)));
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(replies.filter(({ status }) => status === reused.status)).toHaveLength(19);
      expect(await created()).toBe(before + 1);
    });

    test.each([
      ['one character', 'x'],
      ['255 characters', 'x'.repeat(255)],
      ['every visible character', '!"#$%&\'()*+,-./0123456789:;<=>?@[\\]^_`{|}~'],
      ['commas', 'a,b'],
      ['quotes', '"8e03978e-40d5-43dd-bc93-6894a57f9324"'],
    ])('%s: a key', async (_what, key) => {
      const body = endpoint.body();
      const first = await partner.post(body, under(key));
      expect(first.status).toBe(200);
      expectReplay(await partner.post(body, under(key)), first);
    });

    test.each([
      ['empty', ['Idempotency-Key', '']],
      ['256 characters', ['Idempotency-Key', 'x'.repeat(256)]],
      ['a blank inside', ['Idempotency-Key', 'a b']],
      ['a tab inside', ['Idempotency-Key', 'a\tb']],
      ['beyond ASCII', ['Idempotency-Key', 'caf\u00e9']],
      ['repeated', ['Idempotency-Key', 'a', 'Idempotency-Key', 'b']],
      ['repeated, the same', ['Idempotency-Key', 'a', 'idempotency-key', 'a']],
      ['repeated, one empty', ['Idempotency-Key', 'a', 'Idempotency-Key', '']],
    ])('%s: 400', async (_what, headers) => {
      const before = await created();
      const reply = await rawRequest(
        service().url + path,
        'POST',
        [api.keyHeader, partner.key, 'Content-Type', 'application/json', ...headers],
        JSON.stringify(endpoint.body()),
      );
      const body = JSON.parse(reply.text) as Reply<never>['body'];
      expect([reply.status, body]).toMatchObject([400, { success: false, error: { code: 'INVALID_PAYLOAD' } }]);
      expect(pathsOf({ body } as Reply<never>)).toEqual(['Idempotency-Key']);
      expect(await created()).toBe(before);
    });
  });
}
