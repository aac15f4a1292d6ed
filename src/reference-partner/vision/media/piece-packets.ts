import type { EncodedPacket } from 'mediabunny';
import type { FilmTrack } from './film.js';

/** Half a millisecond: chunk times have no finer, and frame times are fractions that do not come out even. */
export const HAIR_SECONDS = 0.0005;

/** The most frames that H.264 and H.265 may hold back for others: so many later ones in a row, and no earlier follows. */
const DEEPEST_REORDERING = 16;

type Next = (packet: EncodedPacket) => Promise<EncodedPacket | null>;

/**
 * The frames shown from the key frame on and before `to` (seconds of the film), in decode order. Frames that reach back
 * over the key frame are left out, since what they build on is. Where the last frames build on a later one, it comes
 * along with all that is shown before it, so that no frame is missing between.
 */
export async function* videoPackets(key: EncodedPacket, to: number, next: Next): AsyncGenerator<EncodedPacket> {
  let end = to - HAIR_SECONDS;
  let later: EncodedPacket[] = [];
  for (let packet: EncodedPacket | null = key; packet; packet = await next(packet)) {
    if (packet.timestamp < key.timestamp) continue;
    if (packet.timestamp < end) {
      end = Math.max(end, ...later.map(({ timestamp }) => timestamp));
      yield* later;
      yield packet;
      later = [];
    } else if (later.push(packet) > DEEPEST_REORDERING) {
      return;
    }
  }
}

/** The sound that is on at `from`, and what begins before `to` (seconds of the film). */
export async function* audioPackets(
  audio: FilmTrack | null,
  from: number,
  to: number,
  next: Next,
): AsyncGenerator<EncodedPacket> {
  for (let packet = (await audio?.at(from)) ?? null; packet; packet = await next(packet)) {
    if (packet.timestamp >= to - HAIR_SECONDS) return;
    yield packet;
  }
}
