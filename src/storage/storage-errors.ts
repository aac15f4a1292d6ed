/** `full`: there is no room; it may help to delete something. `failed`: everything else that may pass by itself. */
export type StorageTrouble = 'full' | 'failed';

/** The storage cannot do its work just now; whoever needed it pauses and tries again. `message` is for an admin. */
export class StorageUnavailable extends Error {
  constructor(
    readonly trouble: StorageTrouble,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'StorageUnavailable';
  }
}

/** There is no file of that name. */
export class NotStored extends Error {
  constructor(name: string) {
    super(`${name} is not stored.`);
    this.name = 'NotStored';
  }
}

/** For `catch`, where a file that is not stored is no trouble. */
export function ifNotStored(error: unknown): undefined {
  if (!(error instanceof NotStored)) throw error;
}

/** The bytes are no whole MP4 film; nothing of them was published. `message` says what they are, after "it". */
export class NotAFilm extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotAFilm';
  }
}

/** Another writer of the same name went on: this one's temporary is gone, and nothing was published by it. */
export class WriterSuperseded extends Error {
  constructor(cause?: unknown) {
    super('Another writer of this file went on; this one stopped.', { cause });
    this.name = 'WriterSuperseded';
  }
}

export const isStorageError = (error: unknown): boolean =>
  error instanceof StorageUnavailable || error instanceof NotStored || error instanceof WriterSuperseded;

/** By its shape, as errors of Node.js itself may come from another realm than this module's (Jest's, for one). */
export const isErrorLike = (error: unknown): error is { message: string; name?: unknown; code?: unknown } =>
  typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string';

export const errorCode = (error: unknown): string | undefined =>
  isErrorLike(error) && typeof error.code === 'string' ? error.code : undefined;

/** Of the file system: there is nothing of that name. */
export const isAbsent = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '');

export const sentenceOf = (error: unknown): string => (isErrorLike(error) ? error.message : String(error));

export const fullDisk = (detail: string, cause?: unknown): StorageUnavailable =>
  new StorageUnavailable('full', `The video storage is full: ${detail}.`, cause);
