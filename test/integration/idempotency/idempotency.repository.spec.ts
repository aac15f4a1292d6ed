import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import type { Database } from '../../../src/core/database/database.js';
import type { Sql } from '../../../src/core/database/sql.js';
import { type Claim, claim, type ClaimOutcome, keep } from '../../../src/core/idempotency/idempotency.repository.js';
import { IdempotencySweep } from '../../../src/core/idempotency/idempotency.module.js';
import { keptAnswers } from '../../support/rows.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { ageKey } from '../../support/time.js';

let database: TestDatabase;
let pools: Database;
let dataSource: DataSource;
beforeAll(async () => {
  database = await createTestDatabase();
  pools = database.open(20);
  dataSource = await database.connect();
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
const tx = <T>(work: (transaction: Sql) => Promise<T>) => pools.transaction(work, { attempts: 1 });

/** One batch: claims, keeps an answer for each new claim, and returns the states of all. */
const batch = (...claims: Claim[]): Promise<ClaimOutcome['state'][]> =>
  tx(async (transaction) => {
    const outcomes = await claim(transaction, claims);
    const mine = claims.filter((_, i) => outcomes[i]?.state === 'claimed');
    await keep(
      transaction,
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
    const sweeps = [new IdempotencySweep(pools), new IdempotencySweep(pools)];
    const gone = await Promise.all(sweeps.map((sweep) => sweep.sweep(10)));
    const rest = await new IdempotencySweep(pools).sweep(10);
    expect(gone.reduce((sum, n) => sum + n, rest)).toBeGreaterThanOrEqual(250);
    expect([await keptAnswers({ dataSource }, 'young'), await keptAnswers({ dataSource }, 'old-0')]).toEqual([1, 1]);
  });

  test('the sweep leaves a key that a request claims at that moment', async () => {
    await batch(claimFor('race'));
    await ageKey({ dataSource }, 'race', '25 hours');
    await tx(async (transaction) => {
      await claim(transaction, [claimFor('race')]);
      await new IdempotencySweep(pools).sweep();
      await keep(transaction, [{ claim: claimFor('race'), answer: { status: 200, headers: {}, body: {} } }]);
    });
    expect(await batch(claimFor('race'))).toEqual(['replay']);
  });
});
