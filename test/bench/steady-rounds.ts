/** Maximum ratio of the fastest to the slowest measurement of the processor within one round. */
const MAX_SPREAD = 1.25;

/** Current speed of the processor in loop steps per nanosecond. On a virtual machine it can fall to a quarter. */
function processorSpeed(): number {
  const steps = 2e7;
  const begun = performance.now();
  let value = 1;
  for (let i = 0; i < steps; i++) value = (value * 31 + i) | 0;
  // The result is used, so that the compiler cannot remove the loop.
  return steps / (performance.now() - begun) / (value === 0 ? 1e6 + 1 : 1e6);
}

/**
 * Runs rounds until `count` of them had a steady processor speed from the first to the last measurement; others would
 * compare contenders at different speeds. Stops after `3 * count` rounds.
 */
export async function steadyRounds<T>(
  count: number,
  measurements: readonly (() => Promise<T>)[],
): Promise<{ rounds: readonly (readonly T[])[]; dropped: number }> {
  const rounds: T[][] = [];
  let tried = 0;
  for (; rounds.length < count && tried < 3 * count; tried++) {
    const speeds = [processorSpeed()];
    const round: T[] = [];
    for (const measure of measurements) {
      round.push(await measure());
      speeds.push(processorSpeed());
    }
    const spread = Math.max(...speeds) / Math.min(...speeds);
    if (spread <= MAX_SPREAD) rounds.push(round);
    else console.log(`the speed of the machine changed by a factor of ${spread.toFixed(1)}: this round does not count`);
  }
  if (rounds.length === 0) throw new Error('the speed of the machine was never steady enough to compare');
  return { rounds, dropped: tried - rounds.length };
}
