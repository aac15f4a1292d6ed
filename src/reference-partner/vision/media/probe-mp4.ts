import { type MediaSource, readBytes, withReader } from './byte-range-reader.js';
import { readExtent, readVideoFacts } from './film-facts.js';
import { withFilm } from './film.js';
import { MediaError } from './media-error.js';

/** The length of a box and its name; of an `ftyp` box the brand follows. */
export const MP4_HEAD_BYTES = 12;

/** Whether the first `MP4_HEAD_BYTES` bytes of a film, or what there is of them, are those of an `ftyp` box. */
export const beginsAsMp4 = (head: Buffer): boolean =>
  head.length >= MP4_HEAD_BYTES && head.toString('latin1', 4, 8) === 'ftyp' && head.readUInt32BE(0) >= MP4_HEAD_BYTES;

/** Whether a stored file is an MP4 by its first box, `ftyp`. Loads no media library. */
export function isMp4(source: MediaSource): Promise<boolean> {
  return withReader(source, async (reader) => {
    if (reader.size < MP4_HEAD_BYTES) return false;
    return beginsAsMp4(await readBytes(reader, 0, MP4_HEAD_BYTES));
  });
}

/**
 * How long an MP4 lasts, in seconds, not rounded: its picture; without one, its sound. Read from its table of contents
 * alone, in a few small ranges whatever its size.
 * @throws MediaError `not-mp4`, `unreadable`; faults of the storage as they are.
 */
export async function durationOfMp4(source: MediaSource): Promise<number> {
  if (!(await isMp4(source))) throw new MediaError('not-mp4', 'this is not an MP4: it has no ftyp box');
  return withFilm(source, async ({ leading, video }) => {
    const extent = await readExtent(leading);
    // It refuses a codec that no clip could be cut out of.
    if (video) await readVideoFacts(video);
    return Math.max(0, extent.end - extent.first);
  });
}
