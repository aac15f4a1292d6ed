import { DownloadFailed } from './download-failure.js';
import type { DownloadLimits } from './limits.js';

/** Told of all that comes, and of when we wait for more: a slow storage is not the host's fault. */
export interface Pace {
  heard(bytes: number): void;
  /** We wait for the host from now on. */
  wait(): void;
  /** What came is being worked on. */
  rest(): void;
  stop(): void;
}

/** Calls `late` where no byte comes in time, or too few come over a longer time. */
export function keepPace(host: string, limits: DownloadLimits, late: (failure: DownloadFailed) => void): Pace {
  let since: number | undefined;
  let spell = { waitedMs: 0, bytes: 0 };
  const idle = setTimeout(() => {
    const seconds = limits.idleMs / 1000;
    if (since !== undefined) late(new DownloadFailed('retryable', `${host} sent nothing for ${seconds} seconds.`));
  }, limits.idleMs);

  function rest(): void {
    if (since === undefined) return;
    spell.waitedMs += performance.now() - since;
    since = undefined;
    if (spell.waitedMs < limits.slowMs) return;
    if (spell.bytes < (limits.slowestRate * spell.waitedMs) / 1000)
      late(new DownloadFailed('retryable', `${host} sends too slowly.`));
    spell = { waitedMs: 0, bytes: 0 };
  }

  function wait(): void {
    since = performance.now();
    idle.refresh();
  }

  return {
    heard(bytes) {
      spell.bytes += bytes;
      if (since === undefined) return;
      rest();
      wait();
    },
    wait,
    rest,
    stop: () => clearTimeout(idle),
  };
}
