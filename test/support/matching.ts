import type { Video } from '../../src/contracts/vision/vision.dto.js';
import { Matching, type Wanted } from '../../src/vision/requests/match-video.js';

/** All clips at once. */
export function matchingOf<W extends Wanted>(
  wanted: readonly W[],
  videos: readonly Video[],
  taken?: ReadonlySet<string>,
): Matching<W> {
  const matching = new Matching(wanted);
  for (const video of videos) matching.take(video, taken);
  return matching;
}
