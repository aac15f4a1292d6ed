import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Batcher } from '../../../src/core/database/batcher.js';
import { ContentionError } from '../../../src/core/database/settle-batch.js';
import { AppError } from '../../../src/core/errors/app-error.js';

type Outcome = string | AppError | undefined;

/** A batcher whose batches run until the test ends them. */
function gathering({ maxRunning = 2 } = {}) {
  const batches: { values: readonly number[]; end(): void; fail(error: Error): void }[] = [];
  const options = { overload: 'tickets', maxRunning, lockNamesOf: (value: number) => [`row ${value}`] } as const;
  const batcher = new Batcher<number, string>(options, [
    (values) => {
      const { promise, resolve, reject } = Promise.withResolvers<Outcome[]>();
      batches.push({ values, end: () => resolve(values.map((value) => `done ${value}`)), fail: reject });
      return promise;
    },
  ]);
  const submit = (value: number, bytes = 1, hauler = 'hauler') => batcher.submit(value, bytes, [hauler, 'key']);
  return { batcher, batches, submit, values: () => batches.map((batch) => batch.values) };
}

const turns = async (count = 3) => {
  for (let i = 0; i < count; i++) await turn();
};

describe('Batcher', () => {
  test('limits a batch by entries and by bytes; small values go along with a large one', async () => {
    const gatheredBy = async (sizes: readonly number[]) => {
      const { batches, submit, values } = gathering({ maxRunning: 1 });
      sizes.forEach((kib, i) => void submit(i + 1, kib * 1024));
      for (let i = 0; i < 10; i++) {
        await turn();
        batches.at(-1)?.end();
      }
      return values();
    };
    const many = await gatheredBy(Array.from({ length: 130 }, () => 1));
    expect(many.map(({ length }) => length)).toEqual([128, 2]);
    expect(await gatheredBy([200, 56, 16, 300, 1])).toEqual([[1, 2], [3], [4, 5]]);
  });

  test('serves a small value of another hauler before the rest of a loud one', async () => {
    const { batches, submit, values } = gathering({ maxRunning: 1 });
    void submit(0);
    await turn();
    for (const value of [1, 2, 3]) void submit(value, 300 * 1024, 'loud');
    void submit(4, 1, 'quiet');
    for (let i = 0; i < 5; i++) {
      batches.at(-1)?.end();
      await turns();
    }
    expect(values()).toEqual([[0], [1, 4], [2], [3]]);
  });

  test('refuses the newest value of a loud hauler if too many wait, and a value that could never wait as too large', async () => {
    const { submit } = gathering();
    const loud = Array.from({ length: 4001 }, (_, i) => submit(i, 1, 'loud'));
    await expect(loud.at(-1)).rejects.toMatchObject({ kind: 'unavailable', headers: { 'Retry-After': '1' } });
    void submit(5000, 1, 'quiet');
    await expect(loud.at(-2)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(submit(1, 24 * 1024 * 1024 + 1)).rejects.toMatchObject({ kind: 'tooLarge' });
  });

  test('halves a batch that fails, so that a bad value fails alone, and runs the next one', async () => {
    const { batches, submit } = gathering({ maxRunning: 1 });
    const [good, bad] = [submit(1), submit(2)];
    await turn();
    const next = submit(3);
    batches[0]?.fail(new Error('broken'));
    await turns();
    batches[1]?.end();
    await turns();
    batches[2]?.fail(new Error('broken'));
    await expect(bad).rejects.toThrow('broken');
    expect(await good).toBe('done 1');
    await turns();
    batches[3]?.end();
    expect(await next).toBe('done 3');
  });
});

describe('a value whose row another transaction holds', () => {
  /** Writes nothing where value 1 is contained, until it is released. */
  function contended() {
    let isLocked = true;
    const calls: (readonly number[])[] = [];
    const options = {
      overload: 'tickets',
      maxRunning: 2,
      lockNamesOf: (value: number) => [`row ${value % 10}`],
    } as const;
    const batcher = new Batcher<number, string>(options, [
      (values) => {
        calls.push(values);
        if (isLocked && values.some((value) => value % 10 === 1)) return Promise.reject(new ContentionError(undefined));
        return Promise.resolve(values.map((value) => `done ${value}`));
      },
    ]);
    const submit = (value: number) => batcher.submit(value, 1, ['hauler', 'key']);
    return { calls, submit, release: () => (isLocked = false) };
  }

  test('is tried again apart from the others, as is each later one with that row', async () => {
    const { calls, submit, release } = contended();
    const [locked, ...others] = [1, 2, 3].map(submit);
    expect(await Promise.all(others)).toEqual(['done 2', 'done 3']);
    const later = submit(11);
    expect(await submit(4)).toBe('done 4');
    await delay(300);
    expect(calls.filter((values) => values.length > 1 && values.some((value) => value === 11))).toEqual([]);
    release();
    expect(await Promise.all([locked, later])).toEqual(['done 1', 'done 11']);
  });
});

describe('a value without a result', () => {
  // A test moves the clock. Turns of the event loop are real.
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());

  test('is refused if it waited too long for a batch, and the next one runs', async () => {
    const { batches, submit, values } = gathering({ maxRunning: 1 });
    const first = submit(1);
    await turn();
    const refused = expect(submit(2)).rejects.toMatchObject({ kind: 'unavailable' });
    jest.advanceTimersByTime(2_900);
    const soon = submit(3);
    jest.advanceTimersByTime(200);
    batches[0]?.end();
    await first;
    await refused;
    await turns();
    expect(values()).toEqual([[1], [3]]);
    batches[1]?.end();
    expect(await soon).toBe('done 3');
  });

  test('is refused in time while its batch runs', async () => {
    const { batches, submit } = gathering();
    const results = [1, 2].map((value) => submit(value));
    await turn();
    const refused = results.map((result) => expect(result).rejects.toMatchObject({ kind: 'unavailable' }));
    jest.advanceTimersByTime(4_300);
    await Promise.all(refused);
    batches[0]?.end();
    await turns();
  });
});
