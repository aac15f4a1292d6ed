import type { RuleFacts } from '../rule.js';
import type { Call, CallLog } from './call.js';
import { callsOf, type ClientRule, everyCall } from './client-rule.js';
import { PARTNER_FAULTS } from './partner-peer.js';

type Row = readonly [id: string, section: string, operation: string, title: string, remedy: string];

export const rule = (
  [id, section, operation, title, remedy]: Row,
  check: ClientRule['check'],
  severity: RuleFacts['severity'] = 'must',
): ClientRule => ({ id, section, severity, operation, title, remedy, check });

/** A statement about each call of an operation. */
export const each = (row: Row, faultOf: (call: Call, log: CallLog) => string | undefined): ClientRule =>
  rule(row, (log) => everyCall(callsOf(log, row[2]), `no call of ${row[2]} was seen`, (call) => faultOf(call, log)));

export const later = (call: Call, { calls }: CallLog): Call[] =>
  calls.slice(calls.indexOf(call) + 1).filter(({ operation }) => operation === call.operation);

export const retryOf = (
  operation: keyof typeof PARTNER_FAULTS,
  scenario: string,
  answer: string,
  section: string,
  repeats?: typeof later,
) => ({
  scenario,
  answer,
  section,
  operation,
  operations: [operation],
  none: `it needs ${(PARTNER_FAULTS[operation] as readonly string[]).indexOf(scenario) + 1} ${operation === 'requestVideo' ? 'different requests' : `calls of ${operation}`}`,
  ...(repeats === undefined ? {} : { repeats }),
});
