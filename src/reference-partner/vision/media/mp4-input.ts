import { Readable } from 'node:stream';
import type { EncodedPacket, EncodedPacketSink, Input, InputAudioTrack, InputVideoTrack } from 'mediabunny';
import { type ByteRangeReader, type MediaSource, shortRead, withReader } from './byte-range-reader.js';
import { MediaError } from './media-error.js';
import { assertPlausibleTables } from './sample-table.rules.js';

/** What is kept in memory of a film while it is read, in bytes. */
const CACHE_BYTES = 4 * 1024 * 1024;

/** Loaded at the first use only: a service that cuts nothing never pays for it. */
export async function loadMediabunny(): Promise<typeof import('mediabunny')> {
  const library = await import('mediabunny');
  library.Logging.level = library.LogLevel.Silent;
  return library;
}

/** One track of an open film, read packet by packet in decode order. Times are seconds of the film's own clock. */
export class FilmTrack<T extends InputVideoTrack | InputAudioTrack = InputVideoTrack | InputAudioTrack> {
  constructor(
    readonly track: T,
    private readonly sink: EncodedPacketSink,
    private readonly reading: Reading,
  ) {}

  /** Asks the library about the track. */
  ask<R>(question: (track: T) => Promise<R>): Promise<R> {
    return this.reading.run(() => question(this.track));
  }

  /** The packet that is on at `seconds`, else the first one. */
  at(seconds: number): Promise<EncodedPacket | null> {
    return this.reading.run(async () => (await this.sink.getPacket(seconds)) ?? (await this.sink.getFirstPacket()));
  }

  /**
   * The nearest key frame at or before `seconds`, else the first one. The picture itself is looked at: some cameras
   * mark every frame as a key frame.
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

  /** The library takes bytes that are not there for the end of the track; the table of contents knows better. */
  private async expectEndAfter(packet: EncodedPacket): Promise<void> {
    if (await this.sink.getNextPacket(packet, { metadataOnly: true })) {
      throw new MediaError('unreadable', 'the film is cut short');
    }
  }
}

/** An open MP4 film with its first picture and its first sound track. */
export interface Film {
  /** The picture; without one, the sound. */
  readonly leading: FilmTrack;
  readonly video: FilmTrack<InputVideoTrack> | null;
  readonly audio: FilmTrack<InputAudioTrack> | null;
}

/**
 * Opens a film while `use` runs, reading only the ranges that are needed.
 * @throws MediaError `unreadable`; faults of the storage as they are.
 */
export async function withFilm<T>(source: MediaSource, use: (film: Film) => Promise<T>): Promise<T> {
  return withReader(source, async (reader) => {
    await assertPlausibleTables(reader);
    const mediabunny = await loadMediabunny();
    const reading = new Reading();
    const input = new mediabunny.Input({
      formats: [mediabunny.MP4, mediabunny.QTFF],
      source: new mediabunny.CustomSource({
        getSize: () => reader.size,
        read: (start, end) => reading.fetch(reader, start, end),
        maxCacheSize: CACHE_BYTES,
        prefetchProfile: typeof source === 'string' ? 'fileSystem' : 'network',
        // A range fetched ahead that failed is fetched again when it is needed, and fails then where it is awaited.
        handleUnhandledError: () => undefined,
      }),
    });
    try {
      return await use(await openTracks(mediabunny, input, reading));
    } finally {
      input.dispose();
      reading.end();
    }
  });
}

async function openTracks(mediabunny: typeof import('mediabunny'), input: Input, reading: Reading): Promise<Film> {
  const [video, audio] = await reading.run(async () => [
    await input.getPrimaryVideoTrack(),
    await input.getPrimaryAudioTrack(),
  ]);
  const open = <T extends InputVideoTrack | InputAudioTrack>(track: T) =>
    new FilmTrack(track, new mediabunny.EncodedPacketSink(track), reading);
  const film = { video: video && open(video), audio: audio && open(audio) };
  const leading = film.video ?? film.audio;
  if (!leading) throw new MediaError('unreadable', 'the film holds neither picture nor sound');
  return { leading, ...film };
}

/** What is read of a film: tells the faults of the storage from those of the film, and leaves nothing open. */
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
   * Of what was fetched ahead some is never begun, and whoever cancels that leaves it open: a file that the garbage
   * collector closes ends the process.
   */
  end(): void {
    this.ended = true;
    for (const stream of this.streams) stream.destroy();
  }

  private keep(stream: Readable): void {
    // Its reader is told by the stream itself; one that nobody reads must not end the process.
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
      throw new MediaError('unreadable', 'the film cannot be read as MP4', { cause: error });
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
