export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** `share` from 0 to 1; the value that so many do not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? NaN;
}
