import { LRUCache } from 'lru-cache';
import { TargetBackoff } from '../../outbound/target-backoff.js';
import { DownloadError, retryLater, RetryLaterError } from './download-error.js';

/** Downloads of all connections that may wait for one host at once, unless the host sends bytes for others. */
const MAX_STALLED_PER_HOST = 8;
/** A host that sent bytes within this time is not the reason why a download waits. */
const MOVED_MS = 10_000;
/** The delay of a download that left its place to others, with jitter. */
const GIVE_WAY_MS = 15_000;

/** Downloads in a row that do not reach a host before it is not called for a while. */
const MAX_UNREACHED = 3;

/** One download while it uses its host. */
export interface HostUse {
  /** The host begins or ends to keep the download waiting. Returns whether the download should leave its place. */
  stalled(isStalled: boolean): boolean;
  /** The host sent bytes of the file. */
  moved(): void;
  /** Undefined for a download that succeeded. */
  ended(error?: unknown): void;
}

interface Stalled {
  readonly connectionId: string;
  readonly host: string;
}

/**
 * Shares the downloads of this instance between file hosts. A host that was not reached several times in a row, or that
 * asked for fewer calls, is not called for a while. Of the downloads of one connection, half may wait for a host that sends nothing, for example for
 * a camera that wakes up; the others are deferred, so that what moves has places.
 */
export class FileHosts {
  private readonly backoff = new TargetBackoff(MAX_UNREACHED);
  private readonly stalled = new Set<Stalled>();
  private readonly movedAt = new LRUCache<string, number>({ max: 10_000 });
  private readonly maxStalled: number;

  constructor(perConnection: number) {
    this.maxStalled = Math.max(1, Math.floor(perConnection / 2));
  }

  /** The error that defers a download; undefined if its host may be called now. The caller then calls `use`. */
  refusal(connectionId: string, host: string): RetryLaterError | undefined {
    const ofBoth = (other: Stalled) => other.connectionId === connectionId && other.host === host;
    if (!this.hasMoved(host) && (this.count(ofBoth) >= this.maxStalled || this.isFull(host))) return giveWay(host);
    const until = this.backoff.pausedUntil(host) ?? this.backoff.pausedUntil(`${connectionId} ${host}`);
    return until && retryLater(`${host} could not be reached, or asked for fewer calls.`, until);
  }

  use(connectionId: string, host: string): HostUse {
    const own: Stalled = { connectionId, host };
    return {
      stalled: (isStalled) => {
        this.stalled.delete(own);
        if (!isStalled) return false;
        const ofConnection = this.count((other) => other.connectionId === connectionId);
        if (ofConnection >= this.maxStalled || (!this.hasMoved(host) && this.isFull(host))) return true;
        this.stalled.add(own);
        return false;
      },
      moved: () => {
        this.movedAt.set(host, Date.now());
        this.backoff.answered(host);
      },
      ended: (error) => {
        this.stalled.delete(own);
        if (!(error instanceof DownloadError) || error.kind === 'cancelled') return;
        if (error.isUnreached) this.backoff.failed(host);
        else this.backoff.answered(host);
        // Of this connection alone: a host may serve many companies.
        if (error.pauseUntil !== undefined) this.backoff.pause(`${connectionId} ${host}`, error.pauseUntil);
      },
    };
  }

  private isFull(host: string): boolean {
    return this.count((other) => other.host === host) >= MAX_STALLED_PER_HOST;
  }

  private count(isCounted: (other: Stalled) => boolean): number {
    return [...this.stalled].filter(isCounted).length;
  }

  private hasMoved(host: string): boolean {
    return Date.now() - (this.movedAt.get(host) ?? -Infinity) < MOVED_MS;
  }
}

/** The download left its place to others. It is resumed later. */
export const giveWay = (host: string): RetryLaterError =>
  new RetryLaterError(`${host} sends nothing now, and other downloads wait.`, GIVE_WAY_MS * (1 + Math.random()));
