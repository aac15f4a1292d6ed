import { Readable } from 'node:stream';
import type { EncodedPacket, EncodedPacketSink, Input, InputAudioTrack, InputVideoTrack } from 'mediabunny';
import { type ByteRangeReader, checkedMp4, MediaError, shortRead } from './stored-mp4.js';

/** Bytes of one video that the library caches while it reads. */
const CACHE_BYTES = 4 * 1024 * 1024;

/** Loads the library at the first use, so that a service that cuts no clips does not load it. */
export async function loadMediabunny(): Promise<typeof import('mediabunny')> {
  const library = await import('mediabunny');
  library.Logging.level = library.LogLevel.Silent;
  return library;
}

/** One track of an open video. Packets are read in decode order; times are seconds of the video's own clock. */
export class Mp4Track<T extends InputVideoTrack | InputAudioTrack = InputVideoTrack | InputAudioTrack> {
  constructor(
    readonly track: T,
    private readonly sink: EncodedPacketSink,
    private readonly reading: Reading,
  ) {}

  /** Reads properties of the track. */
  query<R>(read: (track: T) => Promise<R>): Promise<R> {
    return this.reading.run(() => read(this.track));
  }

  /** The packet that plays at `seconds`, else the first packet. */
  at(seconds: number): Promise<EncodedPacket | null> {
    return this.reading.run(async () => (await this.sink.getPacket(seconds)) ?? (await this.sink.getFirstPacket()));
  }

  /**
   * The nearest key frame at or before `seconds`, else the first one. The library verifies the frame data, because some
   * cameras mark every frame as a key frame.
   */
  keyFrameAt(seconds: number): Promise<EncodedPacket | null> {
    return this.reading.run(
      async () =>
        (await this.sink.getKeyPacket(seconds, { verifyKeyPackets: true })) ??
        (await this.sink.getFirstKeyPacket({ verifyKeyPackets: true })),
    );
  }

  /** The next packet in decode order, with its data. */
  next(packet: EncodedPacket): Promise<EncodedPacket | null> {
    return this.reading.run(async () => {
      const next = await this.sink.getNextPacket(packet, { verifyKeyPackets: true });
      if (!next) await this.expectEndAfter(packet);
      return next;
    });
  }

  /** The next packet in decode order, without its data. */
  nextOutline(packet: EncodedPacket): Promise<EncodedPacket | null> {
    return this.reading.run(() => this.sink.getNextPacket(packet, { metadataOnly: true }));
  }

  /** The library reads missing bytes as the end of the track. The sample table shows whether more packets follow. */
  private async expectEndAfter(packet: EncodedPacket): Promise<void> {
    if (await this.sink.getNextPacket(packet, { metadataOnly: true })) {
      throw new MediaError('unreadable', 'the video is cut short');
    }
  }
}

/** An open MP4 file with its first video track and its first audio track. */
export interface Mp4Input {
  readonly video: Mp4Track<InputVideoTrack> | null;
  readonly audio: Mp4Track<InputAudioTrack> | null;
}

/**
 * Opens a video while `use` runs, reading only the ranges that are needed.
 * @throws MediaError `unreadable`, `not-cuttable`; errors of the storage are not wrapped.
 */
export async function withMp4Input<T>(source: ByteRangeReader, use: (input: Mp4Input) => Promise<T>): Promise<T> {
  const reader = await checkedMp4(source);
  const mediabunny = await loadMediabunny();
  const reading = new Reading();
  const input = new mediabunny.Input({
    formats: [mediabunny.MP4, mediabunny.QTFF],
    source: new mediabunny.CustomSource({
      getSize: () => reader.size,
      read: (start, end) => reading.fetch(reader, start, end),
      maxCacheSize: CACHE_BYTES,
      prefetchProfile: 'network',
      // The library fetches a failed prefetch again when it needs the range. The error is then thrown to the caller.
      handleUnhandledError: () => undefined,
    }),
  });
  try {
    return await use(await openTracks(mediabunny, input, reading));
  } finally {
    input.dispose();
    reading.end();
  }
}

async function openTracks(mediabunny: typeof import('mediabunny'), input: Input, reading: Reading): Promise<Mp4Input> {
  const [video, audio] = await reading.run(async () => [
    await input.getPrimaryVideoTrack(),
    await input.getPrimaryAudioTrack(),
  ]);
  const open = <T extends InputVideoTrack | InputAudioTrack>(track: T) =>
    new Mp4Track(track, new mediabunny.EncodedPacketSink(track), reading);
  if (!video && !audio) throw new MediaError('unreadable', 'the video holds neither picture nor sound');
  return { video: video && open(video), audio: audio && open(audio) };
}

/** Reads the bytes of one video. Distinguishes storage errors from errors of the video, and closes every stream. */
class Reading {
  private storageFault: Error | null = null;
  private readonly streams = new Set<Readable>();
  private ended = false;

  async fetch(reader: ByteRangeReader, start: number, end: number): Promise<Uint8Array | ReadableStream<Uint8Array>> {
    try {
      const range = await reader.read(start, end);
      if (range instanceof Readable) this.keep(range);
      if (!(range instanceof Uint8Array)) return ReadableStream.from(this.watch(range, end - start));
      if (range.length !== end - start) throw shortRead(end - start, range.length);
      return range;
    } catch (error) {
      this.storageFault = asError(error);
      throw error;
    }
  }

  /**
   * Destroys streams that the library prefetched but never read. Node.js ends the process if the garbage collector closes
   * an open file.
   */
  end(): void {
    this.ended = true;
    for (const stream of this.streams) stream.destroy();
  }

  private keep(stream: Readable): void {
    // A reader receives the error through the stream. Without a listener, an unread stream would end the process.
    stream.on('error', () => undefined);
    if (this.ended) stream.destroy();
    else this.streams.add(stream.once('close', () => this.streams.delete(stream)));
  }

  async run<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (error instanceof MediaError) throw error;
      if (this.storageFault) throw this.storageFault;
      throw new MediaError('unreadable', 'the video cannot be read as MP4', { cause: error });
    }
  }

  private async *watch(range: AsyncIterable<Uint8Array>, expected: number): AsyncGenerator<Uint8Array> {
    let received = 0;
    try {
      for await (const bytes of range) {
        received += bytes.length;
        yield bytes;
      }
      if (received !== expected) throw shortRead(expected, received);
    } catch (error) {
      this.storageFault = asError(error);
      throw error;
    }
  }
}

const asError = (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/** Tolerance when times are compared: chunk times are milliseconds, and frame times are fractions that get rounded. */
export const TIME_TOLERANCE_SECONDS = 0.0005;

/** H.264 and H.265 reorder at most 16 frames: after 16 frames beyond the end, no earlier frame follows. */
const MAX_REORDERED_FRAMES = 16;

type Next = (packet: EncodedPacket) => Promise<EncodedPacket | null>;

/**
 * The frames shown from the key frame on and before `to` (seconds of the video), in decode order. Frames shown before the
 * key frame are left out, because they need frames that are left out. If the last frames need a later one, that frame is
 * included together with all frames shown before it.
 */
export async function* videoPackets(key: EncodedPacket, to: number, next: Next): AsyncGenerator<EncodedPacket> {
  let end = to - TIME_TOLERANCE_SECONDS;
  let later: EncodedPacket[] = [];
  for (let packet: EncodedPacket | null = key; packet; packet = await next(packet)) {
    if (packet.timestamp < key.timestamp) continue;
    if (packet.timestamp < end) {
      end = Math.max(end, ...later.map(({ timestamp }) => timestamp));
      yield* later;
      yield packet;
      later = [];
    } else if (later.push(packet) > MAX_REORDERED_FRAMES) {
      return;
    }
  }
}

/** The audio packet that plays at `from`, and all that begin before `to` (seconds of the video). */
export async function* audioPackets(
  audio: Mp4Track | null,
  from: number,
  to: number,
  next: Next,
): AsyncGenerator<EncodedPacket> {
  for (let packet = (await audio?.at(from)) ?? null; packet; packet = await next(packet)) {
    if (packet.timestamp >= to - TIME_TOLERANCE_SECONDS) return;
    yield packet;
  }
}
