import { Injectable } from '@nestjs/common';
import { HotPathPool } from '../database/hot-path-pool.js';
import { knownKey, type KnownKey, type KnownKeyRow } from './known-key.js';

type Waiting = Map<string, PromiseWithResolvers<KnownKey | undefined>>;

/**
 * Finds keys by their hashes, all those asked for while the last statement ran in the next one: however many keys are
 * in use, or invented by an attacker, one connection of the hot path serves them. A key that is over is not found, as one that was
 * never issued: with its row to read and to remember, the time of the refusal would distinguish the two.
 */
@Injectable()
export class KeyLookup {
  private waiting: Waiting = new Map();
  private running = false;

  constructor(private readonly hotPath: HotPathPool) {}

  find(hash: string): Promise<KnownKey | undefined> {
    let answer = this.waiting.get(hash);
    if (answer === undefined) {
      answer = Promise.withResolvers();
      this.waiting.set(hash, answer);
    }
    if (!this.running) void this.run();
    return answer.promise;
  }

  private async run(): Promise<void> {
    this.running = true;
    while (this.waiting.size > 0) {
      const batch = this.waiting;
      this.waiting = new Map();
      await this.answer(batch);
    }
    this.running = false;
  }

  private async answer(batch: Waiting): Promise<void> {
    try {
      const found = await this.select([...batch.keys()]);
      for (const [hash, { resolve }] of batch) resolve(found.get(hash));
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    }
  }

  private async select(hashes: string[]): Promise<Map<string, KnownKey>> {
    const rows = await this.hotPath.use((connection) =>
      connection.query<KnownKeyRow[]>(
        `SELECT id, hash, prefix, hauler_id, customer_id, interfaces, expires_at, retires_at, last_used_at,
              replaces_id IS NOT NULL AND activated_at IS NULL AS dormant
         FROM api_keys
        WHERE hash = ANY ($1::bytea[])
          AND revoked_at IS NULL AND coalesce(least(expires_at, retires_at), 'infinity') > now()`,
        [hashes.map((hash) => Buffer.from(hash, 'base64url'))],
      ),
    );
    return new Map(rows.map(knownKey).map((key) => [key.hash, key]));
  }
}
