/** How much the pace may differ within one round, as the quickest ÷ the slowest. */
const STEADY = 1.25;

/** What a guest's share of a processor is worth now: steps of a loop in a nanosecond. It can fall to a quarter, and rise again. */
function pace(): number {
  const steps = 2e7;
  const begun = performance.now();
  let value = 1;
  for (let i = 0; i < steps; i++) value = (value * 31 + i) | 0;
  // What it came to is looked at, so that the compiler cannot leave the loop out.
  return steps / (performance.now() - begun) / (value === 0 ? 1e6 + 1 : 1e6);
}

/**
 * Rounds in which the machine was equally quick from the first to the last measurement: others would compare a contender
 * at one pace with another at another. Gives up after three times as many.
 */
export async function steadyRounds<T>(
  count: number,
  measurements: readonly (() => Promise<T>)[],
): Promise<{ rounds: readonly (readonly T[])[]; dropped: number }> {
  const rounds: T[][] = [];
  let tried = 0;
  for (; rounds.length < count && tried < 3 * count; tried++) {
    const paces = [pace()];
    const round: T[] = [];
    for (const measure of measurements) {
      round.push(await measure());
      paces.push(pace());
    }
    const spread = Math.max(...paces) / Math.min(...paces);
    if (spread <= STEADY) rounds.push(round);
    else console.log(`the machine changed its pace by ${spread.toFixed(1)}: this round does not count`);
  }
  if (rounds.length === 0) throw new Error('the machine was at no time steady enough to compare anything');
  return { rounds, dropped: tried - rounds.length };
}
