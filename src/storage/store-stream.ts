import { MP4_HEAD_BYTES, mp4Sniffer } from './mp4.js';
import type { Storage } from './storage.js';

/** The content itself is not welcome; nothing was stored. */
export class ContentRefused extends Error {
  constructor(
    readonly kind: 'empty' | 'not-mp4' | 'too-large',
    message: string,
  ) {
    super(message);
    this.name = 'ContentRefused';
  }
}

const notMp4 = (): ContentRefused => new ContentRefused('not-mp4', 'This is not an MP4 file.');

export interface StoreOptions {
  readonly maxBytes: number;
  /** Refuses what does not begin as an MP4 file. */
  readonly mp4?: boolean;
}

/**
 * Stores a stream (an upload, a prepared clip) under a name, whole or not at all, never holding it in memory. Rejects
 * with `ContentRefused`, `StorageUnavailable`, or what the stream itself failed with.
 */
export async function storeStream(
  storage: Storage,
  name: string,
  source: AsyncIterable<Buffer>,
  options: StoreOptions,
): Promise<{ size: number; sha256: string }> {
  const writer = await storage.writer(name, { resume: false });
  const sniff = options.mp4 === true ? mp4Sniffer() : undefined;
  try {
    await writer.begin();
    for await (const chunk of source) {
      if (writer.length + chunk.length > options.maxBytes)
        throw new ContentRefused('too-large', `The file is larger than ${options.maxBytes} bytes.`);
      if (sniff?.(chunk) === false) throw notMp4();
      await writer.append(chunk);
    }
    if (writer.length === 0) throw new ContentRefused('empty', 'The file is empty.');
    if (sniff !== undefined && writer.length < MP4_HEAD_BYTES) throw notMp4();
    return await writer.publish();
  } catch (error) {
    // What went wrong first is what counts; a sweep removes what cannot be tidied up now.
    await writer.discard().catch(() => undefined);
    throw error;
  }
}
