import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DataSource, EntityManager } from 'typeorm';
import { type Claim, claim, type ClaimOutcome, keep } from '../../../src/idempotency/idempotency.repository.js';
import { IdempotencySweep } from '../../../src/idempotency/idempotency-sweep.job.js';
import { keptAnswers } from '../../support/rows.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { ageKey } from '../../support/time.js';

let database: TestDatabase;
let dataSource: DataSource;
beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = await database.connect(20);
});
afterAll(() => database.drop());

const HAULER = randomUUID();
const ACCOUNTS = '/platform-api/v1/accounts';
const TICKETS = '/platform-api/v1/tickets';

const claimFor = (key: string, body = 'body', path = ACCOUNTS): Claim => ({
  ...{ haulerId: HAULER, path, key },
  fingerprint: createHash('sha256').update(body).digest(),
});

/** One attempt: a deadlock fails the test. */
const tx = <T>(work: (manager: EntityManager) => Promise<T>) => dataSource.transaction(work);

/** One batch: claims, keeps an answer for each new claim, and returns the states of all. */
const batch = (...claims: Claim[]): Promise<ClaimOutcome['state'][]> =>
  tx(async (manager) => {
    const outcomes = await claim(manager, claims);
    const mine = claims.filter((_, i) => outcomes[i]?.state === 'claimed');
    await keep(
      manager,
      mine.map((one) => ({ claim: one, answer: { status: 200, headers: {}, body: { key: one.key } } })),
    );
    return outcomes.map(({ state }) => state);
  });

describe('an answer is kept for 24 hours (decision 16)', () => {
  test.each([
    ['23 hours 59 minutes', 'replay'],
    ['24 hours 1 second', 'claimed'],
  ])('after %s its key is a %s', async (age, state) => {
    const key = `aged-${age}`;
    await batch(claimFor(key));
    await ageKey({ dataSource }, key, age);
    expect(await batch(claimFor(key))).toEqual([state]);
  });

  test('a key that is claimed again after that belongs to the new body', async () => {
    await batch(claimFor('taken-over', 'old'));
    await ageKey({ dataSource }, 'taken-over', '25 hours');
    expect(await batch(claimFor('taken-over', 'new'))).toEqual(['claimed']);
    expect(await batch(claimFor('taken-over', 'old'))).toEqual(['reused']);
  });

  test('the sweep deletes old answers in batches, from several instances at once, and no others', async () => {
    const old = Array.from({ length: 250 }, (_, i) => claimFor(`old-${i}`));
    await batch(...old, claimFor('young'), claimFor('old-0', 'body', TICKETS));
    await ageKey({ dataSource }, 'old-%', '25 hours', ACCOUNTS);
    const sweeps = [new IdempotencySweep(dataSource), new IdempotencySweep(dataSource)];
    const gone = await Promise.all(sweeps.map((sweep) => sweep.sweep(10)));
    const rest = await new IdempotencySweep(dataSource).sweep(10);
    expect(gone.reduce((sum, n) => sum + n, rest)).toBeGreaterThanOrEqual(250);
    expect([await keptAnswers({ dataSource }, 'young'), await keptAnswers({ dataSource }, 'old-0')]).toEqual([1, 1]);
  });

  test('the sweep leaves a key that a request claims at that moment', async () => {
    await batch(claimFor('race'));
    await ageKey({ dataSource }, 'race', '25 hours');
    await tx(async (manager) => {
      await claim(manager, [claimFor('race')]);
      await new IdempotencySweep(dataSource).sweep();
      await keep(manager, [{ claim: claimFor('race'), answer: { status: 200, headers: {}, body: {} } }]);
    });
    expect(await batch(claimFor('race'))).toEqual(['replay']);
  });
});

describe('a batch of claims (decision 16)', () => {
  test('has a key twice: the second is a duplicate, whatever its body', async () => {
    const claims = [claimFor('twice'), claimFor('between'), claimFor('twice'), claimFor('twice', 'other')];
    expect(await batch(...claims)).toEqual(['claimed', 'claimed', 'duplicateInBatch', 'duplicateInBatch']);
    expect(await batch(...claims)).toEqual(['replay', 'replay', 'replay', 'reused']);
  });

  test('of 500 has its outcomes in the order of the keys', async () => {
    const keys = Array.from({ length: 500 }, (_, i) => `mixed-${(i * 7919) % 500}`);
    const half = new Set(keys.filter((_, i) => i % 2 === 0));
    await batch(...[...half].map((key) => claimFor(key)));
    const outcomes = await batch(...keys.map((key) => claimFor(key)));
    expect(outcomes).toEqual(keys.map((key) => (half.has(key) ? 'replay' : 'claimed')));
  });

  test('that shares keys with others in the opposite order does not deadlock', async () => {
    const keys = Array.from({ length: 60 }, (_, i) => `shared-${i}`);
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        batch(...(i % 2 === 0 ? keys : keys.toReversed()).map((key) => claimFor(key))),
      ),
    );
    expect(outcomes.flat().filter((state) => state === 'claimed')).toHaveLength(keys.length);
  });

  test('whose transaction is rolled back, or keeps no answer, leaves its keys free', async () => {
    const failing = tx(async (manager) => {
      await claim(manager, [claimFor('rolled-back')]);
      throw new Error('failed later');
    });
    await expect(failing).rejects.toThrow('failed later');
    expect(await keptAnswers({ dataSource }, 'rolled-back')).toBe(0);
    await tx((manager) => claim(manager, [claimFor('rolled-back')]));
    expect(await batch(claimFor('rolled-back', 'other'))).toEqual(['claimed']);
  });
});
