import { ADMIN_ATTACKS } from './admin.js';
import { BODY_ATTACKS } from './bodies.js';
import { CONNECTION_ATTACKS } from './connections.js';
import { SECRET_ATTACKS } from './secrets.js';
import type { Attack, Outcome, Target } from './target.js';

const number = ({ row }: Attack): number => Number(row.slice(1));

/** All attacks, in the order of their rows. */
export const ATTACKS: readonly Attack[] = [
  ...CONNECTION_ATTACKS,
  ...BODY_ATTACKS,
  ...ADMIN_ATTACKS,
  ...SECRET_ATTACKS,
].sort((a, b) => number(a) - number(b));

/** Runs one attack. An attack that cannot be made counts as not held. */
export async function attempt(attack: Attack, target: Target): Promise<Outcome> {
  try {
    return await attack.run(target);
  } catch (error) {
    return { faults: [error instanceof Error ? error.message : String(error)], figures: {} };
  }
}

/** One line for each attack, and one for each of its faults. */
export function report({ row, title }: Attack, { faults, figures }: Outcome): string {
  const parts = Object.entries(figures).map(([what, figure]) => `${what} ${figure}`);
  const line = `${row.padEnd(4)}${faults.length === 0 ? 'held  ' : 'BROKEN'}  ${title}: ${parts.join(', ')}`;
  return [line, ...faults.map((fault) => `      ${fault}`)].join('\n') + '\n';
}
