import { REASONS } from '../contracts/common/error-help.js';
import { RULES } from '../contracts/common/rules.js';
import type { Direction } from './exchange-record.js';
import { FAILURES, PARTNER_STATUSES, STATUSES } from './explanation.rules.js';

interface Reason {
  readonly direction: Direction;
  readonly reason: string;
  readonly status: number;
}

const causes: Readonly<Record<string, { readonly cause: string }>> = { ...RULES, ...REASONS };

/** Why an exchange failed, in a sentence made from the codes of its reason. */
export function reasonSentence({ direction, reason, status }: Reason): string {
  const [code = '', ...others] = reason.split(', ');
  const isOwn = direction === 'inbound';
  const known = FAILURES[code] ?? (isOwn ? (causes[code]?.cause ?? STATUSES[status]) : PARTNER_STATUSES[status]);
  const more = others.length === 0 ? '' : ` With ${others.length === 1 ? 'another fault' : 'other faults'}.`;
  return `${known ?? statusSentence(isOwn, status)}${more}`;
}

function statusSentence(isOwn: boolean, status: number): string {
  if (status === 0) return 'There was no response.';
  if (status >= 500) return isOwn ? 'The service failed, or was overloaded.' : 'The partner failed.';
  return isOwn ? 'The request was refused.' : 'The partner refused the request.';
}
