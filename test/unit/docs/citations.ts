/** One number, or several in the form of a sentence: `3, 10`, `8, 11 and 32`, `39 to 42`. */
const severalOf = (one: string) => `${one}(?:,? (?:and |or |to )?${one})*`;
const DECISIONS = new RegExp(`\\bdecisions? (${severalOf('\\d+')})`, 'gi');
/** Without the sections of RFCs and other standards. */
const SECTIONS = new RegExp(
  `(?<!(?:RFC|ISO/IEC) [\\d-]+,? )\\bsections? (${severalOf('\\d+(?:\\.\\d+)?(?:[a-z]\\b)?')})`,
  'gi',
);

/** The numbers of the decisions that a text cites. */
export const decisionsIn = (text: string): string[] => numbersIn(text, DECISIONS);

/** The numbers of the sections of docs/interfaces.md that a text cites. */
export const sectionsIn = (text: string): string[] => numbersIn(text, SECTIONS);

/** A number after a line break of a comment is found as well. */
function numbersIn(text: string, pattern: RegExp): string[] {
  const line = text.replaceAll(/\s*\n\s*(?:\*(?!\/)|\/\/)?\s*/g, ' ');
  return [...line.matchAll(pattern)].flatMap(([, list = '']) => spelledOut(list));
}

/** Every decision of a range; the first and the last section of a range. */
function spelledOut(list: string): string[] {
  const ranged = list.replaceAll(/(?<![\d.])(\d+) to (\d+)(?![\d.])/g, (_range, first: string, last: string) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => Number(first) + i).join(', '),
  );
  return ranged.split(/,? (?:and |or |to )?/);
}
