import { Integer, OneOf, Text, TextList, Time, Uuid } from '../common/fields/decorators.js';
import { example, min, optional, range } from '../common/fields/options.js';
import { KeyPrefix, RequestId } from './fields.js';

/** Entries of one history. Older ones are not listed. */
export const MAX_HISTORY = 1_000;

/**
 * `push`: an accepted request. `refused`: a refused request, or one whose response was lost. `call`: a call of this service
 * to a partner. `submitted`, `poll`, `download`, `link-replaced`: a step of a clip that changed something. `state`: a change of
 * state. `decision`: a decision of an admin.
 */
export const HISTORY_EVENTS = [
  'push',
  'refused',
  'call',
  'submitted',
  'poll',
  'download',
  'link-replaced',
  'state',
  'decision',
] as const;
export type HistoryEvent = (typeof HISTORY_EVENTS)[number];

/** One event in the history of a record. */
export class HistoryEntry {
  @Time('When it happened') at!: string;
  @OneOf('Kind of event', HISTORY_EVENTS, example('refused')) event!: HistoryEvent;
  @Text(
    'What happened, in sentences',
    example('The call POST /platform-api/v1/tickets received 422. A business rule refused the request.'),
  )
  text!: string;
  @Text(
    'Of a ticket: the same in one sentence, with amounts; compares with what was in force when the push arrived',
    optional,
    example('Weight corrected from 14.9 to 12.48 t'),
  )
  sentence?: string;
  @Uuid('The exchange, which is kept for some days', optional) exchangeId?: string;
  @RequestId(optional) requestId?: string;
  @Uuid('API key of the request', optional) apiKeyId?: string;
  @KeyPrefix(optional) keyPrefix?: string;
  @Integer('Status of the response', range(100, 999), optional, example(422)) status?: number;
  @Text('What the service decided', optional, example('422 materialExists')) result?: string;
  @Integer('Revision of a ticket', min(1), optional) revision?: number;
  @TextList(
    'Fields of the ticket that the push changed; empty for the first push, and for a stale one that changed no flow',
    optional,
  )
  changes?: string[];
  @Uuid('The exchange that this one repeats', optional) replayOf?: string;
}
