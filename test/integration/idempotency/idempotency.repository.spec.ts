import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DataSource, EntityManager } from 'typeorm';
import { type Claim, claim, type ClaimOutcome, keep } from '../../../src/idempotency/idempotency.repository.js';
import { IdempotencySweep } from '../../../src/idempotency/idempotency-sweep.job.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = await database.connect(20);
});
afterAll(() => database.drop());

const HAULER = randomUUID();
const ANSWER = { status: 200, headers: { 'Ticket-Result': 'created' }, body: { success: true, name: 'Ünï 💩 "q"' } };

function claimFor(key: string, body = 'body', path = '/platform-api/v1/accounts', haulerId = HAULER): Claim {
  return { haulerId, path, key, fingerprint: createHash('sha256').update(body).digest() };
}

/** One attempt: a deadlock fails the test. */
const tx = <T>(work: (manager: EntityManager) => Promise<T>) => dataSource.transaction(work);

/** One batch: claims, keeps an answer for each new claim, and returns the outcomes. */
function batch(...claims: Claim[]): Promise<ClaimOutcome[]> {
  return tx(async (manager) => {
    const outcomes = await claim(manager, claims);
    const mine = claims.filter((_, i) => outcomes[i]?.state === 'claimed');
    await keep(
      manager,
      mine.map((one) => ({ claim: one, answer: ANSWER })),
    );
    return outcomes;
  });
}

const states = (outcomes: ClaimOutcome[]) => outcomes.map(({ state }) => state);

async function age(key: string, interval: string): Promise<void> {
  await dataSource.query('UPDATE idempotency_keys SET created_at = now() - $2::interval WHERE key = $1', [
    key,
    interval,
  ]);
}

async function rows(key: string): Promise<number> {
  const [{ n }] = await dataSource.query<[{ n: string }]>('SELECT count(*) AS n FROM idempotency_keys WHERE key = $1', [
    key,
  ]);
  return Number(n);
}

describe('a key', () => {
  test('is claimed once, then answered with the stored answer, byte for byte', async () => {
    const one = claimFor('once');
    expect(states(await batch(one))).toEqual(['claimed']);
    expect(await batch(one)).toEqual([
      {
        state: 'replay',
        answer: {
          status: 200,
          headers: {
            'Ticket-Result': 'created',
            'Content-Type': 'application/json; charset=utf-8',
            'Idempotency-Replayed': 'true',
          },
          body: JSON.stringify(ANSWER.body),
        },
      },
    ]);
  });

  test('with another body is a reused key, however small the difference', async () => {
    await batch(claimFor('reused', '{"a":1}'));
    expect(states(await batch(claimFor('reused', '{"a": 1}')))).toEqual(['reused']);
    expect(states(await batch(claimFor('reused', '{"a":1}')))).toEqual(['replay']);
  });

  test('belongs to one hauler and one path', async () => {
    await batch(claimFor('scope'));
    expect(states(await batch(claimFor('scope', 'other', '/platform-api/v1/tickets')))).toEqual(['claimed']);
    expect(states(await batch(claimFor('scope', 'other', undefined, randomUUID())))).toEqual(['claimed']);
    expect(states(await batch(claimFor('SCOPE', 'other')))).toEqual(['claimed']);
  });

  test('has the answer of its own hauler and path, if others have the same key', async () => {
    const claims = [
      claimFor('own'),
      claimFor('own', 'body', '/platform-api/v1/tickets'),
      claimFor('own', 'body', undefined, randomUUID()),
    ];
    for (const one of claims) {
      await tx(async (manager) => {
        await claim(manager, [one]);
        await keep(manager, [{ claim: one, answer: { ...ANSWER, body: [one.haulerId, one.path] } }]);
      });
    }
    expect(await batch(...claims)).toMatchObject(
      claims.map(({ haulerId, path }) => ({ state: 'replay', answer: { body: JSON.stringify([haulerId, path]) } })),
    );
  });

  test.each([
    ['23 hours 59 minutes 50 seconds', 'replay'],
    ['24 hours 1 second', 'claimed'],
  ])('answered %s ago is %s', async (interval, state) => {
    const key = `aged ${interval}`.replaceAll(' ', '-');
    await batch(claimFor(key));
    await age(key, interval);
    expect(states(await batch(claimFor(key)))).toEqual([state]);
    expect(states(await batch(claimFor(key)))).toEqual(['replay']);
  });

  test('that is claimed again after 24 hours belongs to the new body', async () => {
    await batch(claimFor('taken-over', 'old'));
    await age('taken-over', '25 hours');
    expect(states(await batch(claimFor('taken-over', 'new')))).toEqual(['claimed']);
    expect(states(await batch(claimFor('taken-over', 'old')))).toEqual(['reused']);
  });

  test('without a stored answer is free, with an older answer too', async () => {
    for (const body of ['first', 'second']) {
      expect(states(await tx((manager) => claim(manager, [claimFor('unkept', body)])))).toEqual(['claimed']);
    }
    expect(states(await batch(claimFor('unkept', 'third')))).toEqual(['claimed']);
    await age('unkept', '25 hours');
    await tx((manager) => claim(manager, [claimFor('unkept', 'third')]));
    expect(states(await batch(claimFor('unkept', 'third')))).toEqual(['claimed']);
  });

  test('is free again after a rollback', async () => {
    await expect(
      tx(async (manager) => {
        await claim(manager, [claimFor('rolled-back')]);
        throw new Error('failed later');
      }),
    ).rejects.toThrow('failed later');
    expect(await rows('rolled-back')).toBe(0);
    expect(states(await batch(claimFor('rolled-back', 'other')))).toEqual(['claimed']);
  });
});

describe('a batch', () => {
  test('without claims sends no statement', async () => {
    const query = () => Promise.reject(new Error('no statement expected'));
    expect(await claim({ query }, [])).toEqual([]);
    await keep({ query }, []);
  });

  test('with the same key twice: the second is a duplicate in the batch, whatever its body', async () => {
    const first = claimFor('twice');
    const again = [first, claimFor('between'), claimFor('twice'), claimFor('twice', 'other')];
    expect(states(await batch(...again))).toEqual(['claimed', 'claimed', 'duplicateInBatch', 'duplicateInBatch']);
    expect(states(await batch(...again))).toEqual(['replay', 'replay', 'replay', 'reused']);
  });

  test('of 500 mixes new and answered keys, in their order', async () => {
    const keys = Array.from({ length: 500 }, (_, i) => `mixed-${(i * 7919) % 500}`);
    const half = keys.filter((_, i) => i % 2 === 0);
    await batch(...half.map((key) => claimFor(key)));
    const outcomes = await batch(...keys.map((key) => claimFor(key)));
    expect(states(outcomes)).toEqual(keys.map((key) => (half.includes(key) ? 'replay' : 'claimed')));
  });
});

describe('concurrent requests', () => {
  test('the second waits for the first and receives its answer', async () => {
    let waited = false;
    const first = tx(async (manager) => {
      await claim(manager, [claimFor('wait')]);
      const second = batch(claimFor('wait'));
      void second.then(() => (waited = true));
      await delay(300);
      expect(waited).toBe(false);
      await keep(manager, [{ claim: claimFor('wait'), answer: ANSWER }]);
      return { second };
    });
    expect(states(await (await first).second)).toEqual(['replay']);
  });

  test('the second claims the key if the first is rolled back', async () => {
    let second: Promise<ClaimOutcome[]> | undefined;
    const first = tx(async (manager) => {
      await claim(manager, [claimFor('wait-rollback')]);
      second = batch(claimFor('wait-rollback'));
      await delay(100);
      throw new Error('failed');
    });
    await expect(first).rejects.toThrow('failed');
    expect(states((await second) ?? [])).toEqual(['claimed']);
  });

  test('batches that share keys in opposite orders do not deadlock', async () => {
    const keys = Array.from({ length: 60 }, (_, i) => `shared-${i}`);
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, i) => {
        const order = i % 2 === 0 ? keys : keys.toReversed();
        return batch(...order.map((key) => claimFor(key)));
      }),
    );
    const claimed = outcomes.flat().filter(({ state }) => state === 'claimed');
    expect(claimed).toHaveLength(keys.length);
  });
});

describe('the sweep', () => {
  test('deletes keys after 24 hours, in batches, from several instances at once', async () => {
    const old = Array.from({ length: 250 }, (_, i) => claimFor(`sweep-old-${i}`));
    await batch(...old, claimFor('sweep-young'));
    await dataSource.query(
      "UPDATE idempotency_keys SET created_at = now() - interval '24 hours' WHERE key LIKE 'sweep-old-%'",
    );
    const sweeps = [new IdempotencySweep(dataSource), new IdempotencySweep(dataSource)];
    const gone = await Promise.all(sweeps.map((sweep) => sweep.sweep(10)));
    const rest = await new IdempotencySweep(dataSource).sweep(10);
    expect(gone.reduce((sum, n) => sum + n, rest)).toBe(250);
    expect(await rows('sweep-young')).toBe(1);
  });

  test('keeps the same key of another path and of another hauler', async () => {
    const old = claimFor('sweep-scope');
    const others = [
      claimFor('sweep-scope', 'body', '/platform-api/v1/tickets'),
      claimFor('sweep-scope', 'body', undefined, randomUUID()),
    ];
    await batch(old, ...others);
    await dataSource.query(
      "UPDATE idempotency_keys SET created_at = now() - interval '25 hours' WHERE (hauler_id, path, key) = ($1, $2, $3)",
      [old.haulerId, old.path, old.key],
    );
    await new IdempotencySweep(dataSource).sweep();
    expect(states(await batch(old, ...others))).toEqual(['claimed', 'replay', 'replay']);
  });

  test('starts no further batch when the service stops', async () => {
    await batch(claimFor('sweep-stopped'));
    await age('sweep-stopped', '25 hours');
    const stopped = new IdempotencySweep(dataSource);
    stopped.onModuleDestroy();
    expect(await stopped.sweep()).toBe(0);
    await new IdempotencySweep(dataSource).sweep();
    expect(await rows('sweep-stopped')).toBe(0);
  });

  test('does not delete a key that a request claims at that moment', async () => {
    await batch(claimFor('sweep-race'));
    await age('sweep-race', '25 hours');
    await tx(async (manager) => {
      expect(states(await claim(manager, [claimFor('sweep-race')]))).toEqual(['claimed']);
      expect(await new IdempotencySweep(dataSource).sweep()).toBe(0);
      await keep(manager, [{ claim: claimFor('sweep-race'), answer: ANSWER }]);
    });
    expect(states(await batch(claimFor('sweep-race')))).toEqual(['replay']);
  });
});
