import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemNow } from '../sandbox/partner-clock.js';

const PREFIX = 'haulbridge-clip-';
const EVERY_MS = 60_000;
/** Other processes of the machine prepare theirs in the same place, and touch them at every sweep. */
const LEFTOVER_MS = 15 * 60_000;

/** Where clips are cut: a folder each among the system's temporary files. */
@Injectable()
export class ClipFolders implements OnApplicationBootstrap {
  private readonly logger = new Logger(ClipFolders.name);
  private readonly inUse = new Set<string>();

  /** Its owner gives it back with `remove`. */
  async make(place = tmpdir()): Promise<string> {
    const folder = await mkdtemp(join(place, PREFIX));
    this.inUse.add(folder);
    return folder;
  }

  async remove(folder: string): Promise<void> {
    this.inUse.delete(folder);
    await rm(folder, { recursive: true, force: true });
  }

  /** A process that a clip kills again and again would never live to the end of the first interval. */
  async onApplicationBootstrap(): Promise<void> {
    await this.sweep().catch((error: unknown) => {
      this.logger.warn({ err: error }, 'the folders of clips that were left behind cannot be looked for');
    });
  }

  /** Removes those of killed processes; returns how many. */
  @Interval('clip folders', EVERY_MS)
  async sweep(place = tmpdir()): Promise<number> {
    const now = systemNow();
    for (const folder of this.inUse) await utimes(folder, now / 1_000, now / 1_000).catch(() => undefined);
    let removed = 0;
    for (const name of await readdir(place)) {
      if (!name.startsWith(PREFIX)) continue;
      const path = join(place, name);
      const changed = await stat(path).catch(() => undefined);
      if (changed === undefined || changed.mtimeMs > now - LEFTOVER_MS) continue;
      // Another user's stays: only he can remove it.
      removed += await rm(path, { recursive: true, force: true }).then(
        () => 1,
        () => 0,
      );
    }
    return removed;
  }
}
