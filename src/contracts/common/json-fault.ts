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
    return { path: this.path, rule: this.rule, message: this.message };
  }

  /** For whoever read a piece of something larger, and knows the path there. */
  at(path: string): JsonFault {
    return new JsonFault(path, this.rule, this.sentence);
  }
}
