import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import {
  contentLength,
  continuesFile,
  type FileIdentity,
  hasVisibleEnd,
  isUncompressed,
  strongValidator,
} from '../../core/media/file-headers.js';
import { InvalidMp4Error, Mp4BoxValidator } from '../../core/media/mp4-box-validator.js';
import { Semaphore } from '../../core/database/semaphore.js';
import { redactText } from '../../core/observability/redaction.js';
import type { OutboundPolicy } from '../../core/outbound/address-guard.js';
import type { OutboundLog } from '../../core/outbound/outbound-log.js';
import type { Storage } from '../../core/storage/storage.js';
import type { Draft, DraftPoint, Published } from '../../core/storage/draft.js';
import { DraftReplacedError, isStorageError, StorageUnavailableError } from '../../core/storage/storage-errors.js';
import { connectionError, DownloadError, invalidMp4, statusError, tooLarge } from './download-error.js';
import { type DownloadLimits, freeMemory, linkOpener, type LinkResponse, type OpenLink } from './link-request.js';
import { TransferWatch } from './transfer-watch.js';

export const DOWNLOAD_LIMITS: DownloadLimits = {
  maxBytes: 10 * 1024 ** 3,
  firstByteMs: 120_000,
  idleMs: 30_000,
  minBytesPerSecond: 1024,
  slowMs: 60_000,
  maxRedirects: 3,
};

/** Minimum time and bytes between two checkpoints. A killed process loses the bytes since the last one. */
const CHECKPOINT = { ms: 1_000, bytes: 1024 * 1024 };

/** Where an interrupted download resumes. */
export type ResumePoint = DraftPoint & FileIdentity;

export interface DownloadOrder {
  /** A secret, because it may be signed. No error contains it. Not needed to publish a file that was received earlier. */
  readonly url: string | undefined;
  /** The name in the storage, from `storageName`. */
  readonly name: string;
  /** From an earlier attempt. The download starts from zero without it, or if the host has another file by now. */
  readonly resume?: ResumePoint | undefined;
  /** Called with the point at which a later attempt can resume, or undefined if none can. */
  readonly onCheckpoint?: (point: ResumePoint | undefined) => Promise<void>;
  /** Called with the number of bytes so far, including earlier attempts. */
  readonly onReceived?: (bytes: number) => void;
  readonly signal?: AbortSignal;
  readonly limits?: Partial<DownloadLimits>;
}

export interface Downloaded extends Published {
  /** Bytes of earlier attempts. */
  readonly resumedFrom: number;
  /** Bytes after the last box of the MP4. */
  readonly trailingBytes: number;
}

/** Downloads MP4 files to the storage (decision 47). */
export class Downloader {
  private readonly openLink: OpenLink;
  private readonly receiving: Semaphore;

  constructor(
    readonly storage: Storage,
    policy: OutboundPolicy,
    log?: OutboundLog,
    /** Downloads that receive at once. One that waits for its host does not count. */
    maxReceiving = Infinity,
  ) {
    this.openLink = linkOpener(policy, log);
    this.receiving = new Semaphore(maxReceiving);
  }

  /** Downloads whose hosts send already wait until others have received their files. */
  get isFull(): boolean {
    return this.receiving.isWaitedFor;
  }

  /** Rejects with `DownloadError` or `StorageUnavailableError`. */
  download(order: DownloadOrder): Promise<Downloaded> {
    return new Transfer(this.storage, this.openLink, this.receiving, order).run();
  }
}

/** One call of `download`. */
class Transfer {
  readonly #limits: DownloadLimits;
  readonly #signal: AbortSignal;
  #draft: Draft | undefined;
  /** Undefined if the file that is being fetched cannot be resumed later. */
  #identity: FileIdentity | undefined;
  #total: number | undefined;
  #response: LinkResponse | undefined;
  #isReceiving = false;
  #isOver = false;
  #hash = createHash('sha256');
  #boxes = new Mp4BoxValidator(redactText);
  /** Nothing but the end of the connection shows the end of the file. */
  #mayBeCut = false;
  #length = 0;
  #resumedFrom = 0;
  #checkpoint = { at: Date.now(), length: 0, running: Promise.resolve() };

  constructor(
    private readonly storage: Storage,
    private readonly openLink: OpenLink,
    private readonly receiving: Semaphore,
    private readonly order: DownloadOrder,
  ) {
    this.#limits = { ...DOWNLOAD_LIMITS, ...order.limits };
    this.#signal = order.signal ?? new AbortController().signal;
  }

  async run(): Promise<Downloaded> {
    try {
      const draft = await this.#fetch();
      const trailingBytes = this.#boxes.end(this.#mayBeCut);
      await this.#checkpoint.running;
      await draft.publish();
      const sha256 = this.#hash.digest('hex');
      return { size: this.#length, sha256, resumedFrom: this.#resumedFrom, trailingBytes };
    } catch (error) {
      const failure = this.#failureOf(error);
      // The first failure is the one to report; the sweep removes what cannot be removed now.
      await this.#releaseDraft(failure).catch(() => undefined);
      throw failure;
    } finally {
      this.#isOver = true;
      this.#stopReceiving();
    }
  }

  /** At the first bytes, and again at those after a pause: a camera that wakes up costs other downloads nothing. */
  async #startReceiving(): Promise<void> {
    if (this.#isReceiving) return;
    await this.receiving.acquire(this.#signal);
    this.#isReceiving = true;
    // The storage may have failed meanwhile.
    if (this.#isOver) this.#stopReceiving();
  }

  #stopReceiving(): void {
    if (this.#isReceiving) this.receiving.release();
    this.#isReceiving = false;
  }

  async #fetch(): Promise<Draft> {
    const resumed = await this.#reopen();
    // The publication failed, or the process was killed before it, so no byte is missing.
    if (resumed !== undefined && this.#length === this.#total) return resumed;
    try {
      const answer = (this.#response = await this.#open());
      const draft =
        resumed !== undefined && answer.response.statusCode === 206 ? resumed : await this.#startFromZero(answer);
      await this.#receive(answer, draft);
      return draft;
    } finally {
      this.#response?.response.destroy();
    }
  }

  /** The draft of an earlier attempt, whose bytes are read for the hash and the box check. */
  async #reopen(): Promise<Draft | undefined> {
    const { resume, name } = this.order;
    if (resume === undefined) return undefined;
    const draft = await this.storage.openDraft(name, resume);
    if (draft === undefined) {
      await this.order.onCheckpoint?.(undefined);
      return undefined;
    }
    this.#draft = draft;
    this.#identity = { validator: resume.validator, total: resume.total };
    this.#total = resume.total;
    if (draft.length > 0) for await (const chunk of draft.readable()) this.#inspect(chunk as Buffer);
    this.#resumedFrom = this.#length;
    return draft;
  }

  /** A 206 carries exactly the missing bytes; with any other response the file starts from zero. */
  async #open(): Promise<LinkResponse> {
    const { url } = this.order;
    if (url === undefined)
      throw new DownloadError('link-refused', 'The link expired, and the received bytes are lost.');
    const identity = this.#identity;
    const range = identity && { from: this.#length, validator: identity.validator };
    const answer = await this.openLink({ url, range, signal: this.#signal }, this.#limits);
    const { statusCode, headers } = answer.response;
    if (identity === undefined || (statusCode !== 206 && statusCode !== 416)) return answer;
    if (statusCode === 206 && isUncompressed(headers) && continuesFile(identity, this.#length, headers)) return answer;
    answer.response.destroy();
    return this.openLink({ url, signal: this.#signal }, this.#limits);
  }

  async #startFromZero(answer: LinkResponse): Promise<Draft> {
    const total = announcedSize(answer, this.#limits.maxBytes);
    const validator = strongValidator(answer.response.headers);
    await this.#draft?.close();
    this.#hash = createHash('sha256');
    this.#boxes = new Mp4BoxValidator(redactText);
    this.#length = this.#resumedFrom = 0;
    this.#total = total;
    this.#mayBeCut = !hasVisibleEnd(answer.response.headers);
    this.#identity = validator === undefined || total === undefined ? undefined : { validator, total };
    this.#draft = await this.storage.createDraft(this.order.name, total);
    return this.#draft;
  }

  async #receive(answer: LinkResponse, draft: Draft): Promise<void> {
    const { host } = answer;
    this.#checkpoint = { at: Date.now(), length: this.#length, running: Promise.resolve() };
    let failure: unknown;
    const checked = this.#checkedBody(answer, draft, (error) => void (failure = error));
    await pipeline(checked, draft.writable(freeMemory));
    if (failure !== undefined && !(this.#mayBeCut && endsWithReset(failure, this.#boxes)))
      throw failure instanceof InvalidMp4Error ? failure : connectionError(host, failure, true);
    if (this.#length === 0) throw new DownloadError('empty', `${host} sent an empty file.`);
    if (this.#total !== undefined && this.#length !== this.#total)
      throw new DownloadError('retryable', `${host} sent ${this.#length} of ${this.#total} bytes.`);
  }

  /** Ends at a failure instead of throwing it, so that the bytes before it are written: another attempt resumes there. */
  async *#checkedBody(
    { host, response, counted }: LinkResponse,
    draft: Draft,
    onFailure: (error: unknown) => void,
  ): AsyncGenerator<Buffer> {
    const watch = new TransferWatch(host, this.#limits, {
      onStalled: () => this.#stopReceiving(),
      onExpired: (error) => response.destroy(error),
    });
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        watch.received(chunk.length);
        await this.#startReceiving();
        counted(chunk.length);
        this.#inspect(chunk, host);
        this.order.onReceived?.(this.#length);
        this.#checkpointIfDue(draft);
        yield chunk;
        watch.waitForHost();
      }
    } catch (error) {
      onFailure(error);
    } finally {
      watch.stop();
    }
  }

  #inspect(chunk: Buffer, host = 'the host'): void {
    this.#length += chunk.length;
    if (this.#length > (this.#total ?? Infinity))
      throw new DownloadError('wrong-length', `${host} sent more than ${this.#total} bytes.`);
    if (this.#length > this.#limits.maxBytes) throw tooLarge(host, this.#limits.maxBytes);
    this.#boxes.update(chunk);
    this.#hash.update(chunk);
  }

  /** Runs beside the transfer, which must not wait for the disk. */
  #checkpointIfDue(draft: Draft): void {
    const last = this.#checkpoint;
    const isDue = Date.now() - last.at >= CHECKPOINT.ms && this.#length - last.length >= CHECKPOINT.bytes;
    if (!isDue || this.#identity === undefined) return;
    // A checkpoint that fails costs only the bytes since the one before.
    const running = last.running.then(() => this.#saveCheckpoint(draft)).catch(() => undefined);
    this.#checkpoint = { at: Date.now(), length: this.#length, running };
  }

  async #saveCheckpoint(draft: Draft): Promise<void> {
    const bytes = await draft.sync();
    if (this.#identity !== undefined) await this.order.onCheckpoint?.({ ...this.#identity, id: draft.id, bytes });
  }

  #failureOf(error: unknown): unknown {
    if (this.#signal.aborted && !isStorageError(error))
      return new DownloadError('cancelled', 'The download was stopped.', { cause: error });
    if (error instanceof DraftReplacedError) return new DownloadError('retryable', error.message, { cause: error });
    if (!(error instanceof InvalidMp4Error)) return error;
    const { host, response } = this.#response ?? {};
    return invalidMp4(host, response?.headers['content-type'], error);
  }

  /** Keeps the bytes for another attempt, or discards them. */
  async #releaseDraft(failure: unknown): Promise<void> {
    const draft = this.#draft;
    await this.#checkpoint.running;
    if (draft?.isWhole === true && failure instanceof StorageUnavailableError)
      return this.order.onCheckpoint?.(wholeFile(draft, this.#identity?.validator));
    if (shouldKeepBytes(failure)) {
      if (draft === undefined || draft.length === 0 || this.#identity === undefined) return draft?.discard();
      try {
        return await this.#saveCheckpoint(draft);
      } finally {
        await draft.close();
      }
    }
    await draft?.discard();
    if (this.order.resume === undefined) return;
    // A draft that does not fit is removed, so that other files can be stored.
    if (draft === undefined) await this.storage.removeDrafts(this.order.name);
    await this.order.onCheckpoint?.(undefined);
  }
}

/** Undefined if the host does not announce it. Throws if the response is not one whole, acceptable file. */
export function announcedSize({ host, response }: LinkResponse, maxBytes: number): number | undefined {
  const { statusCode = 0, headers } = response;
  if (statusCode !== 200) throw statusError(host, statusCode, headers['retry-after'], new Date());
  if (!isUncompressed(headers)) throw new DownloadError('bad-answer', `${host} sent the file compressed.`);
  const length = contentLength(headers);
  if (length !== undefined && length > maxBytes) throw tooLarge(host, maxBytes);
  return length;
}

/** Hosts that end a file with its connection may reset it: the bytes are whole if their boxes are. */
export function endsWithReset(failure: unknown, boxes: Mp4BoxValidator): boolean {
  const cause = failure instanceof DownloadError ? failure.cause : failure;
  if ((cause as NodeJS.ErrnoException | undefined)?.code !== 'ECONNRESET') return false;
  try {
    boxes.end(true);
    return true;
  } catch {
    return false;
  }
}

/** No request follows this point, so it needs no validator. */
const wholeFile = ({ id, length }: Draft, validator = ''): ResumePoint => ({
  id,
  bytes: length,
  total: length,
  validator,
});

/** Bytes are kept if another attempt can use them, unless they themselves fill the disk. */
function shouldKeepBytes(failure: unknown): boolean {
  if (failure instanceof StorageUnavailableError) return failure.trouble !== 'full';
  return failure instanceof DownloadError && failure.keepsBytes;
}
