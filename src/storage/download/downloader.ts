import type { OutboundPolicy } from '../../outbound/address-guard.js';
import type { Storage, StorageWriter } from '../storage.js';
import { isStorageError, NotAFilm, StorageUnavailable, WriterSuperseded } from '../storage-errors.js';
import { type Kept, isKept } from './answer-rules.js';
import { bodyOf } from './body.js';
import { DownloadFailed, noFilm, tooLarge } from './download-failure.js';
import type { Downloaded, Downloader } from './download-order.js';
import { DOWNLOAD_LIMITS } from './limits.js';
import { type LinkAnswer, linkOpener } from './link-request.js';
import { type Running, startTransfer, type Transfer } from './transfer.js';

/** Moves the body into the writer; checks what can be checked on the way. */
async function receive(writer: StorageWriter, transfer: Transfer, { order, limits }: Running): Promise<void> {
  const { total, answer } = transfer;
  const { host } = answer;
  for await (const { bytes, release } of bodyOf(answer, limits)) {
    if (writer.length + bytes.length > (total ?? Infinity))
      throw new DownloadFailed('wrong-length', `${host} sent more than ${total} bytes.`);
    if (writer.length + bytes.length > limits.maxBytes) throw tooLarge(host, limits.maxBytes);
    await writer.append(bytes, release);
    order.onReceived?.(writer.length);
  }
  if (writer.length === 0) throw new DownloadFailed('empty', `${host} sent an empty file.`);
  if (total !== undefined && writer.length !== total)
    throw new DownloadFailed('retryable', `${host} sent ${writer.length} of ${total} bytes.`);
}

async function fetchInto(writer: StorageWriter, running: Running): Promise<Downloaded> {
  const kept: Kept | undefined = isKept(writer.memo) ? writer.memo : undefined;
  let resumedFrom = writer.length;
  let answer: LinkAnswer | undefined;
  try {
    // Killed between the last byte and its publication: nothing is left to ask for.
    if (kept === undefined || writer.length !== kept.total) {
      const transfer = await startTransfer(writer, kept, running);
      resumedFrom = writer.length;
      answer = transfer.answer;
      await receive(writer, transfer, running);
    }
    const published = await writer.publish();
    running.order.onReceived?.(published.size);
    return { ...published, resumedFrom };
  } catch (error) {
    throw error instanceof NotAFilm ? noFilm(answer?.host, answer?.response.headers['content-type'], error) : error;
  }
}

/** What an attempt failed with, as the caller is told it. */
function failureFor(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted && !isStorageError(error))
    return new DownloadFailed('cancelled', 'The download was stopped.', { cause: error });
  if (error instanceof WriterSuperseded) return new DownloadFailed('retryable', error.message, { cause: error });
  return error;
}

/** Bytes are worth keeping where another try may use them, and where they do not themselves fill the disk. */
function worthKeeping(error: unknown): boolean {
  if (error instanceof StorageUnavailable) return error.trouble !== 'full';
  return error instanceof DownloadFailed && error.keepsBytes;
}

export function createDownloader(storage: Storage, policy: OutboundPolicy): Downloader {
  const openLink = linkOpener(policy);
  return {
    async download(order) {
      const limits = { ...DOWNLOAD_LIMITS, ...order.limits };
      const signal = order.signal ?? new AbortController().signal;
      const { name, resume = true, film = false } = order;
      const writer = await storage.writer(name, { resume, film });
      try {
        return await fetchInto(writer, { order, limits, signal, openLink });
      } catch (error) {
        const failure = failureFor(error, signal);
        // What went wrong first is what counts; a sweep removes what cannot be tidied up now.
        await (worthKeeping(failure) ? writer.suspend() : writer.discard()).catch(() => undefined);
        throw failure;
      }
    },
  };
}
