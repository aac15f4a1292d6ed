import { INTERFACES } from '../common/api-contract.js';
import { Documented } from '../common/fields/documented.js';
import { DOCUMENTED_MAX, field, type FieldOptions } from '../common/fields/field.js';
import { EnumListField } from '../common/fields/nested-fields.js';
import { EnumField, InstantField, IntegerField, TextField } from '../common/fields/scalar-fields.js';
import type { Instant } from '../common/instant.js';
import { isJsonObject } from '../common/json.js';
import {
  type InjectedScenario,
  SCENARIO_ROUTES,
  type ScenarioRoute,
  type ScenarioValues,
} from '../sandbox/scenarios.js';

export const SUBJECTS = ['haulers', 'customers'] as const;
/** Scenarios of Scale, Account and Site belong to a hauler, those of Vision to a customer. */
export type Subject = (typeof SUBJECTS)[number];

export const CLOCK_EVENTS = ['clip-ready', 'link-expired', 'window-closed'] as const;
export type ClockEvent = (typeof CLOCK_EVENTS)[number];

/** Bounds of a scenario and of one step of the clock. */
const MAX_TIMES = 1_000;
export const MAX_SANDBOX_SECONDS = 86_400;
const ID = { max: 255, example: '9d0e5b7c-3a41-4f6e-8b2d-c4f1a7e60d35' };
const NAME = { description: 'Name of a scenario in the catalogue', max: 64, example: 'slow-answer' };

/** Numbers and texts by name; the catalogue says which ones a scenario takes. */
function ParametersField(options: FieldOptions): PropertyDecorator {
  const isParameter = (value: unknown) =>
    (typeof value === 'number' && value >= 0) || (typeof value === 'string' && value.length <= 255);
  return field(
    options,
    {
      type: 'object',
      maxProperties: 10,
      additionalProperties: {
        oneOf: [
          { type: 'number', minimum: 0 },
          { type: 'string', maxLength: 255 },
        ],
      },
    },
    {
      rule: {
        name: 'isParameters',
        validate: (value) =>
          isJsonObject(value) && Object.keys(value).length <= 10 && Object.values(value).every(isParameter),
        must: 'must be an object of numbers and texts',
      },
    },
  );
}

/** One entry of the catalogue. */
export class SandboxScenario {
  @TextField(NAME)
  name!: string;

  @EnumListField({ description: 'The interfaces', values: INTERFACES, max: 10, example: [INTERFACES[0]] })
  interface!: string[];

  @EnumListField({ description: 'The operations', values: SCENARIO_ROUTES, max: 10, example: [SCENARIO_ROUTES[0]] })
  route!: string[];

  @TextField({ description: 'What the caller sees', max: 1_000, example: 'The response is 503 with Retry-After' })
  description!: string;

  @Documented({
    description: 'Parameters by name, each with its default',
    type: 'object',
    maxProperties: 10,
    additionalProperties: {
      type: 'object',
      properties: {
        description: { type: 'string', maxLength: 1_000 },
        default: { oneOf: [{ type: 'number' }, { type: 'string', maxLength: 255 }] },
      },
    },
    example: { seconds: { description: 'Value of Retry-After', default: 5 } },
  })
  parameters!: Readonly<Record<string, { readonly description: string; readonly default: number | string }>>;

  @Documented({
    description: 'The value of a request that switches the scenario on for this request',
    type: 'object',
    properties: {
      truckId: { type: 'string', maxLength: 255 },
      siteId: { type: 'string', format: 'uuid', maxLength: 36 },
    },
    nullable: true,
    example: { truckId: 'SANDBOX-UNAVAILABLE' },
  })
  magicValue!: { readonly truckId?: string; readonly siteId?: string } | null;
}

export class SandboxCatalogue {
  @Documented({ description: 'All scenarios', type: SandboxScenario, isArray: true, maxItems: 100 })
  data!: SandboxScenario[];
}

/** A hauler or a customer in a path. */
export class SandboxSubjectParam {
  @EnumField({ description: 'Kind of the subject', values: SUBJECTS, example: 'haulers' })
  subject!: Subject;

  @TextField({ ...ID, description: 'Id of the hauler or customer', min: 1 })
  subjectId!: string;
}

export class SandboxScenarioParam extends SandboxSubjectParam {
  @TextField(NAME)
  name!: string;
}

export class SandboxScenarioName {
  @TextField(NAME)
  name!: string;
}

export class SandboxCustomerParam {
  @TextField({ ...ID, description: 'Id or name of the customer', min: 1 })
  customerId!: string;
}

/** How long a scenario acts. At least one bound is required. */
export class StartScenarioRequest {
  @IntegerField({ description: 'Number of requests', min: 1, max: MAX_TIMES, optional: true, example: 3 })
  times?: number;

  @IntegerField({ description: 'Seconds from now', min: 1, max: MAX_SANDBOX_SECONDS, optional: true, example: 600 })
  forSeconds?: number;

  @ParametersField({
    description: 'Parameters of the catalogue; `route` restricts the scenario to one operation',
    optional: true,
    example: { route: 'listVideos' },
  })
  parameters?: ScenarioValues;
}

export const SCENARIO_EXAMPLES = {
  times: { summary: 'The next three requests', value: { times: 3 } },
  minutes: { summary: 'Ten minutes, one operation', value: { forSeconds: 600, parameters: { route: 'getSites' } } },
};

/** A scenario that acts on a hauler or customer. */
export class ActiveSandboxScenario implements InjectedScenario {
  @TextField(NAME)
  name!: InjectedScenario['name'];

  @ParametersField({ description: 'The parameters that were given', example: { seconds: 5 } })
  parameters!: ScenarioValues;

  @IntegerField({ description: 'Requests that are left', min: 0, max: DOCUMENTED_MAX, nullable: true, example: 3 })
  remainingTimes!: number | null;

  @InstantField({ description: 'When it ends', nullable: true, example: '2026-01-31T09:00:00Z' })
  endsAt!: Instant | null;

  @EnumListField({
    description: 'The operations on which it acts, if the key that started it opens fewer than the scenario has',
    values: SCENARIO_ROUTES,
    max: SCENARIO_ROUTES.length,
    optional: true,
    example: ['createAccount'],
  })
  routes?: ScenarioRoute[];
}

export class ActiveSandboxScenarios {
  @Documented({ description: 'In the order of their start', type: ActiveSandboxScenario, isArray: true, maxItems: 100 })
  data!: ActiveSandboxScenario[];
}

/** An active scenario of any hauler or customer. */
export class RunningScenario extends ActiveSandboxScenario {
  @EnumField({ description: 'Kind of the subject', values: SUBJECTS, example: 'haulers' })
  subject!: Subject;

  @TextField({ ...ID, description: 'Id of the hauler or customer' })
  subjectId!: string;

  @TextField({
    description: 'Name of the hauler, or of those whose connections name the customer; null if there is none',
    max: 10_000,
    nullable: true,
    example: 'Demo Hauling',
  })
  haulerName!: string | null;
}

export class RunningScenarios {
  @Documented({ description: 'In the order of their start', type: RunningScenario, isArray: true, maxItems: 1_000 })
  data!: RunningScenario[];
}

/** One of the two fields. */
export class AdvanceClockRequest {
  @IntegerField({ description: 'Seconds', min: 1, max: MAX_SANDBOX_SECONDS, optional: true, example: 3_600 })
  advanceSeconds?: number;

  @EnumField({ description: 'Move to this event', values: CLOCK_EVENTS, optional: true, example: 'clip-ready' })
  advanceTo?: ClockEvent;
}

export const CLOCK_EXAMPLES = {
  seconds: { summary: 'One hour later', value: { advanceSeconds: 3_600 } },
  event: { summary: 'All links have expired', value: { advanceTo: 'link-expired' } },
};

export class SandboxClock {
  @InstantField({ description: "The reference partner's time for this customer", example: '2026-01-31T09:00:00Z' })
  now!: Instant;
}
