import { isLockTimeout } from '../core/database/postgres-errors.js';
import { inBackground } from '../core/errors/background.js';

/** A look-up waits for a locked table as long as a caller can: the short timeout of the hot pool is for batches of pushes. */
const MAX_LOCK_WAIT_MS = 3_500;

/** Further hashes wait for the next query, so that no query takes long. */
const MAX_HASHES = 1_000;

type Waiting<Value> = Map<string, PromiseWithResolvers<Value | undefined>>;

/**
 * Finds rows by the hashes of secrets (base64url). Requests that arrive during a query share the next one: one connection
 * serves any number of secrets, also those that an attacker invents.
 */
export class BatchedLookup<Value> {
  private readonly waiting: Waiting<Value> = new Map();
  private running = false;

  constructor(private readonly select: (hashes: Buffer[]) => Promise<(readonly [hash: string, value: Value])[]>) {}

  find(hash: string): Promise<Value | undefined> {
    let waiting = this.waiting.get(hash);
    if (waiting === undefined) {
      waiting = Promise.withResolvers();
      this.waiting.set(hash, waiting);
    }
    if (!this.running) inBackground(this.run());
    return waiting.promise;
  }

  private async run(): Promise<void> {
    this.running = true;
    while (this.waiting.size > 0) {
      const batch: Waiting<Value> = new Map(this.waiting.entries().take(MAX_HASHES));
      for (const hash of batch.keys()) this.waiting.delete(hash);
      await this.resolve(batch);
    }
    this.running = false;
  }

  private async resolve(batch: Waiting<Value>): Promise<void> {
    try {
      const found = new Map(await this.selectUnlocked([...batch.keys()].map((hash) => Buffer.from(hash, 'base64url'))));
      for (const [hash, { resolve }] of batch) resolve(found.get(hash));
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    }
  }

  private async selectUnlocked(hashes: Buffer[]): Promise<(readonly [hash: string, value: Value])[]> {
    for (const start = performance.now(); ;) {
      try {
        return await this.select(hashes);
      } catch (error) {
        if (!isLockTimeout(error) || performance.now() - start > MAX_LOCK_WAIT_MS) throw error;
      }
    }
  }
}
