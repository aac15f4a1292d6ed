import { type ByteRange, type MediaSource, withReader } from './byte-range-reader.js';
import {
  type AudioFacts,
  type Extent,
  readAudioFacts,
  readExtent,
  readVideoFacts,
  type VideoFacts,
} from './film-facts.js';
import { type FilmTrack, withFilm } from './film.js';
import { MediaError } from './media-error.js';

export interface ProbedVideo {
  readonly codec: string;
  readonly width: number;
  readonly height: number;
}

export interface ProbedAudio {
  readonly codec: string;
  readonly sampleRate: number;
  readonly channels: number;
}

export interface ProbedMp4 {
  /** Of the picture; without one, of the sound. In seconds, not rounded. */
  readonly durationSeconds: number;
  readonly video: ProbedVideo | null;
  readonly audio: ProbedAudio | null;
  /** Where a clip may begin: seconds after the first frame, in order, as the file states them. */
  readonly keyFrames: readonly number[];
}

/** How many bytes `isMp4Head` needs. */
export const MP4_HEAD_BYTES = 12;

/** Whether bytes at the start of a file are those of an MP4: an `ftyp` box with a brand. */
export function isMp4Head(head: Uint8Array): boolean {
  if (head.length < MP4_HEAD_BYTES) return false;
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  return bytes.toString('latin1', 4, 8) === 'ftyp' && bytes.readUInt32BE(0) >= MP4_HEAD_BYTES;
}

/** Whether a stored file is an MP4 by its first bytes. Loads no media library. */
export function isMp4(source: MediaSource): Promise<boolean> {
  return withReader(source, async (reader) => {
    if (reader.size < MP4_HEAD_BYTES) return false;
    return isMp4Head(await gather(await reader.read(0, MP4_HEAD_BYTES)));
  });
}

/**
 * Reads what an MP4 holds from its table of contents alone, in a few small ranges whatever its size.
 * @throws MediaError `not-mp4`, `unreadable`; faults of the storage as they are.
 */
export async function probeMp4(source: MediaSource): Promise<ProbedMp4> {
  if (!(await isMp4(source))) throw new MediaError('not-mp4', 'this is not an MP4: it has no ftyp box');
  return withFilm(source, async ({ video, audio }) => {
    const timed = video ?? audio;
    if (!timed) throw new MediaError('unreadable', 'the film holds neither picture nor sound');
    const extent = await readExtent(timed);
    return {
      durationSeconds: Math.max(0, extent.end - extent.first),
      video: video && probedVideo(await readVideoFacts(video)),
      audio: audio && probedAudio(await readAudioFacts(audio)),
      keyFrames: video ? await keyFrames(video, extent) : [],
    };
  });
}

async function keyFrames(video: FilmTrack, extent: Extent): Promise<number[]> {
  const seconds: number[] = [];
  for (let key = await video.nextKeyFrame(null); key; key = await video.nextKeyFrame(key)) {
    seconds.push(Math.max(0, key.timestamp - extent.first));
  }
  return seconds;
}

const probedVideo = (facts: VideoFacts): ProbedVideo => ({
  codec: facts.codecString,
  width: facts.width,
  height: facts.height,
});

const probedAudio = (facts: AudioFacts): ProbedAudio => ({
  codec: facts.codecString,
  sampleRate: facts.sampleRate,
  channels: facts.channels,
});

async function gather(range: ByteRange): Promise<Uint8Array> {
  if (range instanceof Uint8Array) return range;
  const parts: Uint8Array[] = [];
  for await (const part of range) parts.push(part);
  return Buffer.concat(parts);
}
