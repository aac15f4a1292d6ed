/** One fault of one field (decision 11); `message` is a readable sentence that names the field and what to do. */
export interface Violation {
  readonly path: string;
  readonly rule: string;
  readonly message: string;
}

/** One sentence for a person, from all the violations: the first few by name, the rest by number. */
export function summarise(violations: readonly Violation[], shown = 3): string {
  const sentences = violations.slice(0, shown).map((violation) => violation.message);
  const more = violations.length - sentences.length;
  return more > 0 ? `${sentences.join('; ')}; and ${more} more` : sentences.join('; ');
}
