/** Prints the figures of a nightly suite. */
export function reportFigures(suite: string, figures: Readonly<Record<string, number | string>>): void {
  const parts = Object.entries(figures).map(([what, figure]) => `${what}: ${figure}`);
  process.stdout.write(`${suite}: ${parts.join(', ')}\n`);
}
