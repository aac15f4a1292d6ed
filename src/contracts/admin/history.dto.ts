import { TextListField } from '../common/fields/nested-fields.js';
import { EnumField, InstantField, IntegerField, TextField, UuidField } from '../common/fields/scalar-fields.js';

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
  @InstantField({ description: 'When it happened', example: '2026-11-20T14:03:27.512Z' })
  at!: string;

  @EnumField({ description: 'Kind of event', values: HISTORY_EVENTS, example: 'refused' })
  event!: HistoryEvent;

  @TextField({
    description: 'What happened, in sentences',
    max: 12_000,
    example: 'The call POST /platform-api/v1/tickets received 422. A business rule refused the request.',
  })
  text!: string;

  @TextField({
    description:
      'Of a ticket: the same in one sentence, with amounts; compares with what was in force when the push arrived',
    max: 4_000,
    optional: true,
    example: 'Weight corrected from 14.9 to 12.48 t',
  })
  sentence?: string;

  @UuidField({ description: 'The exchange, which is kept for some days', optional: true })
  exchangeId?: string;

  @TextField({ description: '`X-Request-Id` of the response', max: 128, optional: true })
  requestId?: string;

  @UuidField({ description: 'API key of the request', optional: true })
  apiKeyId?: string;

  @TextField({ description: 'First characters of that key', max: 24, optional: true, example: 'hb_7Kq2mZ9x' })
  keyPrefix?: string;

  @IntegerField({ description: 'Status of the response', min: 100, max: 999, optional: true, example: 422 })
  status?: number;

  @TextField({ description: 'What the service decided', max: 300, optional: true, example: '422 materialExists' })
  result?: string;

  @IntegerField({ description: 'Revision of a ticket', min: 1, max: 2_147_483_647, optional: true })
  revision?: number;

  @TextListField({
    description:
      'Fields of the ticket that the push changed; empty for the first push, and for a stale one that changed no flow',
    maxLength: 1_048_576,
    max: 1_000,
    optional: true,
    example: ['materials'],
  })
  changes?: string[];

  @UuidField({ description: 'The exchange that this one repeats', optional: true })
  replayOf?: string;
}
