import { field } from '../common/fields/field.js';
import { ObjectField } from '../common/fields/nested-fields.js';
import { InstantField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import type { Instant } from '../common/instant.js';
import { isJsonObject } from '../common/json.js';
import { AttentionHauler } from './attention.dto.js';
import { ListQuery } from './list.dto.js';

const CONNECTION_ID = '0197a1d0-11aa-7c33-9b44-0f1e2d3c4b5a';
const RESOURCE = { max: 600, example: `connection:${CONNECTION_ID}` };

export class ActionQuery extends ListQuery {
  @InstantField({ description: 'Actions at this time or later', optional: true, inQuery: true })
  from?: Instant;

  @InstantField({ description: 'Actions before this time', optional: true, inQuery: true })
  to?: Instant;

  @TextField({ ...RESOURCE, description: 'Actions on this resource only', min: 1, optional: true })
  resource?: string;
}

/** What an action changed. */
export class ActionSubject {
  @TextField({ description: 'Kind of thing', max: 64, example: 'connection' })
  kind!: string;

  @TextField({ description: 'Its id; absent for an action on many', max: 600, optional: true, example: CONNECTION_ID })
  id?: string;

  @TextField({
    description: 'Its name; the id where nothing with it is stored any more',
    max: 1_000,
    example: 'site connection of Lone Star Hauling',
  })
  name!: string;

  @ObjectField(() => AttentionHauler, { description: 'Its hauler', optional: true })
  hauler?: AttentionHauler;
}

/** A person who signed in at the identity provider. */
export class ActionPerson {
  @TextField({ description: 'Its id there (`sub`)', max: 255, example: 'f3b1c2d4' })
  subject!: string;

  @TextField({ description: 'Its name', max: 255, optional: true, example: 'Dana Dispatcher' })
  name?: string;

  @TextField({ description: 'Its e-mail address', max: 255, optional: true, example: 'dana@hauling.example' })
  email?: string;
}

/** One change by a call of the admin API, the console or the partner API. */
export class Action {
  @UuidField({ description: 'Id of the action', example: '0197a1d0-51aa-7e20-b1c4-3a5c7e9f1b24' })
  id!: string;

  @InstantField({ description: 'When it was done', example: '2026-11-20T14:03:27.512Z' })
  at!: string;

  @TextField({
    description:
      '`admin`: a call with the admin token. `console`: a console session with it. `token:` with the name of a named token. `person:` with its id at the identity provider. `partner:` with the key prefix. `share`: a link to a recording.',
    max: 300,
    example: 'admin',
  })
  actor!: string;

  @ObjectField(() => ActionPerson, { description: 'The person, as the identity provider names it', optional: true })
  person?: ActionPerson;

  @TextField({
    description:
      'Operation id of the call; `share.viewed`: the recording of a link was shown; `recording.viewed`, `recording.downloaded`, `exchange.viewed`: it was shown to the caller; `actions.exported`: the action log was exported',
    max: 64,
    example: 'updateConnection',
  })
  action!: string;

  @TextField({ ...RESOURCE, description: 'Changed or viewed resource' })
  resource!: string;

  @field(
    {
      description:
        'The validated input of the call, for an upload also what was stored. Secrets are `[redacted]`; long values are cut.',
      optional: true,
      example: { enabled: false },
    },
    { type: 'object', additionalProperties: true },
    { rule: { name: 'isObject', validate: isJsonObject, must: 'must be an object' } },
  )
  changes?: Readonly<Record<string, unknown>>;

  @TextField({
    description: 'Why the call failed; it may have changed something all the same. Absent for a call that succeeded',
    max: 4_000,
    optional: true,
    example: 'unexpected error',
  })
  error?: string;

  @TextField({
    description: 'Who did what, on which thing',
    max: 8_192,
    example: 'An admin in the console paused the site connection of Lone Star Hauling.',
  })
  sentence!: string;

  @ObjectField(() => ActionSubject, { description: 'The changed thing with its name' })
  subject!: ActionSubject;
}
