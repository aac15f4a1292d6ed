import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError, invalid } from '../errors/app-error.js';

/** The limit of a caller of the admin API that may see some haulers only. */
export interface HaulerLimit {
  readonly haulers: readonly string[];
  /** The path names a thing of one of these haulers: what is read is about that thing. */
  readonly isOwner: boolean;
}

const limits = new AsyncLocalStorage<HaulerLimit | undefined>();

/** Runs the work of a call within the limit of its caller: lists show rows of these haulers only. */
export const withinHaulers = <T>(limit: HaulerLimit, work: () => T): T => limits.run(limit, work);

/** Runs work that several callers share. */
export const withoutLimit = <T>(work: () => T): T => limits.run(undefined, work);

/** A function that keeps the limit of the current call, where it runs later, as the reads of a stream do. */
export const keepingLimit = <Args extends unknown[], R>(work: (...args: Args) => R): ((...args: Args) => R) =>
  AsyncLocalStorage.bind(work);

/** The haulers whose rows the current call may list; undefined for all. */
export function listedHaulers(): readonly string[] | undefined {
  const limit = limits.getStore();
  return limit === undefined || limit.isOwner ? undefined : limit.haulers;
}

/**
 * The hauler of a filter that takes one: that which was given, or the only one of a limited caller. A caller with several
 * names one.
 */
export function filteredHauler(given: string | undefined): string | undefined {
  const haulers = listedHaulers();
  if (haulers === undefined || given !== undefined) return given;
  const [only, ...others] = haulers;
  if (others.length === 0) return only;
  const message = `haulerId is required: you may see ${haulers.join(', ')}`;
  throw invalid([{ path: 'haulerId', rule: 'isDefined', message }]);
}

/** For a list that has no haulers. */
export const refuseLimited = (): AppError => new AppError('forbidden', 'this list concerns all haulers');
