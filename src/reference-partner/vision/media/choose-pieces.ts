import { setImmediate } from 'node:timers/promises';
import type { EncodedPacket } from 'mediabunny';
import type { MediaSource } from './byte-range-reader.js';
import {
  type AudioFacts,
  audioDifference,
  readAudioFacts,
  readExtent,
  readVideoFacts,
  soundFault,
  type VideoFacts,
  videoDifference,
} from './film-facts.js';
import { type Film, withFilm } from './film.js';
import { MediaError } from './media-error.js';
import { audioPackets, HAIR_SECONDS, videoPackets } from './piece-packets.js';
import { inOrder, type Interval, joinPiece } from './intervals.js';

/** A stored film and the time that it is said to show, `endTime` excluded. */
export interface RecordedChunk {
  readonly startTime: Date;
  readonly endTime: Date;
  readonly source: MediaSource;
}

/** What is taken of one chunk: from a key frame on. */
export interface Piece extends Interval {
  readonly chunk: RecordedChunk;
  /** Time of the chunk's start and of the key frame, in seconds of the film's own clock. */
  readonly origin: number;
  readonly key: number;
  readonly video: VideoFacts;
  readonly audio: { readonly facts: AudioFacts; readonly first: EncodedPacket } | null;
  /** Why the sound of the chunk is left out, where it is. */
  readonly soundFault: string | null;
  /** At most so many packets will be taken. */
  readonly packets: { readonly video: number; readonly audio: number };
}

/** A chunk that no player could show as a part of the clip. `reason` is a sentence without its period. */
export interface LeftOut extends Interval {
  readonly reason: string;
}

export interface Chosen {
  readonly pieces: Piece[];
  readonly leftOut: LeftOut[];
}

/** The end of a piece in seconds of its film's own clock. */
export const endInFilm = (piece: Piece): number => piece.origin + (piece.to - piece.chunk.startTime.getTime()) / 1000;

/**
 * Which parts of which chunks make up the range, oldest first. A film begins at its chunk's start and runs at real
 * speed; it counts up to the stated end or its own, whichever comes first. Where two overlap the one that began earlier
 * is used to its end, then the other from its nearest key frame. Of chunks whose pictures cannot be joined, the longest
 * part that can is used; a chunk that cannot be read is left out. Throws its fault if that leaves nothing.
 */
export async function choosePieces(
  chunks: readonly RecordedChunk[],
  range: Interval,
  signal?: AbortSignal,
): Promise<Chosen> {
  const groups: Piece[][] = [];
  const unreadable: (Interval & { readonly fault: MediaError })[] = [];
  for (const chunk of inOrder(chunks, range)) {
    signal?.throwIfAborted();
    const wanted = within(range, chunk);
    if (groups.length > 0 && groups.every((pieces) => endOf(pieces) >= wanted.to)) continue;
    try {
      await inChunk(chunk, (film) => addPiece(groups, film, chunk, wanted));
    } catch (fault) {
      if (!(fault instanceof MediaError)) throw fault;
      unreadable.push({ ...wanted, fault });
    }
  }
  const [longest = [], ...others] = groups.sort((a, b) => lengthOf(b) - lengthOf(a));
  const [first] = unreadable;
  if (longest.length === 0 && first !== undefined) throw first.fault;
  return {
    pieces: longest,
    leftOut: [
      ...unreadable.map(({ from, to, fault }) => ({ from, to, reason: fault.message })),
      ...others.flat().map((piece) => leftOutOf(piece, longest)),
    ],
  };
}

const within = (range: Interval, { startTime, endTime }: RecordedChunk): Interval => ({
  from: Math.max(range.from, startTime.getTime()),
  to: Math.min(range.to, endTime.getTime()),
});

const endOf = (pieces: readonly Piece[]): number => pieces.at(-1)?.to ?? 0;

const lengthOf = (pieces: readonly Piece[]): number => pieces.reduce((sum, { from, to }) => sum + to - from, 0);

/** Adds the chunk's piece to the pieces whose picture it continues, or begins a new group. */
async function addPiece(groups: Piece[][], film: Film, chunk: RecordedChunk, wanted: Interval): Promise<void> {
  const { video } = film;
  if (!video) throw new MediaError('no-video', 'the film holds no picture');
  const facts = await readVideoFacts(video);
  const index = groups.findIndex(([first]) => first && videoDifference(first.video, facts) === null);
  const group = groups[index] ?? [];
  const from = Math.max(wanted.from, endOf(group));
  const piece = from < wanted.to ? await readPiece({ ...film, video }, chunk, facts, { from, to: wanted.to }) : null;
  if (!piece) return;
  groups[index < 0 ? groups.length : index] = joinPiece(group, withSoundOf(group, piece));
}

/** Opens a chunk; a fault of the film names it. */
export async function inChunk<T>(chunk: RecordedChunk, use: (film: Film) => Promise<T>): Promise<T> {
  try {
    return await withFilm(chunk.source, use);
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    throw new MediaError(error.fault, `${nameOf(chunk)}: ${error.message}`, { cause: error });
  }
}

async function readPiece(
  film: Film & { readonly video: NonNullable<Film['video']> },
  chunk: RecordedChunk,
  facts: VideoFacts,
  wanted: Interval,
): Promise<Piece | null> {
  const { video } = film;
  const start = chunk.startTime.getTime();
  const extent = await readExtent(video);
  const to = Math.min(wanted.to, start + (extent.end - extent.first) * 1000);
  if (to <= wanted.from) return null;
  const key = await video.keyFrameAt(extent.first + (wanted.from - start) / 1000 + HAIR_SECONDS);
  if (!key) throw new MediaError('unreadable', 'the film has no key frame');
  const from = start + (key.timestamp - extent.first) * 1000;
  if (to <= from) return null;
  const end = extent.first + (to - start) / 1000;
  const fault = film.audio && (await soundFault(film.audio));
  const sound = fault === null ? await readSound(film, key.timestamp, end) : null;
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

async function readSound({ audio }: Film, from: number, to: number) {
  if (!audio) return null;
  const outline = () => audioPackets(audio, from, to, (packet) => audio.nextOutline(packet));
  const packets = await count(outline());
  const first = await audio.at(from);
  return packets > 0 && first ? { facts: await readAudioFacts(audio), first, packets } : null;
}

/** Counting touches no storage, so it lets others in now and then. */
async function count(packets: AsyncIterator<EncodedPacket>): Promise<number> {
  let counted = 0;
  while (!(await packets.next()).done) {
    if (++counted % 500 === 0) await setImmediate();
  }
  return counted;
}

/** The clip has one sound track: a piece with another sound is used without it. */
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
