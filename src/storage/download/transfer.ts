import type { StorageWriter } from '../storage.js';
import { contentLength, continues, endsVisibly, isPlain, type Kept, strongValidator } from './answer-rules.js';
import { DownloadFailed, statusFailure, tooLarge } from './download-failure.js';
import type { DownloadOrder } from './download-order.js';
import type { DownloadLimits } from './limits.js';
import type { LinkAnswer, OpenLink } from './link-request.js';

/** What one call of `download` works with. */
export interface Running {
  readonly order: DownloadOrder;
  readonly limits: DownloadLimits;
  readonly signal: AbortSignal;
  readonly openLink: OpenLink;
}

/** An answer whose body is just what the writer lacks. */
export interface Transfer {
  readonly answer: LinkAnswer;
  /** Bytes of the whole file; undefined where nobody says. */
  readonly total: number | undefined;
}

/** Bytes of the whole file, as far as they are announced; throws where the answer is not one whole, welcome file. */
function announcedSize({ host, response }: LinkAnswer, { limits }: Running): number | undefined {
  const { statusCode = 0, headers } = response;
  if (statusCode !== 200) throw statusFailure(host, statusCode, headers['retry-after'], new Date());
  if (!isPlain(headers)) throw new DownloadFailed('bad-answer', `${host} sent the file compressed, unasked.`);
  if (!endsVisibly(headers))
    throw new DownloadFailed('bad-answer', `${host} does not say where the file ends; it might be cut off.`);
  const length = contentLength(headers);
  if (length !== undefined && length > limits.maxBytes) throw tooLarge(host, limits.maxBytes);
  return length;
}

async function startFromZero(writer: StorageWriter, answer: LinkAnswer, running: Running): Promise<Transfer> {
  const total = announcedSize(answer, running);
  const validator = strongValidator(answer.response.headers);
  const kept: Kept | undefined = validator === undefined || total === undefined ? undefined : { validator, total };
  await writer.begin(kept, total);
  return { answer, total };
}

/**
 * Asks for what is missing of a file that was begun, or for all of it. Whatever the host answers, the bytes that follow
 * belong behind those the writer has: a 200, another file's 206 and a 416 each mean to start from zero.
 */
export async function startTransfer(
  writer: StorageWriter,
  kept: Kept | undefined,
  running: Running,
): Promise<Transfer> {
  const { order, limits, signal, openLink } = running;
  const range = kept && { from: writer.length, validator: kept.validator };
  let answer = await openLink({ url: order.url, range, signal }, limits);
  try {
    const { statusCode, headers } = answer.response;
    if (kept !== undefined && statusCode === 206 && isPlain(headers) && continues(kept, writer.length, headers))
      return { answer, total: kept.total };
    if (kept !== undefined && (statusCode === 206 || statusCode === 416)) {
      answer.response.destroy();
      answer = await openLink({ url: order.url, signal }, limits);
    }
    return await startFromZero(writer, answer, running);
  } catch (error) {
    answer.response.destroy();
    throw error;
  }
}
