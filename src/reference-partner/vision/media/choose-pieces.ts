import { setImmediate } from 'node:timers/promises';
import type { EncodedPacket } from 'mediabunny';
import {
  type AudioFacts,
  audioDifference,
  readAudioFacts,
  readExtent,
  readVideoFacts,
  soundFault,
  type VideoFacts,
  videoDifference,
} from './track-facts.js';
import { type Mp4Input, withMp4Input, audioPackets, TIME_TOLERANCE_SECONDS, videoPackets } from './mp4-input.js';
import { type ByteRangeReader, MediaError } from './stored-mp4.js';

/** A stored video and its stated time range, `endTime` excluded. */
export interface RecordedChunk {
  readonly startTime: Date;
  readonly endTime: Date;
  readonly source: ByteRangeReader;
}

/** The part of one chunk that the clip uses. It starts at a key frame. */
export interface Piece extends Interval {
  readonly chunk: RecordedChunk;
  /** Time of the chunk's start and of the key frame, in seconds of the video's own clock. */
  readonly origin: number;
  readonly key: number;
  readonly video: VideoFacts;
  readonly audio: { readonly facts: AudioFacts; readonly first: EncodedPacket } | null;
  /** Why the clip omits the sound of this chunk, or null. */
  readonly soundFault: string | null;
  /** Maximum number of packets that the clip takes from the chunk. */
  readonly packets: { readonly video: number; readonly audio: number };
}

/** A part of a chunk that cannot be joined to the clip. `reason` is a sentence without its period. */
export interface LeftOut extends Interval {
  readonly reason: string;
}

export interface Chosen {
  readonly pieces: Piece[];
  readonly leftOut: LeftOut[];
  /** Where nothing can be cut: the chunk that shows most of the range and can only be used as a whole, and why. */
  readonly uncut?: { readonly chunk: RecordedChunk; readonly reason: string } | undefined;
}

/** The end of a piece in seconds of its video's own clock. */
export const endInFile = (piece: Piece): number => piece.origin + (piece.to - piece.chunk.startTime.getTime()) / 1000;

/**
 * Chooses the parts of the chunks that make up the range, oldest first. A video begins at the start of its chunk and is
 * used up to the stated end or its own end, whichever comes first. If two chunks overlap, the earlier one is used to its
 * end, then the later one from its nearest key frame. If the videos have different formats, only the format that covers
 * the most time is used. A chunk that cannot be read is left out; if no other chunk remains, its error is thrown, or it is
 * used as a whole.
 */
export async function choosePieces(chunks: readonly RecordedChunk[], range: Interval): Promise<Chosen> {
  const groups: Piece[][] = [];
  const unreadable: (Interval & { readonly chunk: RecordedChunk; readonly fault: MediaError })[] = [];
  for (const chunk of inOrder(chunks, range)) {
    const wanted = within(range, chunk);
    if (groups.length > 0 && groups.every((pieces) => endOf(pieces) >= wanted.to)) continue;
    try {
      await inChunk(chunk, (input) => addPiece(groups, input, chunk, wanted));
    } catch (fault) {
      if (!(fault instanceof MediaError)) throw fault;
      unreadable.push({ ...wanted, chunk, fault });
    }
  }
  const [longest = [], ...others] = groups.sort((a, b) => lengthOf(b) - lengthOf(a));
  const [first] = unreadable;
  const [uncut] = unreadable
    .filter(({ fault }) => longest.length === 0 && fault.fault === 'not-cuttable')
    .sort((a, b) => lengthOf([b]) - lengthOf([a]));
  if (longest.length === 0 && first !== undefined && uncut === undefined) throw first.fault;
  return {
    pieces: longest,
    leftOut: [
      ...unreadable
        .filter((each) => each !== uncut)
        .map(({ from, to, fault }) => ({ from, to, reason: fault.message })),
      ...others.flat().map((piece) => leftOutOf(piece, longest)),
    ],
    uncut: uncut && { chunk: uncut.chunk, reason: uncut.fault.message },
  };
}

const within = (range: Interval, { startTime, endTime }: RecordedChunk): Interval => ({
  from: Math.max(range.from, startTime.getTime()),
  to: Math.min(range.to, endTime.getTime()),
});

const endOf = (pieces: readonly Piece[]): number => pieces.at(-1)?.to ?? 0;

const lengthOf = (pieces: readonly Interval[]): number => pieces.reduce((sum, { from, to }) => sum + to - from, 0);

/** Adds the piece of a chunk to the group of the same video format, or starts a new group. */
async function addPiece(groups: Piece[][], input: Mp4Input, chunk: RecordedChunk, wanted: Interval): Promise<void> {
  const { video } = input;
  if (!video) throw new MediaError('no-video', 'the video has no pictures');
  const facts = await readVideoFacts(video);
  const index = groups.findIndex(([first]) => first && videoDifference(first.video, facts) === null);
  const group = groups[index] ?? [];
  const from = Math.max(wanted.from, endOf(group));
  const piece = from < wanted.to ? await readPiece({ ...input, video }, chunk, facts, { from, to: wanted.to }) : null;
  if (!piece) return;
  groups[index < 0 ? groups.length : index] = joinPiece(group, withSoundOf(group, piece));
}

/** Opens the video of a chunk. The message of a `MediaError` names the chunk. */
export async function inChunk<T>(chunk: RecordedChunk, use: (input: Mp4Input) => Promise<T>): Promise<T> {
  try {
    return await withMp4Input(chunk.source, use);
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    throw new MediaError(error.fault, `${nameOf(chunk)}: ${error.message}`, { cause: error });
  }
}

async function readPiece(
  input: Mp4Input & { readonly video: NonNullable<Mp4Input['video']> },
  chunk: RecordedChunk,
  facts: VideoFacts,
  wanted: Interval,
): Promise<Piece | null> {
  const { video } = input;
  const start = chunk.startTime.getTime();
  const extent = await readExtent(video);
  const to = Math.min(wanted.to, start + (extent.end - extent.first) * 1000);
  if (to <= wanted.from) return null;
  const key = await video.keyFrameAt(extent.first + (wanted.from - start) / 1000 + TIME_TOLERANCE_SECONDS);
  if (!key) throw new MediaError('unreadable', 'the video has no key frame');
  const from = start + (key.timestamp - extent.first) * 1000;
  if (to <= from) return null;
  const end = extent.first + (to - start) / 1000;
  const fault = input.audio && (await soundFault(input.audio));
  const sound = fault === null ? await readSound(input, key.timestamp, end) : null;
  return {
    chunk,
    from,
    to,
    origin: extent.first,
    key: key.timestamp,
    video: facts,
    audio: sound && { facts: sound.facts, first: sound.first },
    soundFault: fault,
    packets: {
      video: await count(videoPackets(key, end, (packet) => video.nextOutline(packet))),
      audio: sound?.packets ?? 0,
    },
  };
}

async function readSound({ audio }: Mp4Input, from: number, to: number) {
  if (!audio) return null;
  const outline = () => audioPackets(audio, from, to, (packet) => audio.nextOutline(packet));
  const packets = await count(outline());
  const first = await audio.at(from);
  return packets > 0 && first ? { facts: await readAudioFacts(audio), first, packets } : null;
}

/** Counting reads nothing from the storage, so it yields to the event loop every 500 packets. */
async function count(packets: AsyncIterator<EncodedPacket>): Promise<number> {
  let counted = 0;
  while (!(await packets.next()).done) {
    if (++counted % 500 === 0) await setImmediate();
  }
  return counted;
}

/** The clip has one audio track: a piece with another audio format is used without its sound. */
function withSoundOf(pieces: readonly Piece[], next: Piece): Piece {
  const sounding = pieces.find((piece) => piece.audio)?.audio;
  const difference = sounding && next.audio && audioDifference(sounding.facts, next.audio.facts);
  if (!difference) return next;
  const soundFault = `a recording has ${difference}`;
  return { ...next, audio: null, soundFault, packets: { ...next.packets, audio: 0 } };
}

function leftOutOf({ from, to, chunk, video }: Piece, [first]: readonly Piece[]): LeftOut {
  const difference = first && videoDifference(first.video, video);
  return { from, to, reason: `${nameOf(chunk)} cannot be joined: it has ${difference}` };
}

const nameOf = (chunk: RecordedChunk) => `the recording that starts at ${chunk.startTime.toISOString()}`;

/** A range of wall-clock time in milliseconds since 1970, `to` excluded. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/**
 * Chunk times are often whole seconds while the lengths of videos are not, and cameras lose some frames between two files.
 * A gap shorter than this is not reported as missing.
 */
const MIN_GAP_MS = 1000;

/** The parts of `range` that no interval covers, oldest first. `covered` must be sorted, oldest first. */
export function gapsIn(range: Interval, covered: readonly Interval[]): Interval[] {
  const gaps: Interval[] = [];
  let reached = range.from;
  for (const { from, to } of [...covered, { from: range.to, to: range.to }]) {
    if (from - reached >= MIN_GAP_MS) gaps.push({ from: reached, to: from });
    reached = Math.max(reached, to);
  }
  return gaps;
}

/** The chunks that overlap `range`, oldest first. Among chunks with the same start the longest comes first. */
export function inOrder<C extends { startTime: Date; endTime: Date }>(chunks: readonly C[], range: Interval): C[] {
  return chunks
    .filter((chunk) => chunk.startTime < chunk.endTime)
    .filter((chunk) => chunk.startTime.getTime() < range.to && chunk.endTime.getTime() > range.from)
    .sort((a, b) => a.startTime.getTime() - b.startTime.getTime() || b.endTime.getTime() - a.endTime.getTime());
}

/**
 * Adds the next piece. Its key frame may lie before the end of earlier pieces. These are then cut at the key frame, or
 * removed if they begin after it, so that nothing is shown twice.
 */
export function joinPiece<P extends Interval>(pieces: readonly P[], next: P): P[] {
  const kept = pieces.filter((piece) => piece.from < next.from);
  return [...kept.map((piece) => (piece.to > next.from ? { ...piece, to: next.from } : piece)), next];
}
