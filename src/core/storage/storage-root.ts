import { readdir } from 'node:fs/promises';
import { makeFolder } from './make-folder.js';
import { isAbsent, StorageUnavailableError } from './storage-errors.js';
import { isStorageFolder } from './storage-names.js';

/** The folder of drafts in a file storage. No folder of published files begins with a dot. */
export const DRAFT_FOLDER = '.partial';

/** Records the roots that have had files, for an instance that starts while a mount is missing. */
export interface KnownRoots {
  has(root: string): Promise<boolean>;
  add(root: string): Promise<void>;
}

/**
 * The root folder of a file storage. It is created once. After it has had files, a root without any of their folders is
 * treated as a missing mount: nothing is written there, and no file is reported as lost.
 */
export class StorageRoot {
  #isKnown = false;

  constructor(
    readonly path: string,
    /** The folder of drafts. On the same file system, so that a rename publishes. */
    readonly draftPath: string,
    /** Without it only this process knows that the root has had files. */
    private readonly roots?: KnownRoots,
  ) {}

  /** Runs work that needs the folder of drafts, and creates the folder if that is allowed. */
  async within<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isKnown) {
      await this.expectMount();
      try {
        return await work();
      } catch (error) {
        if (!isAbsent(error)) throw error;
      }
    }
    await this.expectMount();
    await makeFolder(this.draftPath);
    // The folder may contain files that were copied here.
    if (!(await this.#isBare())) await this.remember();
    return work();
  }

  /** Call it after a file was published. */
  async remember(): Promise<void> {
    if (this.#isKnown) return;
    await this.roots?.add(this.path);
    this.#isKnown = true;
  }

  /** Throws if the mount is missing. */
  async expectMount(): Promise<void> {
    // In this order: another instance may publish the first file in between.
    this.#isKnown ||= (await this.roots?.has(this.path)) === true;
    if (!this.#isKnown || !(await this.#isBare())) return;
    const advice = 'Mount it. If its videos are lost for good, create an empty folder "recordings" in it.';
    throw new StorageUnavailableError('failed', `The video storage failed: its folder is missing or empty. ${advice}`);
  }

  /** The folder of drafts does not count: a start before the first mount may have created it. */
  #isBare(): Promise<boolean> {
    return readdir(this.path).then((entries) => !entries.some(isStorageFolder), isAbsent);
  }
}
