import type { IncomingMessage } from 'node:http';
import { connectionFailure, DownloadFailed } from './download-failure.js';
import type { DownloadLimits } from './limits.js';

/**
 * The body of an answer, ended by `DownloadFailed` where no byte comes in time, or too few come over a longer time.
 * Only waiting for the host counts: a slow storage is not its fault.
 */
export async function* paced(response: IncomingMessage, host: string, limits: DownloadLimits): AsyncGenerator<Buffer> {
  let waiting = true;
  const idle = setTimeout(() => {
    if (!waiting) return;
    const seconds = Math.round(limits.idleMs / 1000);
    response.destroy(new DownloadFailed('retryable', `${host} sent nothing for ${seconds} seconds.`));
  }, limits.idleMs);
  let spell = { waitedMs: 0, bytes: 0 };
  let since = performance.now();
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      waiting = false;
      spell.waitedMs += performance.now() - since;
      spell.bytes += chunk.length;
      if (spell.waitedMs >= limits.slowMs) {
        if (spell.bytes < (limits.slowestRate * spell.waitedMs) / 1000)
          throw new DownloadFailed('retryable', `${host} sends too slowly.`);
        spell = { waitedMs: 0, bytes: 0 };
      }
      yield chunk;
      waiting = true;
      since = performance.now();
      idle.refresh();
    }
  } catch (error) {
    throw error instanceof DownloadFailed ? error : connectionFailure(host, error);
  } finally {
    clearTimeout(idle);
  }
}
