import { type MediaSource, readBytes, withReader } from './byte-range-reader.js';
import { readExtent, readVideoFacts } from './track-facts.js';
import { withMp4Input } from './mp4-input.js';
import { MediaError } from './media-error.js';

/** Length and name of a box, and the brand that follows in an `ftyp` box. */
export const MP4_HEAD_BYTES = 12;

/** Whether the first bytes of a file (at least `MP4_HEAD_BYTES`) are those of an `ftyp` box. */
export const beginsAsMp4 = (head: Buffer): boolean =>
  head.length >= MP4_HEAD_BYTES && head.toString('latin1', 4, 8) === 'ftyp' && head.readUInt32BE(0) >= MP4_HEAD_BYTES;

/** Whether a stored file begins with an `ftyp` box. Does not load the media library. */
export function isMp4(source: MediaSource): Promise<boolean> {
  return withReader(source, async (reader) => {
    if (reader.size < MP4_HEAD_BYTES) return false;
    return beginsAsMp4(await readBytes(reader, 0, MP4_HEAD_BYTES));
  });
}

/**
 * The length in seconds, not rounded, of the video track, or of the audio track if there is no video track. Reads only the
 * table of contents: a few small ranges for a file of any size.
 * @throws MediaError `not-mp4`, `unreadable`; errors of the storage are not wrapped.
 */
export async function durationOfMp4(source: MediaSource): Promise<number> {
  if (!(await isMp4(source))) throw new MediaError('not-mp4', 'this is not an MP4: it has no ftyp box');
  return withMp4Input(source, async ({ leading, video }) => {
    const extent = await readExtent(leading);
    // Throws for a codec that clips do not support.
    if (video) await readVideoFacts(video);
    return Math.max(0, extent.end - extent.first);
  });
}
