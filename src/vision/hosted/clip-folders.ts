import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'haulbridge-clip-';
const EVERY_MS = 3_600_000;
/** A clip is prepared in minutes; other processes of the machine prepare theirs in the same place. */
const LEFTOVER_MS = 86_400_000;

/** Where clips are cut: a folder each among the system's temporary files. */
@Injectable()
export class ClipFolders {
  /** Its owner removes it. */
  make(): Promise<string> {
    return mkdtemp(join(tmpdir(), PREFIX));
  }

  /** Removes those of killed processes; returns how many. */
  @Interval('clip folders', EVERY_MS)
  async sweep(): Promise<number> {
    const before = Date.now() - LEFTOVER_MS;
    let removed = 0;
    for (const name of await readdir(tmpdir())) {
      if (!name.startsWith(PREFIX)) continue;
      const path = join(tmpdir(), name);
      const changed = await stat(path).catch(() => undefined);
      if (changed === undefined || changed.mtimeMs > before) continue;
      await rm(path, { recursive: true, force: true });
      removed += 1;
    }
    return removed;
  }
}
