/** One fault of one field (decision 11); `message` is a readable sentence that names the field and what to do. */
export interface Violation {
  readonly path: string;
  readonly rule: string;
  readonly message: string;
}

/** Stands last where a body's text has more faults than are listed. */
export const FURTHER_FAULTS: Violation = {
  path: '',
  rule: 'maxFaults',
  message: 'the body has further faults of text or nesting, which are not listed: mend the listed ones first',
};

/** One sentence for a person, from all the violations: the first few by name, the rest by number. */
export function summarise(violations: readonly Violation[], shown = 3): string {
  const listed = violations.filter(({ rule }) => rule !== FURTHER_FAULTS.rule);
  const sentences = listed.slice(0, shown).map((violation) => violation.message);
  const more = listed.length - sentences.length;
  if (listed.length < violations.length) sentences.push(more > 0 ? `and at least ${more} more` : 'and more');
  else if (more > 0) sentences.push(`and ${more} more`);
  return sentences.join('; ');
}
