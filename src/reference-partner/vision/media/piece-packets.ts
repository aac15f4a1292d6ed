import type { EncodedPacket } from 'mediabunny';
import type { Mp4Track } from './mp4-input.js';

/** Tolerance when times are compared: chunk times are milliseconds, and frame times are fractions that get rounded. */
export const TIME_TOLERANCE_SECONDS = 0.0005;

/** H.264 and H.265 reorder at most 16 frames: after 16 frames beyond the end, no earlier frame follows. */
const MAX_REORDERED_FRAMES = 16;

type Next = (packet: EncodedPacket) => Promise<EncodedPacket | null>;

/**
 * The frames shown from the key frame on and before `to` (seconds of the video), in decode order. Frames shown before the
 * key frame are left out, because they need frames that are left out. If the last frames need a later one, that frame is
 * included together with all frames shown before it.
 */
export async function* videoPackets(key: EncodedPacket, to: number, next: Next): AsyncGenerator<EncodedPacket> {
  let end = to - TIME_TOLERANCE_SECONDS;
  let later: EncodedPacket[] = [];
  for (let packet: EncodedPacket | null = key; packet; packet = await next(packet)) {
    if (packet.timestamp < key.timestamp) continue;
    if (packet.timestamp < end) {
      end = Math.max(end, ...later.map(({ timestamp }) => timestamp));
      yield* later;
      yield packet;
      later = [];
    } else if (later.push(packet) > MAX_REORDERED_FRAMES) {
      return;
    }
  }
}

/** The audio packet that plays at `from`, and all that begin before `to` (seconds of the video). */
export async function* audioPackets(
  audio: Mp4Track | null,
  from: number,
  to: number,
  next: Next,
): AsyncGenerator<EncodedPacket> {
  for (let packet = (await audio?.at(from)) ?? null; packet; packet = await next(packet)) {
    if (packet.timestamp >= to - TIME_TOLERANCE_SECONDS) return;
    yield packet;
  }
}
