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

/** The end of a piece in seconds of its film's own clock. */
export const endInFilm = (piece: Piece): number => piece.origin + (piece.to - piece.chunk.startTime.getTime()) / 1000;

/**
 * Which parts of which chunks make up the range, oldest first. A film begins at its chunk's start and runs at real
 * speed; it counts up to the stated end or its own, whichever comes first. Where two overlap the one that began earlier
 * is used to its end, then the other from its nearest key frame.
 */
export async function choosePieces(
  chunks: readonly RecordedChunk[],
  range: Interval,
  signal?: AbortSignal,
): Promise<Piece[]> {
  let pieces: Piece[] = [];
  for (const chunk of inOrder(chunks, range)) {
    signal?.throwIfAborted();
    const from = Math.max(range.from, chunk.startTime.getTime(), pieces.at(-1)?.to ?? 0);
    const to = Math.min(range.to, chunk.endTime.getTime());
    if (to <= from) continue;
    const piece = await inChunk(chunk, (film) => readPiece(film, chunk, { from, to }));
    if (!piece) continue;
    refuseUnlike(pieces, piece);
    pieces = joinPiece(pieces, piece);
  }
  return pieces;
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

async function readPiece(film: Film, chunk: RecordedChunk, wanted: Interval): Promise<Piece | null> {
  const { video } = film;
  if (!video) throw new MediaError('no-video', 'the film holds no picture');
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
    video: await readVideoFacts(video),
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

function refuseUnlike(pieces: readonly Piece[], next: Piece): void {
  const sounding = pieces.find((piece) => piece.audio)?.audio;
  const difference =
    (pieces[0] && videoDifference(pieces[0].video, next.video)) ??
    (sounding && next.audio && audioDifference(sounding.facts, next.audio.facts));
  if (difference) throw new MediaError('unlike', `${nameOf(next.chunk)} cannot be joined: it has ${difference}`);
}

const nameOf = (chunk: RecordedChunk) => `the recording that starts at ${chunk.startTime.toISOString()}`;
