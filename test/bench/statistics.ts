/** The lower one of the two in the middle. */
export function median(values: readonly number[]): number {
  return Float64Array.from(values).sort()[Math.max(0, Math.ceil(values.length / 2) - 1)] ?? NaN;
}
