/**
 * The probability that a value of `a` is greater than one of `b`; equal values count half (Mann-Whitney U as a share).
 * It is 0.5 if the samples do not differ, for any distribution and with outliers.
 */
export function probabilityOfMore(a: readonly number[], b: readonly number[]): number {
  const all = [...a.map((value) => ({ value, of: 'a' })), ...b.map((value) => ({ value, of: 'b' }))];
  all.sort((one, other) => one.value - other.value);
  let ranks = 0;
  for (let from = 0, to = 0; from < all.length; from = to) {
    while (to < all.length && all[to]?.value === all[from]?.value) to++;
    const equal = all.slice(from, to).filter(({ of }) => of === 'a').length;
    ranks += equal * ((from + 1 + to) / 2);
  }
  return (ranks - (a.length * (a.length + 1)) / 2) / (a.length * b.length);
}

/** The standard error of that share for `n` values each, where both are of one distribution. */
export const standardError = (n: number): number => Math.sqrt((2 * n + 1) / (12 * n * n));
