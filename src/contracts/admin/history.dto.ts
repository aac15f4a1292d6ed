import { Integer, Json, NestedList, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { between, example, min, optional } from '../common/fields/options.js';
import { type UnitOfMeasure, UNITS_OF_MEASURE } from '../scale/scale.api.js';
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

/** Differences of one push that are listed. */
export const MAX_CHANGES = 100;

const ChangedValue = (description: string, value: unknown) => Json(description, {}, optional, example(value));

/** A field of a ticket that a push changed (decision 23). */
export class FieldChange {
  @Text(
    'The field. A line that was removed has its number before the push, every other one its number after it',
    example('materials[0].quantity'),
  )
  field!: string;
  @ChangedValue('Its value before; absent if the push added it', 14.9) before?: unknown;
  @ChangedValue('Its value after; absent if the push removed it. A long text ends with `… [4000 characters]`', 12.48)
  after?: unknown;
  @Text('Of a line: the name of its material', optional, example('Mixed construction debris')) material?: string;
  @OneOf('Of a line: its unit', UNITS_OF_MEASURE, optional, example('Ton')) unitOfMeasure?: UnitOfMeasure;
}

/** What a push changed in the state of its ticket (decision 21). */
export const CHANGES = `Fields of the ticket that the push changed, at most ${MAX_CHANGES}; empty for the first push, and for a stale one that changed no flow`;
export const MoreChanges = () => Integer('Changed fields beyond those', min(1), optional);

/** One event in the history of a record. */
export class HistoryEntry {
  @Time('When it happened') at!: string;
  @OneOf('Kind of event', HISTORY_EVENTS, example('refused')) event!: HistoryEvent;
  @Text(
    'What happened, in sentences',
    example('The call POST /platform-api/v1/tickets received 422. A business rule refused the request.'),
  )
  text!: string;
  @Uuid('The exchange, which is kept for some days', optional) exchangeId?: string;
  @RequestId(optional) requestId?: string;
  @Uuid('API key of the request', optional) apiKeyId?: string;
  @KeyPrefix(optional) keyPrefix?: string;
  @Integer('Status of the response', between(100, 999), optional, example(422)) status?: number;
  @Text('Why the response did not arrive as a whole, such as `cut-off`: the caller left', optional) failure?: string;
  @Text('What the service decided', optional, example('422 materialExists')) result?: string;
  @Integer('Revision of a ticket', min(1), optional) revision?: number;
  @NestedList(CHANGES, FieldChange, optional) changes?: FieldChange[];
  @MoreChanges() moreChanges?: number;
  @Uuid('The exchange that this one repeats', optional) replayOf?: string;
}
