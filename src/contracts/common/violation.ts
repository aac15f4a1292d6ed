import type { RuleName } from './rules.js';

/** One fault of one field (decision 11); `message` is a sentence that names the field and what to do. */
export interface Violation {
  readonly path: string;
  readonly rule: RuleName;
  readonly message: string;
}

/** Ends a list of violations that is not complete. */
export const MORE_VIOLATIONS: Violation = {
  path: '',
  rule: 'maxFaults',
  message: 'the body has more invalid text or nesting, which is not listed: fix the listed ones first',
};

/** One sentence: the first `shown` messages, and the number of the others. */
export function summarise(violations: readonly Violation[], shown = 3): string {
  const sentences = violations.slice(0, shown).map(({ message }) => message);
  const more = violations.length - sentences.length;
  if (more > 0) sentences.push(`and ${more} more`);
  return sentences.join('; ');
}
