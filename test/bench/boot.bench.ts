import { setTimeout as delay } from 'node:timers/promises';
import { startDatabase } from './database.js';
import { processorMs, putToSleep, rssMb, startPeer, startService } from './processes.js';
import { report } from './report.js';
import { median } from './statistics.js';

const IDLE_SECONDS = 10;

/**
 * Production boot to ready over a warm, migrated database, in turns with a bare Fastify with pg, and the resident set when idle.
 * Argument: boots (7).
 */
export async function run([boots = '7']: readonly string[]): Promise<void> {
  const database = await startDatabase();
  const ready: number[] = [];
  const processor: number[] = [];
  const bare: number[] = [];
  let idle = 0;
  for (let i = 0; i < Number(boots); i++) {
    const begun = performance.now();
    const service = await startService(database);
    const { status } = await fetch(`${service.url}/health/ready`);
    if (status !== 200) throw new Error(`not ready: ${status}`);
    ready.push(performance.now() - begun);
    processor.push(processorMs(service.pid));
    if (i === 0) {
      await delay(IDLE_SECONDS * 1000);
      idle = rssMb(service.pid);
    }
    await service.stop();
    const before = performance.now();
    const peer = await startPeer('fastify-pg.mjs', database.url);
    bare.push(performance.now() - before);
    putToSleep(peer.pid);
  }
  report('boot', [
    ['', 'measured', 'target'],
    ['boot to ready, median ms', Math.round(median(ready)), ''],
    ['the same of a bare Fastify with pg', Math.round(median(bare)), ''],
    ['boot ÷ bare', (median(ready) / median(bare)).toFixed(2), 4],
    ['boot to ready, fastest ms', Math.round(Math.min(...ready)), ''],
    ['processor time of it, median ms', Math.round(median(processor)), ''],
    [`RSS after ${IDLE_SECONDS} idle seconds, MB`, Math.round(idle), 150],
  ]);
}
