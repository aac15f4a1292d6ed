import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Deadline } from '../../src/partner-client/deadline.js';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

test('aborts when its time is over', () => {
  const deadline = new Deadline(1_000);
  jest.advanceTimersByTime(999);
  expect(deadline.signal.aborted).toBe(false);
  jest.advanceTimersByTime(1);
  expect(deadline.signal.aborted).toBe(true);
});

test('does not count what is waited for aside', async () => {
  const deadline = new Deadline(1_000);
  jest.advanceTimersByTime(400);
  const waited = Promise.withResolvers<string>();
  const aside = deadline.aside(() => waited.promise);
  jest.advanceTimersByTime(60_000);
  waited.resolve('here');
  expect(await aside).toBe('here');
  jest.advanceTimersByTime(599);
  expect(deadline.signal.aborted).toBe(false);
  jest.advanceTimersByTime(1);
  expect(deadline.signal.aborted).toBe(true);
});

test('that is cleared aborts nothing, nor after a wait that ends later', async () => {
  const deadline = new Deadline(1_000);
  const waited = Promise.withResolvers<void>();
  const aside = deadline.aside(() => waited.promise);
  deadline.clear();
  waited.reject(new Error('given up'));
  await expect(aside).rejects.toThrow('given up');
  jest.advanceTimersByTime(60_000);
  expect(deadline.signal.aborted).toBe(false);
  expect(jest.getTimerCount()).toBe(0);
});
