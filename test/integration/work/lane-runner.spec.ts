import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import type { LaneRunner } from '../../../src/work/lane-runner.js';
import { DatabaseConnectionError } from '../../../src/database/postgres-errors.js';
import { PartnerFailure } from '../../../src/partner-client/partner-failure.js';
import { addParcels, HAULER, parcel, type ParcelState } from './due-table.js';
import { eventually } from '../../support/eventually.js';
import { useParcelRunners, type Work } from './parcel-runners.js';

const work = useParcelRunners();
const { runnerOf, count } = work;

/** So long after a moment between `begun` and now. */
function expectDueAfter({ due_at }: ParcelState, afterMs: number, begun: number): void {
  const due = due_at?.getTime() ?? 0;
  expect(due - afterMs).toBeGreaterThanOrEqual(begun);
  expect(due - afterMs).toBeLessThanOrEqual(Date.now());
}

describe('a runner of due rows', () => {
  test('runs the rows in order, at most `concurrency` at once, until none is due', async () => {
    const ids = await addParcels(work.first, 25);
    const begun: string[] = [];
    let running = 0;
    let maxRunning = 0;
    const runner = runnerOf(work.first, {
      concurrency: 3,
      run: async ({ row }) => {
        begun.push(row.id);
        maxRunning = Math.max(maxRunning, ++running);
        await delay(5);
        running--;
        return 'done';
      },
    });
    await runner.tick();
    await eventually(async () => expect(await count('due_at IS NOT NULL')).toBe(0));
    expect(begun).toEqual(ids);
    expect(maxRunning).toBe(3);
    expect(runner.running).toBe(0);
  });

  test('stores what the work writes with its last transition, and the next due time', async () => {
    const [id = ''] = await addParcels(work.first, 1);
    const runner = runnerOf(work.first, {
      run: async (run) => {
        await run.update({ weight: 41 });
        await work.first.transaction(async (manager) => {
          await run.hold(manager);
          await run.finish({ afterMs: 60_000 }, { weight: 42 }, manager);
        });
        return 'done';
      },
    });
    await runner.tick();
    await eventually(async () => expect(await parcel(work.first, id)).toMatchObject({ weight: 42, started_at: null }));
    expect((await parcel(work.first, id)).due_at).not.toBeNull();
  });

  test.each([
    [
      'an expected error',
      Object.assign(new Error('The partner did not answer.'), { expected: true }),
      'The partner did not answer.',
      60_000,
    ],
    [
      'an error with a time for the next attempt',
      Object.assign(new Error('Busy.'), { expected: true, delayMs: 90_000 }),
      'Busy.',
      90_000,
    ],
    [
      'an unexpected error',
      new Error('no\0 at https://x.example/a?sig=1'),
      'An unexpected error happened: no at https://x.example/a?[redacted]',
      60_000,
    ],
    [
      'an unavailable database',
      new DatabaseConnectionError(new Error('Connection terminated due to connection timeout')),
      'The database was unavailable (unreachable): no connection to the database: Connection terminated due to connection timeout',
      60_000,
    ],
    [
      'a statement that exceeds its timeout',
      Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' }),
      'An unexpected error happened: canceling statement due to statement timeout',
      60_000,
    ],
  ])('stores %s as a sentence, with the next due time', async (_, error, sentence, afterMs) => {
    const [id = ''] = await addParcels(work.first, 1);
    const runner = runnerOf(work.first, { run: () => Promise.reject(error) });
    const begun = Date.now();
    await runner.tick();
    await eventually(async () => expect((await parcel(work.first, id)).last_error).toBe(sentence));
    const row = await parcel(work.first, id);
    expect(row).toMatchObject({ attempts: sentence.startsWith('The database was') ? 0 : 1, started_at: null });
    expectDueAfter(row, afterMs, begun);
  });

  test('waits longer after each failure', async () => {
    const [id = ''] = await addParcels(work.first, 1);
    await work.first.query('UPDATE parcels SET attempts = 2');
    const runner = runnerOf(work.first, { run: () => Promise.reject(new Error('again')) });
    const begun = Date.now();
    await runner.tick();
    await eventually(async () => expect((await parcel(work.first, id)).last_error).toContain('again'));
    const row = await parcel(work.first, id);
    expect(row.attempts).toBe(3);
    expectDueAfter(row, 4 * 60_000, begun);
  });

  test('warns once of a partner, however many rows wait for it', async () => {
    const [warn, debug] = [jest.spyOn(Logger.prototype, 'warn'), jest.spyOn(Logger.prototype, 'debug')];
    const failures = [
      new PartnerFailure('timedOut', 'It did not answer.'),
      new PartnerFailure('circuitOpen', 'The circuit is open.'),
    ];
    const ids = await addParcels(work.first, 2);
    try {
      const run = () => Promise.reject(failures.shift() ?? new Error('a third run'));
      const runner = runnerOf(work.first, { concurrency: 1, run });
      await runner.tick();
      await eventually(async () => expect(await count('last_error IS NOT NULL')).toBe(2));
      expect(warn.mock.calls).toEqual([[expect.stringContaining(`${HAULER} ${ids[0]}: It did not answer.`)]]);
      expect(debug.mock.calls).toEqual([[expect.stringContaining(`${HAULER} ${ids[1]}: The circuit is open.`)]]);
    } finally {
      warn.mockRestore();
      debug.mockRestore();
    }
  });

  test('keeps a next due time for a row whose last write was rolled back', async () => {
    const [id = ''] = await addParcels(work.first, 1);
    const runner = runnerOf(work.first, {
      run: (run) =>
        work.first.transaction(async (manager) => {
          await run.finish('done', { weight: 42 }, manager);
          throw new Error('rolled back');
        }),
    });
    await runner.tick();
    await eventually(async () => expect((await parcel(work.first, id)).last_error).toContain('rolled back'));
    expect(await parcel(work.first, id)).toMatchObject({ weight: 1, started_at: null, due_at: expect.any(Date) });
  });
});

describe('the cap on attempts (decision 54)', () => {
  const failed = { due_at: null, started_at: null, weight: 99 };
  let reasons: string[];
  beforeEach(() => {
    reasons = [];
  });

  /** A kind whose final state is `weight` 99, with backoff short enough to see several attempts. */
  const limited = (run: Work['run'], max = 3): Work => ({
    backoff: { firstMs: 1, factor: 1, maxMs: 1, jitter: 0 },
    run,
    attempts: {
      max,
      giveUp: async (run, reason) => {
        reasons.push(reason);
        await run.finish('done', { weight: 99 });
      },
    },
  });

  const runUntil = async (runner: LaneRunner, condition: () => Promise<void>) => {
    await eventually(async () => {
      await runner.tick();
      await condition();
    });
  };

  test('a row that always fails reaches its final state with the last reason', async () => {
    const [id = ''] = await addParcels(work.first, 1);
    const run = jest
      .fn<Work['run']>()
      .mockRejectedValue(Object.assign(new Error('No such truck.'), { expected: true }));
    const runner = runnerOf(work.first, limited(run));
    await runUntil(runner, async () => expect(await parcel(work.first, id)).toMatchObject(failed));
    expect(run).toHaveBeenCalledTimes(3);
    expect(reasons).toEqual(['No such truck. Gave up after 3 attempts.']);
  });

  test('a row whose processing ended the process three times is not run a fourth time', async () => {
    const [id = ''] = await addParcels(work.first, 1);
    await work.first.query('UPDATE parcels SET attempts = 3');
    const run = jest.fn<Work['run']>();
    await runnerOf(work.first, limited(run)).tick();
    await eventually(async () => expect(await parcel(work.first, id)).toMatchObject(failed));
    expect(run).not.toHaveBeenCalled();
    expect(reasons).toEqual(['The process ended during the last attempt. Gave up after 3 attempts.']);
  });

  test('a success starts the count again', async () => {
    const [id = ''] = await addParcels(work.first, 1);
    await work.first.query('UPDATE parcels SET attempts = 2');
    const runner = runnerOf(
      work.first,
      limited(async () => ({ afterMs: 60_000 })),
    );
    await runner.tick();
    await eventually(async () => expect(await parcel(work.first, id)).toMatchObject({ attempts: 0, weight: 1 }));
    expect(reasons).toEqual([]);
  });

  test.each([
    [
      'our database was unavailable',
      new DatabaseConnectionError(new Error('Connection terminated due to connection timeout')),
    ],
    ['the error does not concern the row', Object.assign(new Error('Wait.'), { expected: true, isAttempt: false })],
  ])('an attempt does not count if %s', async (_, error) => {
    const [id = ''] = await addParcels(work.first, 1);
    let runs = 0;
    const runner = runnerOf(
      work.first,
      limited(async () => {
        if (++runs <= 10) throw error;
        return 'done';
      }),
    );
    await runUntil(runner, async () => expect(await parcel(work.first, id)).toMatchObject({ due_at: null, weight: 1 }));
    expect(reasons).toEqual([]);
  });

  test('a final state that could not be written is written when the row is started again', async () => {
    const [id = ''] = await addParcels(work.first, 1);
    const kind = limited(() => Promise.reject(new Error('no')), 1);
    const runner = runnerOf(work.first, {
      ...kind,
      attempts: {
        max: 1,
        giveUp: async (run, reason) => {
          if (reasons.push(reason) === 1)
            throw new DatabaseConnectionError(new Error('Connection terminated unexpectedly'));
          await run.finish('done', { weight: 99 });
        },
      },
    });
    await runUntil(runner, async () => expect(await parcel(work.first, id)).toMatchObject(failed));
    expect(reasons).toHaveLength(2);
  });

  test('a row is not due again if its kind has written no final state', async () => {
    const [id = ''] = await addParcels(work.first, 1);
    const kind = limited(() => Promise.reject(Object.assign(new Error('No.'), { expected: true })), 1);
    await runnerOf(work.first, { ...kind, attempts: { max: 1, giveUp: async () => undefined } }).tick();
    await eventually(async () =>
      expect(await parcel(work.first, id)).toMatchObject({
        due_at: null,
        started_at: null,
        last_error: 'No. Gave up after 1 attempt.',
      }),
    );
  });
});

describe('a kind whose `canStart` returns false', () => {
  test('starts nothing and counts no attempt, and continues once it returns true', async () => {
    await addParcels(work.first, 3);
    let canStart = false;
    const runner = runnerOf(work.first, { canStart: () => canStart, run: async () => 'done' });
    await runner.tick();
    expect(await count('attempts = 0 AND started_at IS NULL')).toBe(3);
    canStart = true;
    await runner.tick();
    await eventually(async () => expect(await count('due_at IS NOT NULL')).toBe(0));
  });
});
