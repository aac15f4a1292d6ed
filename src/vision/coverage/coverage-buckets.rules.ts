/** Equal buckets from `originMs` on; the first and the last one are cut at the range. Milliseconds since the epoch. */
export interface BucketGrid {
  readonly originMs: number;
  readonly stepMs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

export const bucketCount = ({ originMs, stepMs, toMs }: BucketGrid): number => Math.ceil((toMs - originMs) / stepMs);

export function bucketRange({ originMs, stepMs, fromMs, toMs }: BucketGrid, bucket: number): [number, number] {
  const start = originMs + bucket * stepMs;
  return [Math.max(start, fromMs), Math.min(start + stepMs, toMs)];
}

/**
 * New coverage that recordings of one camera add to what earlier ones cover, for three sets of states: stored; or available;
 * or expired. Of each set: the bucket in which the new coverage starts, and its seconds there; null for none.
 */
export interface CoverageSums {
  readonly camera: number;
  readonly buckets: readonly [number, number, number];
  readonly seconds: readonly [number | null, number | null, number | null];
  /** The bucket in which the recordings end. The buckets between are covered wholly, and this one up to `endSeconds`. */
  readonly last: number;
  /** Since the origin. */
  readonly endSeconds: number;
}

export interface StateSeconds {
  readonly stored: number;
  readonly available: number;
  readonly expired: number;
  readonly missing: number;
}

/** The seconds of each state, by camera and bucket. */
export function bucketsOf(sums: readonly CoverageSums[], cameras: number, grid: BucketGrid): StateSeconds[][] {
  const count = bucketCount(grid);
  const covered = Array.from({ length: cameras }, () => [1, 2, 3].map(() => new Float64Array(count)));
  for (const each of sums) {
    covered[each.camera]?.forEach((buckets, set) => addSums(buckets, each, set, grid.stepMs / 1000));
  }
  return covered.map(([stored = none, available = none, expired = none]) =>
    Array.from({ length: count }, (_, i) => {
      const [start, end] = bucketRange(grid, i);
      const [one = 0, two = 0, three = 0] = [stored[i], available[i], expired[i]];
      return {
        stored: rounded(one),
        available: rounded(two - one),
        expired: rounded(three - two),
        missing: rounded((end - start) / 1000 - three),
      };
    }),
  );
}

const none = new Float64Array();

function addSums(
  buckets: Float64Array,
  { seconds, last, endSeconds, ...sums }: CoverageSums,
  set: number,
  step: number,
) {
  const [added = null, first = 0] = [seconds[set], sums.buckets[set]];
  if (added === null) return;
  buckets[first] = (buckets[first] ?? 0) + added;
  for (let i = first + 1; i <= last; i++) buckets[i] = (buckets[i] ?? 0) + Math.min(endSeconds - i * step, step);
}

/** To the millisecond; sums of microseconds have tiny errors. */
const rounded = (seconds: number): number => Math.max(0, Math.round(seconds * 1000) / 1000);

/** The seconds of several cameras together. */
export const sumOf = (all: readonly StateSeconds[]): StateSeconds => ({
  stored: rounded(all.reduce((sum, { stored }) => sum + stored, 0)),
  available: rounded(all.reduce((sum, { available }) => sum + available, 0)),
  expired: rounded(all.reduce((sum, { expired }) => sum + expired, 0)),
  missing: rounded(all.reduce((sum, { missing }) => sum + missing, 0)),
});
