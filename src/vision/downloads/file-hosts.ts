import { TargetBackoff } from '../../core/outbound/target-backoff.js';
import { DownloadError, retryLater, type RetryLaterError } from './download-error.js';

/** Downloads in a row that do not reach a host before it is not called for a while. */
const MAX_UNREACHED = 3;

/** A host that was not reached several times in a row, or that asked for fewer calls, is not called for a while. */
export class FileHosts {
  private readonly backoff = new TargetBackoff(MAX_UNREACHED);

  /** The error that defers a download; undefined if its host may be called now. */
  refusal(connectionId: string, host: string): RetryLaterError | undefined {
    const until = this.backoff.pausedUntil(host) ?? this.backoff.pausedUntil(`${connectionId} ${host}`);
    return until && retryLater(`${host} could not be reached, or asked for fewer calls.`, until);
  }

  /** How a download ended; undefined if it succeeded. */
  ended(connectionId: string, host: string, error?: unknown): void {
    if (error === undefined) return this.backoff.answered(host);
    if (!(error instanceof DownloadError) || error.kind === 'cancelled') return;
    if (error.isUnreached) this.backoff.failed(host);
    else this.backoff.answered(host);
    // Of this connection alone: a host may serve many companies.
    if (error.pauseUntil !== undefined) this.backoff.pause(`${connectionId} ${host}`, error.pauseUntil);
  }
}
