import { TargetBackoff } from '../../core/outbound/backoff.js';
import { DownloadError, reasonOf, retryLater, RetryLaterError } from './download-error.js';
import { createHash } from 'node:crypto';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import type { RecordingReason } from '../../contracts/admin/recordings.routes.js';
import { WorkService } from '../../core/work/work.service.js';
import { type Next, RowLostError, type Run } from '../../core/work/run.js';
import { inCallContext } from '../../core/outbound/outbound-log.js';
import { StorageUnavailableError } from '../../core/storage/storage-errors.js';
import type { Published } from '../../core/storage/draft.js';
import { recordingFile } from '../recordings/recording.rules.js';
import { DOWNLOAD, VisionConnections } from '../client/vision-connections.repository.js';
import {
  DOWNLOAD_LANES,
  DownloadRepository,
  type RecordingRow,
  resumeColumns,
  resumePointOf,
} from './download.repository.js';
import { Downloader } from './downloader.js';
import { type FetchFailure, type NextStep, nextStep } from './download.rules.js';
import { RelinkService } from './relink.service.js';

/** Downloads in a row that do not reach a host before it is not called for a while. */
const MAX_UNREACHED = 3;

/** A host that was not reached several times in a row, or that asked for fewer calls, is not called for a while. */
class FileHosts {
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

type DownloadRun = Run<RecordingRow>;

/** Why a download ended. */
interface Ending {
  readonly reason: string;
  readonly code: RecordingReason;
}

const STORAGE = 'storage';

/** A recording without a link is fetched after the recordings whose links expire within this time. */
const RELINK_DELAY_MS = 300_000;

/** Far more than a link is tried (`nextStep`): ends a row with which each process crashes. */
const MAX_ATTEMPTS = 1_500;

/** Fetches recordings before their links expire, the earliest expiry first (decision 47). */
@Injectable()
export class DownloadJob implements OnModuleInit {
  private readonly hosts = new FileHosts();
  /** While the storage is unavailable, this instance starts no downloads. */
  private readonly storage = new TargetBackoff(1);
  private storageReason = '';

  constructor(
    private readonly work: WorkService,
    private readonly recordings: DownloadRepository,
    private readonly links: RelinkService,
    private readonly connections: VisionConnections,
    private readonly downloader: Downloader,
    @Inject(ENV) private readonly env: ResolvedEnv,
  ) {}

  onModuleInit(): void {
    this.work.register<RecordingRow>({
      name: DOWNLOAD,
      table: 'recordings',
      // With the start, so that a write finds the one partition of the recording.
      key: { hauler_id: 'uuid', id: 'uuid', start_time: 'timestamptz' },
      order: 'fetch_by',
      callsPartners: true,
      lane: { by: 'connection_id', concurrency: this.env.DOWNLOAD_CONCURRENCY_PER_CONNECTION },
      lanesSql: DOWNLOAD_LANES,
      backoff: { firstMs: 1_000, factor: 2, maxMs: 300_000, jitter: 0.2 },
      attempts: {
        max: MAX_ATTEMPTS,
        giveUp: async (run, reason) => void (await this.end(run, 'failed', { reason, code: 'interrupted' })),
      },
      // While hosts wait for this instance, the next files are left to others. Without the other condition each due row would be
      // started and deferred again and again while the storage is unavailable.
      canStart: () => !this.downloader.isFull && this.storage.pausedUntil(STORAGE) === undefined,
      run: (run) =>
        inCallContext(
          {
            references: [
              { kind: 'recordingId', value: run.row.id },
              { kind: 'truckId', value: run.row.truck_id },
              { kind: 'cameraId', value: run.row.camera_id },
            ],
            haulerId: run.row.hauler_id,
            connectionId: run.row.connection_id,
          },
          () => this.run(run),
        ),
    });
  }

  private async run(run: DownloadRun): Promise<Next> {
    const { row } = run;
    // Checked first, because a published file is stored even if its link has expired or the storage is full.
    if (await this.storePublished(run)) return 'done';
    // The pause may have begun after the start.
    const pausedUntil = this.storage.pausedUntil(STORAGE);
    if (pausedUntil !== undefined) {
      await this.recordings.defer(run);
      throw retryLater(this.storageReason, pausedUntil);
    }
    // Our clock or the partner's may be wrong: an expired link is tried once (decision 47).
    if (row.link !== null && (run.attempt === 1 || !isExpired(row))) return this.downloadFrom(run, row.link);
    if (isReceived(row)) return this.download(run, undefined);
    if (row.link === null) return this.relink(run);
    const failure = { kind: 'link-refused', retryAt: undefined, madeNoProgress: false } as const;
    return this.decide(run, failure, 'The link had expired before the file could be fetched.');
  }

  private async storePublished(run: DownloadRun): Promise<boolean> {
    const { row } = run;
    if (!mayBePublished(row)) return false;
    const published = await this.pauseOnStorageError(() => this.published(recordingFile(row.id)));
    if (published === undefined) return false;
    await this.stored(run, published);
    return true;
  }

  /** Defers the download while its host is not called. */
  private async downloadFrom(run: DownloadRun, url: string): Promise<Next> {
    const { row } = run;
    const host = URL.canParse(url) ? new URL(url).host : '';
    const refusal = this.hosts.refusal(row.connection_id, host);
    if (refusal === undefined) return this.download(run, url, host);
    const retryAt = new Date(Date.now() + refusal.delayMs);
    const failure = { kind: 'retryable', retryAt, madeNoProgress: false } as const;
    const step = await this.next(run, failure);
    if (step.step !== 'retry') return this.apply(run, step, { reason: refusal.message, code: 'unreachable' });
    await this.recordings.defer(run);
    throw new RetryLaterError(refusal.message, step.afterMs);
  }

  /** `url` is absent if nothing has to be fetched. */
  private async download(run: DownloadRun, url: string | undefined, host = ''): Promise<Next> {
    const { row } = run;
    await this.recordings.begin(run);
    let received = 0;
    try {
      const downloaded = await this.downloader.download({
        url,
        name: recordingFile(row.id),
        resume: resumePointOf(row),
        limits: { firstByteMs: await this.connections.firstByteMs(row.hauler_id, row.connection_id) },
        signal: run.signal,
        onReceived: (bytes) => void (received = bytes),
        onCheckpoint: (point) => run.update(resumeColumns(point)),
      });
      this.hosts.ended(row.connection_id, host);
      return await this.stored(run, downloaded);
    } catch (error) {
      this.hosts.ended(row.connection_id, host, error);
      if (run.signal.aborted) throw run.signal.reason;
      if (error instanceof DownloadError) return this.failed(run, error, received);
      if (!(error instanceof StorageUnavailableError)) throw error;
      await this.recordings.defer(run);
      throw this.storagePause(error);
    }
  }

  private async relink(run: DownloadRun): Promise<Next> {
    const listed = await this.links.find(run.row, run.signal);
    if (typeof listed === 'string') return this.end(run, 'expired', { reason: listed, code: 'notListed' });
    await this.recordings.finish(run, 'available', { afterMs: 0 }, listed);
    return 'done';
  }

  private async stored(
    run: DownloadRun,
    { size, sha256, trailingBytes = 0 }: Published & { readonly trailingBytes?: number },
  ): Promise<Next> {
    this.storage.answered(STORAGE);
    const set = {
      size_bytes: size,
      sha256,
      stored_at: new Date(),
      link: null,
      reason: trailingBytes === 0 ? null : `The file has ${trailingBytes} bytes after its last MP4 box.`,
      ...resumeColumns(undefined),
    };
    try {
      await this.recordings.finish(run, 'stored', 'done', set);
    } catch (error) {
      // The recording may have been erased while its file was published: the file must not stay then.
      if (error instanceof RowLostError && !(await this.recordings.exists(run.row)))
        await this.downloader.storage.delete(recordingFile(run.row.id));
      throw error;
    }
    return 'done';
  }

  private async failed(run: DownloadRun, error: DownloadError, received: number): Promise<Next> {
    const best = Number(run.row.received_bytes);
    const { kind, retryAt, message } = error;
    if (received > best) await run.update({ received_bytes: received });
    return this.decide(run, { kind, retryAt, madeNoProgress: received > 0 && received <= best }, message);
  }

  private async decide(run: DownloadRun, failure: FetchFailure, reason: string): Promise<Next> {
    return this.apply(run, await this.next(run, failure), { reason, code: reasonOf(failure.kind) });
  }

  private async next({ row, attempt }: DownloadRun, failure: FetchFailure): Promise<NextStep> {
    const { relinks, created_at: listed, expires_at: expires } = row;
    const givesUpAt = (await this.recordings.deadline(row, this.env.VISION_DOWNLOAD_DEADLINE)).getTime();
    const state = { relinks, attempt, listedAt: listed.getTime(), expiresAt: expires?.getTime(), givesUpAt };
    return nextStep(state, failure, Date.now());
  }

  private async apply(run: DownloadRun, step: NextStep, ending: Ending): Promise<Next> {
    const { reason } = ending;
    switch (step.step) {
      case 'retry':
        await this.recordings.defer(run, { reason });
        throw new RetryLaterError(reason, step.afterMs, true);
      case 'relink': {
        const set = { link: null, reason, fetch_by: new Date(Date.now() + step.afterMs + RELINK_DELAY_MS) };
        await this.recordings.finish(run, 'available', { afterMs: step.afterMs }, set);
        return 'done';
      }
      case 'end':
        return this.end(run, step.status, ending);
    }
  }

  /** The drafts are removed first, because no later attempt removes them. */
  private async end(run: DownloadRun, status: 'failed' | 'expired', { reason, code }: Ending): Promise<Next> {
    await this.pauseOnStorageError(() => this.downloader.storage.removeDrafts(recordingFile(run.row.id)));
    const set = { reason, reason_code: code, link: null, ...resumeColumns(undefined) };
    await this.recordings.finish(run, status, 'done', set);
    return 'done';
  }

  /** Size and SHA-256 of a published file; undefined if there is none. */
  private async published(name: string): Promise<Published | undefined> {
    const file = await this.downloader.storage.stat(name);
    if (file === undefined) return undefined;
    const hash = createHash('sha256');
    for await (const chunk of await this.downloader.storage.read(name)) hash.update(chunk as Buffer);
    return { size: file.size, sha256: hash.digest('hex') };
  }

  /** The error that ends a download because the storage failed. */
  private storagePause(failure: StorageUnavailableError): RetryLaterError {
    this.storage.failed(STORAGE);
    this.storageReason = failure.message;
    return retryLater(failure.message, this.storage.pausedUntil(STORAGE) ?? new Date());
  }

  private async pauseOnStorageError<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof StorageUnavailableError ? this.storagePause(error) : error;
    }
  }
}

const isExpired = ({ expires_at }: RecordingRow): boolean => expires_at !== null && expires_at.getTime() <= Date.now();

/** The whole file was received, and only its publication failed. */
const isReceived = ({ draft_bytes, draft_total }: RecordingRow): boolean =>
  draft_bytes !== null && draft_bytes === draft_total;

/** A run that was interrupted, or that could not write its end, may have published the file. */
const mayBePublished = (row: RecordingRow): boolean =>
  row.started_at !== null || row.last_error !== null || isReceived(row);
