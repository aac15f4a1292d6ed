import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Batcher, type BatchLimits, type Entry } from '../../../src/database/batcher.js';

const LIMITS: BatchLimits = {
  maxRunning: 2,
  maxEntries: 4,
  maxBytes: 100,
  maxWaiting: 8,
  maxWaitingBytes: 200,
  maxQueueMs: 60_000,
  timeoutMs: 60_000,
  overload: 'tickets',
};

/** A batcher whose batches run until the test ends them. */
function gathering(limits: Partial<BatchLimits> = {}) {
  const batches: { values: number[]; end(): void; fail(error: Error): void }[] = [];
  const batcher = new Batcher<number, string>({ ...LIMITS, ...limits }, (entries: readonly Entry<number, string>[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = () => {
      for (const entry of entries) entry.resolve(`done ${entry.value}`);
      resolve();
    };
    batches.push({ values: entries.map(({ value }) => value), end, fail: reject });
    return promise;
  });
  return { batcher, batches, values: () => batches.map((batch) => batch.values) };
}

describe('Batcher', () => {
  test('collects the entries of one turn of the event loop without a timer', async () => {
    const { batcher, batches, values } = gathering();
    const results = [1, 2, 3].map((value) => batcher.submit(value, 1));
    await turn();
    expect(values()).toEqual([[1, 2, 3]]);
    batches[0]?.end();
    expect(await Promise.all(results)).toEqual(['done 1', 'done 2', 'done 3']);
  });

  test('runs at most two batches, and collects the entries that arrive meanwhile in their order', async () => {
    const { batcher, batches, values } = gathering();
    for (const value of [1, 2, 3, 4]) {
      void batcher.submit(value, 1);
      await turn();
    }
    expect(values()).toEqual([[1], [2]]);
    batches[1]?.end();
    await turn();
    await turn();
    expect(values()).toEqual([[1], [2], [3, 4]]);
  });

  test('starts a second batch beside a running one only if it is as large', async () => {
    const { batcher, batches, values } = gathering();
    for (const value of [1, 2, 3]) void batcher.submit(value, 1);
    await turn();
    for (const value of [4, 5]) void batcher.submit(value, 1);
    await turn();
    await turn();
    expect(values()).toEqual([[1, 2, 3]]);
    void batcher.submit(6, 1);
    await turn();
    expect(values()).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    void batcher.submit(7, 1);
    batches[0]?.end();
    await turn();
    await turn();
    expect(values()).toHaveLength(2);
    batches[1]?.end();
    await turn();
    await turn();
    expect(values()).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
  });

  test('starts no second batch with the rest of the same turn after a full one', async () => {
    const { batcher, batches, values } = gathering();
    for (const value of [1, 2, 3, 4, 5]) void batcher.submit(value, 1);
    await turn();
    await turn();
    expect(values()).toEqual([[1, 2, 3, 4]]);
    batches[0]?.end();
    await turn();
    await turn();
    expect(values()).toEqual([[1, 2, 3, 4], [5]]);
  });

  test('limits a batch by entries and by bytes; a larger entry is a batch of its own', async () => {
    const gatheredBy = async (sizes: readonly number[]) => {
      const { batcher, batches, values } = gathering({ maxRunning: 1, maxWaitingBytes: 1000 });
      sizes.forEach((bytes, i) => void batcher.submit(i + 1, bytes));
      for (let i = 0; i < 10; i++) {
        await turn();
        batches.at(-1)?.end();
      }
      return values();
    };
    expect(await gatheredBy([1, 1, 1, 1, 1, 1])).toEqual([
      [1, 2, 3, 4],
      [5, 6],
    ]);
    expect(await gatheredBy([60, 40, 1, 150, 1])).toEqual([[1, 2], [3], [4], [5]]);
  });

  test('refuses entries beyond its limits at once, and accepts more when there is room', async () => {
    const overloaded = { kind: 'unavailable', headers: { 'Retry-After': '1' } };
    const { batcher, batches } = gathering({ maxRunning: 1, maxWaiting: 2 });
    expect([batcher.hasRoom(200), batcher.hasRoom(201)]).toEqual([true, false]);
    void batcher.submit(0, 1);
    await turn();
    const waiting = [batcher.submit(1, 1), batcher.submit(2, 1)];
    await expect(batcher.submit(3, 1)).rejects.toMatchObject(overloaded);
    batches[0]?.end();
    await turn();
    await turn();
    void batcher.submit(4, 1);
    batches[1]?.end();
    expect(await Promise.all(waiting)).toEqual(['done 1', 'done 2']);
    const byBytes = gathering({ maxRunning: 1 });
    void byBytes.batcher.submit(1, 150);
    await expect(byBytes.batcher.submit(2, 51)).rejects.toMatchObject(overloaded);
    const last = byBytes.batcher.submit(3, 50);
    await turn();
    byBytes.batches[0]?.end();
    while (byBytes.batches.length < 2) await turn();
    byBytes.batches[1]?.end();
    expect(await last).toBe('done 3');
    const all = byBytes.batcher.submit(4, 200);
    while (byBytes.batches.length < 3) await turn();
    byBytes.batches[2]?.end();
    expect(await all).toBe('done 4');
  });

  test('refuses an entry that waited too long, and does not run it if it has not started', async () => {
    const { batcher, batches, values } = gathering({ maxRunning: 1, timeoutMs: 50 });
    const begun = batcher.submit(1, 1);
    await turn();
    const waiting = batcher.submit(2, 1);
    for (const one of [begun, waiting]) await expect(one).rejects.toMatchObject({ kind: 'unavailable' });
    batches[0]?.end();
    await turn();
    await turn();
    expect(values()).toEqual([[1]]);
    const late = batcher.submit(3, 1);
    await turn();
    await turn();
    expect(values()).toEqual([[1], [3]]);
    batches[1]?.end();
    expect(await late).toBe('done 3');
  });

  test('fails each entry of a batch that fails, and runs the next one', async () => {
    const { batcher, batches } = gathering({ maxRunning: 1 });
    const results = [batcher.submit(1, 1), batcher.submit(2, 1)];
    await turn();
    const next = batcher.submit(3, 1);
    batches[0]?.fail(new Error('broken'));
    for (const result of results) await expect(result).rejects.toThrow('broken');
    while (batches.length < 2) await turn();
    batches[1]?.end();
    expect(await next).toBe('done 3');
  });

  test('does nothing without entries', async () => {
    const { batcher, batches } = gathering();
    const result = batcher.submit(1, 1);
    await turn();
    batches[0]?.end();
    await result;
    await turn();
    const ahead = jest.spyOn(globalThis, 'setImmediate');
    try {
      await turn();
      await turn();
      expect(ahead).not.toHaveBeenCalled();
    } finally {
      ahead.mockRestore();
    }
  });
});

describe('Batcher with a fake clock', () => {
  // A test moves the clock. Turns of the event loop are real.
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());

  test('refuses an entry that waited too long for a batch, and runs the next one', async () => {
    const { batcher, batches, values } = gathering({ maxRunning: 1, maxQueueMs: 600 });
    const first = batcher.submit(1, 1);
    await turn();
    const refused = expect(batcher.submit(2, 1)).rejects.toMatchObject({ kind: 'unavailable' });
    jest.advanceTimersByTime(500);
    const soon = batcher.submit(3, 1);
    jest.advanceTimersByTime(200);
    batches[0]?.end();
    await first;
    await refused;
    await turn();
    expect(values()).toEqual([[1], [3]]);
    batches[1]?.end();
    expect(await soon).toBe('done 3');
  });

  test('leaves no timer after its entries were answered', async () => {
    const { batcher, batches } = gathering();
    const result = batcher.submit(1, 1);
    await turn();
    expect(jest.getTimerCount()).toBe(1);
    batches[0]?.end();
    await result;
    expect(jest.getTimerCount()).toBe(0);
  });
});
