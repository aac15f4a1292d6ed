import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Next } from '../../jobs/due-rows.js';
import type { Run } from '../../jobs/run.js';
import { DownloadFailed } from '../../storage/download/download-failure.js';
import { type Downloaded, DOWNLOADER, type Downloader } from '../../storage/download/download-order.js';
import { StorageUnavailable } from '../../storage/storage-errors.js';
import { type Published, STORAGE, type Storage } from '../../storage/storage.js';
import { recordingFile } from '../recordings/recording-files.js';
import { fetchBy } from './fetch-by.js';
import { Later } from './later.js';
import { isBroken, type NextStep, nextStep, relinkOrEnd } from './next-step.js';
import { RecordingMoves } from './recording-moves.js';
import type { RecordingRow } from './recording-row.js';
import { Relink } from './relink.js';
import { StoragePause } from './storage-pause.js';

/** A recording without a link waits behind those whose links die within this time. */
const BEHIND_MS = 300_000;

/** The steps of one download; each leaves the row where the next one, on any instance, can go on. */
@Injectable()
export class FetchSteps {
  constructor(
    private readonly pause: StoragePause,
    private readonly moves: RecordingMoves,
    private readonly links: Relink,
    @Inject(STORAGE) private readonly storage: Storage,
    @Inject(DOWNLOADER) private readonly downloader: Downloader,
  ) {}

  /** Whether the storage can take nothing just now. */
  get paused(): boolean {
    return this.pause.current() !== undefined;
  }

  /** Whether all was done but for the row: whoever began may have been killed after the file was published. */
  async storePublished(run: Run<RecordingRow>): Promise<boolean> {
    const { row } = run;
    if (!wasInterrupted(row)) return false;
    const begun = Date.now();
    const whole = await this.storing(() => this.published(recordingFile(row.id)));
    if (whole === undefined) return false;
    await this.stored(run, row, whole, begun);
    return true;
  }

  /** Throws `Later` while the storage can take nothing. */
  async heedPause(run: Run<RecordingRow>): Promise<void> {
    const later = this.pause.current();
    if (later === undefined) return;
    await this.moves.move(run, run.row, 'available');
    throw later;
  }

  async download(run: Run<RecordingRow>, url: string): Promise<Next> {
    const { row } = run;
    const name = recordingFile(row.id);
    const begun = Date.now();
    const interrupted = wasInterrupted(row);
    // A chunk was moved by its claim; a clip takes its part with it.
    if (row.part_id !== null && !interrupted) await this.moves.move(run, row, 'downloading');
    const resume = interrupted || run.attempt > 1 || row.relinks > 0;
    const current: RecordingRow = { ...row, status: 'downloading' };
    let received = 0;
    // Whether a broken try got anywhere decides what becomes of it.
    const onReceived = (bytes: number) => void (received = bytes);
    const order = { url, name, film: true, resume, signal: run.signal, onReceived };
    const fetched = await this.downloader.download(order).catch((error: unknown) => error);
    if (isDownloaded(fetched)) return this.stored(run, current, fetched, begun);
    if (run.signal.aborted) throw run.signal.reason;
    if (fetched instanceof DownloadFailed) return this.failed(run, current, fetched, received);
    await this.moves.move(run, current, 'available');
    throw fetched instanceof StorageUnavailable ? this.pause.begin(fetched) : fetched;
  }

  /** A link that has died is forgotten; the row asks for another when its turn comes again. */
  replaceLink(run: Run<RecordingRow>, reason: string): Promise<Next> {
    return this.take(run, run.row, relinkOrEnd(run.row), reason);
  }

  async relink(run: Run<RecordingRow>): Promise<Next> {
    const { row } = run;
    const listed = await this.links.find(row, run.signal);
    if (typeof listed === 'string') {
      await this.end(run, row, 'expired', listed);
      return 'done';
    }
    const set = {
      link: listed.downloadUrl,
      expires_at: listed.expiresAt ?? null,
      fetch_by: fetchBy(listed.expiresAt, Date.now()),
      relinks: row.relinks + 1,
    };
    await this.moves.finish(run, row, 'available', { afterMs: 0 }, set);
    return 'done';
  }

  private async stored(
    run: Run<RecordingRow>,
    row: RecordingRow,
    { size, sha256 }: Published,
    begun: number,
  ): Promise<Next> {
    this.pause.end();
    await this.moves.finish(run, row, 'stored', 'done', {
      size_bytes: size,
      sha256,
      fetch_ms: Date.now() - begun,
      stored_at: new Date(),
      link: null,
      reason: null,
    });
    return 'done';
  }

  private async failed(
    run: Run<RecordingRow>,
    row: RecordingRow,
    error: DownloadFailed,
    received: number,
  ): Promise<Next> {
    const best = Number(row.received_bytes);
    const fruitless = received > 0 && received <= best;
    const { kind, retryAfterMs, message } = error;
    const state = {
      relinks: row.relinks,
      fruitless: row.fruitless,
      attempt: run.attempt,
      listedAt: row.created_at.getTime(),
      expiresAt: row.expires_at?.getTime(),
    };
    const step = nextStep(state, { kind, retryAfterMs, fruitless }, Date.now());
    const progress = {
      received_bytes: Math.max(best, received),
      fruitless: isBroken({ kind, fruitless }) ? row.fruitless + 1 : received > best ? 0 : row.fruitless,
    };
    await run.update(progress);
    return this.take(run, row, step, message);
  }

  private async take(run: Run<RecordingRow>, row: RecordingRow, step: NextStep, reason: string): Promise<Next> {
    switch (step.step) {
      case 'retry':
        await this.moves.move(run, row, 'available', { reason });
        throw new Later(reason, step.afterMs);
      case 'relink': {
        const set = { link: null, reason, fetch_by: new Date(Date.now() + step.afterMs + BEHIND_MS) };
        await this.moves.finish(run, row, 'available', { afterMs: step.afterMs }, set);
        return 'done';
      }
      case 'end':
        await this.end(run, row, step.status, reason);
        return 'done';
    }
  }

  /** What is half fetched goes first: nobody comes back for it. */
  private async end(
    run: Run<RecordingRow>,
    row: RecordingRow,
    status: 'failed' | 'expired',
    reason: string,
  ): Promise<void> {
    await this.storing(async () => (await this.storage.writer(recordingFile(row.id))).discard());
    await this.moves.finish(run, row, status, 'done', { reason, link: null });
  }

  /** Bytes and sum of a file that is there, whole as every published one. */
  private async published(name: string): Promise<Published | undefined> {
    const file = await this.storage.stat(name);
    if (file === undefined) return undefined;
    const hash = createHash('sha256');
    for await (const chunk of await this.storage.read(name)) hash.update(chunk as Buffer);
    return { size: file.size, sha256: hash.digest('hex') };
  }

  private async storing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof StorageUnavailable ? this.pause.begin(error) : error;
    }
  }
}

/** The run's row has the status from before the claim, which may have moved the stored one on (`BEGUN`). */
const wasInterrupted = ({ status }: RecordingRow): boolean => status === 'downloading';

const isDownloaded = (result: unknown): result is Downloaded =>
  typeof result === 'object' && result !== null && 'sha256' in result;
