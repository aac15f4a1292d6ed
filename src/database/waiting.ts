import { AsyncLocalStorage } from 'node:async_hooks';

interface Waiting {
  /** Of `performance.now()`. */
  readonly arrivedAt: number;
  /** How long the request waited until its work began. */
  readonly waitedMs: number;
}

const requests = new AsyncLocalStorage<Waiting>();

/** Runs the work of a request that arrived at `arrivedAt`. What it has waited since shortens the limits of its statements. */
export const afterWaiting = <T>(arrivedAt: number, work: () => T): T =>
  requests.run({ arrivedAt, waitedMs: performance.now() - arrivedAt }, work);

/** When the current request arrived; now, outside of `afterWaiting`. */
export const arrivedAt = (): number => requests.getStore()?.arrivedAt ?? performance.now();

export const waitedMs = (): number => requests.getStore()?.waitedMs ?? 0;
