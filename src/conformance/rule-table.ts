import type { RuleFacts } from './rule.js';

/**
 * Rules as text: one a line, with the columns id | must or should | section | operation | title | remedy. Returns each with
 * its other columns, which stand between the operation and the title.
 */
export const ruleTable = (text: string): [facts: RuleFacts, others: readonly string[]][] =>
  text
    .trim()
    .split('\n')
    .map((line) => {
      const [id = '', level = '', section = '', operation = '', ...cells] = line.split('|').map((cell) => cell.trim());
      const [title = '', remedy = ''] = cells.slice(-2);
      if (level !== 'must' && level !== 'should') throw new Error(`the rule ${id} is neither must nor should`);
      return [{ id, section, severity: level, operation, title, remedy }, cells.slice(0, -2)];
    });

export function checkOf<C>(checks: Readonly<Record<string, C>>, id: string): C {
  const check = checks[id];
  if (check === undefined) throw new Error(`the rule ${id} has no check`);
  return check;
}
