import {
  choosePieces,
  endInFile,
  inChunk,
  type LeftOut,
  type Piece,
  type RecordedChunk,
  gapsIn,
  type Interval,
} from './choose-pieces.js';
import { ClipWriter, UnwritableSoundError } from './clip-writer.js';
import { type Mp4Input, audioPackets, TIME_TOLERANCE_SECONDS, videoPackets } from './mp4-input.js';
import { MediaError } from './stored-mp4.js';

/** A frame that others build on may be shown after the end of its piece, at one frame per second up to 16 s. */
const MAX_REORDERING_SECONDS = 16;

/** `endTime` excluded. */
interface TimeRange {
  readonly startTime: Date;
  readonly endTime: Date;
}

export interface ClipOrder {
  /** In any order, with gaps and overlaps. Chunks outside the range are not opened. */
  readonly chunks: readonly RecordedChunk[];
  readonly range: TimeRange;
  /** Path of the file to write. An existing file is replaced. */
  readonly target: string;
}

export interface Clip extends TimeRange {
  readonly sizeBytes: number;
  /** Parts of the requested range that the clip does not show, oldest first. */
  readonly missing: TimeRange[];
  /** Parts of the requested range that were not recorded. */
  readonly unrecorded: TimeRange[];
  /** Why the other parts are missing: sentences without their periods. */
  readonly leftOut: string[];
  /** Why sound is missing in the clip; empty if all sound is there. */
  readonly soundFaults: string[];
  /** The clip is a whole chunk, at this place of the order, and not a file at `target`: a sentence without its period says why. */
  readonly uncut?: { readonly place: number; readonly reason: string };
}

/**
 * Cuts the requested range out of the chunks and joins it to one MP4 without encoding (decisions 42, 44).
 * The `startTime` of the clip is that of its first frame: the key frame at or before the requested start. Its `endTime` is
 * the end of its last frame; B-frames may put it some frames after the requested end. The clip plays on without a pause
 * over a gap, and `missing` lists the gaps. A truncated recording is used up to its last complete frame.
 * Memory does not grow with the length of the videos, apart from one entry per frame for the table of contents.
 * Recordings that can only be used as a whole give the one that shows most of the range (`uncut`).
 * If the function throws, it deletes the file at `target`.
 * @throws MediaError `nothing-recorded`, `no-video`, `unreadable`; errors of the storage are not wrapped.
 */
export async function cutClip({ chunks, range, target }: ClipOrder): Promise<Clip> {
  const wanted = { from: range.startTime.getTime(), to: range.endTime.getTime() };
  const { pieces, leftOut, uncut } = await choosePieces(chunks, wanted);
  if (uncut !== undefined)
    return wholeChunk(uncut.chunk, leftOut, wanted, { ...uncut, place: chunks.indexOf(uncut.chunk) });
  try {
    return await writeClip(pieces, leftOut, wanted, target);
  } catch (error) {
    if (error instanceof UnwritableSoundError) return writeClip(pieces.map(withoutSound), leftOut, wanted, target);
    const [first] = pieces;
    if (!(error instanceof MediaError) || error.fault !== 'not-cuttable' || first === undefined) throw error;
    const place = chunks.indexOf(first.chunk);
    return wholeChunk(first.chunk, leftOut, wanted, { place, reason: error.message });
  }
}

function withoutSound(piece: Piece): Piece {
  const soundFault = piece.soundFault ?? (piece.audio && 'it is damaged, or of a kind that cannot be copied');
  return { ...piece, audio: null, soundFault, packets: { ...piece.packets, audio: 0 } };
}

async function writeClip(
  pieces: readonly Piece[],
  leftOut: readonly LeftOut[],
  wanted: Interval,
  target: string,
): Promise<Clip> {
  const first = pieces[0];
  if (!first) throw new MediaError('nothing-recorded', 'nothing was recorded in this time');
  const writer = await ClipWriter.create(target, {
    video: first.video,
    audio: pieces.find((piece) => piece.audio)?.audio ?? null,
    packets: {
      video: pieces.reduce((sum, piece) => sum + piece.packets.video, 0),
      audio: pieces.reduce((sum, piece) => sum + piece.packets.audio, 0),
    },
  });
  return writer.orDiscard(async () => {
    const copied = await copyPieces(pieces, writer);
    const sizeBytes = await writer.finish();
    return {
      ...asRange(copied.range),
      sizeBytes,
      ...missingParts(wanted, copied.shown, [...leftOut, ...copied.cutShort]),
      soundFaults: [...new Set(pieces.map((piece) => piece.soundFault).filter((fault) => fault !== null))],
    };
  });
}

/** Each chunk begins at a key frame, so that a player shows all of it. */
function wholeChunk(
  { startTime, endTime, source }: RecordedChunk,
  leftOut: readonly LeftOut[],
  wanted: Interval,
  { place, reason }: NonNullable<Clip['uncut']>,
): Clip {
  const shown = [{ from: startTime.getTime(), to: endTime.getTime() }];
  return {
    startTime,
    endTime,
    sizeBytes: source.size,
    ...missingParts(wanted, shown, leftOut),
    soundFaults: [],
    uncut: { place, reason },
  };
}

interface Copied {
  readonly range: Interval;
  readonly shown: Interval[];
  readonly cutShort: LeftOut[];
}

/** Throws the error of the first faulty piece if no piece has a readable frame. */
async function copyPieces(pieces: readonly Piece[], writer: ClipWriter): Promise<Copied> {
  const shown: Interval[] = [];
  const cutShort: LeftOut[] = [];
  const ends: number[] = [];
  let fault: MediaError | undefined;
  for (const piece of pieces) {
    const failure = await inChunk(piece.chunk, (input) => copyPiece(input, piece, writer)).catch(mediaErrorOf);
    const end = piece.from + writer.endPiece() * 1000;
    if (end > piece.from) ends.push(end);
    if (failure === undefined) shown.push(piece);
    else {
      fault ??= failure;
      if (end > piece.from) shown.push({ from: piece.from, to: end });
      cutShort.push({ from: Math.min(end, piece.to), to: piece.to, reason: failure.message });
    }
  }
  const [start, end] = [shown[0]?.from, ends.at(-1)];
  if (start === undefined || end === undefined) throw fault ?? new MediaError('unreadable', 'the video has no frame');
  return { range: { from: start, to: end }, shown, cutShort };
}

/** For `catch`: returns a `MediaError`, and throws any other error again. */
function mediaErrorOf(error: unknown): MediaError {
  if (error instanceof MediaError) return error;
  throw error;
}

/** Ignores a left-out chunk if another chunk shows the same time. */
function missingParts(wanted: Interval, shown: readonly Interval[], leftOut: readonly LeftOut[]) {
  const missing = gapsIn(wanted, shown);
  const relevant = leftOut.filter(({ from, to }) => missing.some((gap) => from < gap.to && to > gap.from));
  const known = [...shown, ...relevant].sort((a, b) => a.from - b.from);
  return {
    missing: missing.map(asRange),
    unrecorded: gapsIn(wanted, known).map(asRange),
    leftOut: relevant.map(({ reason }) => reason),
  };
}

/** Interleaves video and audio packets by time, so that a player reads the file sequentially. */
async function copyPiece({ video, audio }: Mp4Input, piece: Piece, writer: ClipWriter): Promise<void> {
  const key = await video?.keyFrameAt(piece.key + TIME_TOLERANCE_SECONDS);
  if (!video || !key) throw new MediaError('unreadable', 'the video changed while it was read');
  const to = endInFile(piece);
  const frames = videoPackets(key, to, (packet) => video.next(packet));
  const sounds = audioPackets(
    piece.audio && audio,
    key.timestamp,
    to,
    async (packet) => (await audio?.next(packet)) ?? null,
  );
  let [frame, sound] = [await frames.next(), await sounds.next()];
  while (!frame.done || !sound.done) {
    if (sound.done || (!frame.done && frame.value.timestamp <= sound.value.timestamp)) {
      if (frame.done) break;
      if (frame.value.timestamp > to + MAX_REORDERING_SECONDS) {
        throw new MediaError('unreadable', 'the video has a frame with a damaged time');
      }
      await writer.addVideo(frame.value, frame.value.timestamp - key.timestamp);
      frame = await frames.next();
    } else {
      await writer.addAudio(sound.value, sound.value.timestamp - key.timestamp);
      sound = await sounds.next();
    }
  }
}

const asRange = ({ from, to }: Interval): TimeRange => ({
  startTime: new Date(Math.round(from)),
  endTime: new Date(Math.round(to)),
});
