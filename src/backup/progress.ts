const PAUSE_MS = 5000;

/** Shows on standard error how far a command has come, at most every 5 s. */
export class Progress {
  private shownAt = performance.now();

  constructor(private readonly print: (text: string) => void) {}

  report(text: string): void {
    if (performance.now() - this.shownAt < PAUSE_MS) return;
    this.shownAt = performance.now();
    this.print(`${text}\n`);
  }

  /** The beginning of a phase. */
  begin(text: string): void {
    this.shownAt = performance.now();
    this.print(`${text}\n`);
  }
}
