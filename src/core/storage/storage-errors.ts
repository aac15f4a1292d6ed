import { getSystemErrorMessage } from 'node:util';

/** `full`: there is no space, so deleting something may help. `failed`: any other trouble that may pass. */
export type StorageTrouble = 'full' | 'failed';

/** The storage cannot do its work now; the caller pauses and retries. `message` is for an admin and names no path. */
export class StorageUnavailableError extends Error {
  /** For the log of the jobs: a warning, not an error. */
  readonly expected = true;
  constructor(
    readonly trouble: StorageTrouble,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'StorageUnavailableError';
  }
}

/** A file or folder cannot be read, such as one of another program or a damaged one. Others may be. */
export class UnreadableError extends StorageUnavailableError {
  constructor(
    /** Its name in the storage. */
    readonly place: string,
    readonly reason: string,
    cause?: unknown,
  ) {
    super('failed', `The video storage failed: ${reason}.`, cause);
    this.name = 'UnreadableError';
  }
}

/** There is no file of that name. */
export class NotStoredError extends Error {
  constructor(readonly file: string) {
    super(`${file} is not stored.`);
    this.name = 'NotStoredError';
  }
}

/** For `catch`, where a missing file is expected. */
export function ifNotStored(error: unknown): undefined {
  if (!(error instanceof NotStoredError)) throw error;
}

/** Another owner replaced this draft; nothing of it was published. */
export class DraftReplacedError extends Error {
  constructor(cause?: unknown) {
    super('Another attempt at this file replaced this one.', { cause });
    this.name = 'DraftReplacedError';
  }
}

export const isStorageError = (error: unknown): boolean =>
  error instanceof StorageUnavailableError || error instanceof NotStoredError || error instanceof DraftReplacedError;

/** Checks the shape, because errors of Node.js itself may come from another realm (in Jest, for example). */
export const isErrorLike = (error: unknown): error is { message: string; name?: unknown; code?: unknown } =>
  typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string';

export const errorCode = (error: unknown): string | undefined =>
  isErrorLike(error) && typeof error.code === 'string' ? error.code : undefined;

/** The file system has no file or folder of that name. */
export const isAbsent = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '');

export const sentenceOf = (error: unknown): string => (isErrorLike(error) ? error.message : String(error));

export const fullDisk = (detail: string, cause?: unknown): StorageUnavailableError =>
  new StorageUnavailableError('full', `The video storage is full: ${detail}.`, cause);

/** Converts a system error, without its path; returns any other error unchanged. `place`: what was read, as the storage names it. */
export function fileFailure(error: unknown, place?: string): unknown {
  const code = errorCode(error);
  if (code === undefined || !isErrorLike(error) || !('errno' in error)) return error;
  const words = `${getSystemErrorMessage(Number(error.errno))} (${code})`;
  if (code === 'ENOSPC' || code === 'EDQUOT') return fullDisk(words, error);
  if (place !== undefined) return new UnreadableError(place, words, error);
  return new StorageUnavailableError('failed', `The video storage failed: ${words}.`, error);
}
