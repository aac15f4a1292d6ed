import { AsyncLocalStorage } from 'node:async_hooks';

/** How long a request waited until its work began. */
const requests = new AsyncLocalStorage<number>();

/** Runs the work of a request that arrived at `arrivedAt`, of `performance.now()`. What it has waited shortens the limits of its statements. */
export const afterWaiting = <T>(arrivedAt: number, work: () => T): T =>
  requests.run(performance.now() - arrivedAt, work);

export const waitedMs = (): number => requests.getStore() ?? 0;
