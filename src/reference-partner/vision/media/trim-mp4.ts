import {
  Conversion,
  CustomSource,
  type CustomSourceOptions,
  EncodedPacketSink,
  Input,
  Logging,
  LogLevel,
  MP4,
  Mp4OutputFormat,
  Output,
  QTFF,
  StreamTarget,
  type StreamTargetChunk,
} from 'mediabunny';

Logging.level = LogLevel.Silent;

/** A part of a recording, in seconds after its start. */
export interface VideoPart {
  readonly from: number;
  readonly to: number;
}

/** Bytes of one recording that the library caches while it reads. */
const CACHE_BYTES = 4 * 1024 * 1024;

/** A track cannot be copied without decoding it, or the recording has no pictures. */
export class NotCopiedError extends Error {}

/**
 * Copies the packets of a part of an MP4, from the key frame at or before its start, without decoding. The file is written from its
 * first byte to its last, as fragments behind their table of contents: it needs neither memory nor room for the whole of it, and a
 * player begins before the download is complete. Returns the part that was copied; undefined if the recording ends before it.
 * @throws NotCopiedError; any other error is one of reading or writing, or of a damaged recording.
 */
export async function trimMp4(
  file: Pick<CustomSourceOptions, 'getSize' | 'read'>,
  { from, to }: VideoPart,
  target: WritableStream<StreamTargetChunk>,
): Promise<VideoPart | undefined> {
  // The library fetches a failed prefetch again when it needs the range. The error is then thrown to the caller.
  const handleUnhandledError = () => undefined;
  const source = new CustomSource({
    ...file,
    handleUnhandledError,
    maxCacheSize: CACHE_BYTES,
    prefetchProfile: 'network',
  });
  const input = new Input({ formats: [MP4, QTFF], source });
  const video = await input.getPrimaryVideoTrack();
  if (video === null) throw new NotCopiedError();
  // Frames before time zero are only for decoding; players do not show them.
  const first = Math.max(0, await video.getFirstTimestamp());
  const end = Math.min(first + to, await video.computeDuration());
  if (end <= first + from) return undefined;
  const packets = new EncodedPacketSink(video);
  // Some cameras mark every frame as a key frame.
  const options = { verifyKeyPackets: true };
  const key =
    (await packets.getKeyPacket(first + from, options)) ?? (await packets.getFirstKeyPacket(options)) ?? undefined;
  if (key === undefined || key.timestamp >= end) throw new NotCopiedError();
  // The library takes bytes that are missing for the end of the recording.
  if ((await packets.getPacket(end)) === null) throw new Error('the recording is cut short');
  const conversion = await Conversion.init({
    input,
    output: new Output({
      format: new Mp4OutputFormat({ fastStart: 'fragmented' }),
      target: new StreamTarget(target),
    }),
    trim: { start: key.timestamp, end },
    copy: { mode: 'forced' },
    showWarnings: false,
  });
  if (!conversion.isValid || conversion.discardedTracks.length > 0) throw new NotCopiedError();
  await conversion.execute();
  return { from: key.timestamp - first, to: end - first };
}
