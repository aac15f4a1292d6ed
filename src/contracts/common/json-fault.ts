import type { Violation } from './violation.js';

/** What is wrong with a JSON text itself, whatever it was to hold. */
export class JsonFault extends Error {
  /** `sentence` makes the message out of a path. */
  constructor(
    readonly path: string,
    private readonly rule: string,
    private readonly sentence: (path: string) => string,
  ) {
    super(sentence(path));
    this.name = 'JsonFault';
  }

  get violation(): Violation {
    return this.violationAt(this.path);
  }

  /** For whoever read a piece of something larger, and knows the path there. */
  violationAt(path: string): Violation {
    return { path, rule: this.rule, message: this.sentence(path) };
  }
}
