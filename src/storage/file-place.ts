import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { KnownRoots } from './known-roots.js';
import { isAbsent, StorageUnavailable } from './storage-errors.js';
import { isStorageFolder, PARTIAL } from './storage-name.js';

/**
 * The root of a storage of files. It is made where there never was one. Once it has had files, a root without any of
 * their folders is taken for the place of a missing mount: nothing is written there, and nothing called lost.
 */
export class FilePlace {
  /** Whether it has had files. */
  #known = false;

  /** Without `roots` only what this process has stored is known. */
  constructor(
    readonly root: string,
    private readonly roots?: KnownRoots,
  ) {}

  /** Does what needs the folder of temporaries, which is made where it may be. */
  async within<T>(work: () => Promise<T>): Promise<T> {
    if (this.#known) {
      await this.expectMount();
      try {
        return await work();
      } catch (error) {
        if (!isAbsent(error)) throw error;
      }
    }
    await this.#make();
    return work();
  }

  /** To be called once a file is published: of a known root its folder is there. */
  async remember(): Promise<void> {
    if (this.#known) return;
    await this.roots?.add(this.root);
    this.#known = true;
  }

  /** Throws where what is absent is so with the whole mount. */
  async expectMount(): Promise<void> {
    // In this order: what another one publishes in between is not bare.
    this.#known ||= (await this.roots?.has(this.root)) === true;
    if (!this.#known || !(await isBare(this.root))) return;
    const advice = 'Mount it; where its films are lost for good, make an empty folder in it, recordings.';
    throw new StorageUnavailable('failed', `The video storage failed: its folder is missing or empty. ${advice}`);
  }

  async #make(): Promise<void> {
    await this.expectMount();
    await mkdir(join(this.root, PARTIAL), { recursive: true });
    // Files that were there before roots were remembered, or have been copied here.
    if (!(await isBare(this.root))) await this.remember();
  }
}

/** Temporaries may be there all the same: a start before the first mount has made their folder. */
const isBare = (root: string): Promise<boolean> =>
  readdir(root).then((entries) => !entries.some(isStorageFolder), isAbsent);
