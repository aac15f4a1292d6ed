import { INTERFACES } from '../common/interfaces.values.js';
import { Integer, Json, NestedList, OneOf, OneOfList, Text, Time } from '../common/fields/decorators.js';
import { example, max, nullable, optional, type Options, between } from '../common/fields/options.js';
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

const SUBJECT_ID = example('9d0e5b7c-3a41-4f6e-8b2d-c4f1a7e60d35');

const isParameter = (value: unknown) =>
  (typeof value === 'number' && value >= 0) || (typeof value === 'string' && value.length <= 255);

/** Numbers and texts by name; the catalogue says which ones a scenario takes. */
const Parameters = (description: string, ...options: readonly Options[]) =>
  Json(
    description,
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
    ...options,
  );

const ScenarioName = () => Text('Name of a scenario in the catalogue', max(64), example('slow-answer'));

/** One entry of the catalogue. */
export class SandboxScenario {
  @ScenarioName() name!: string;
  @OneOfList('The interfaces', INTERFACES) interface!: string[];
  @OneOfList('The operations', SCENARIO_ROUTES) route!: string[];
  @Text('What the caller sees', example('The response is 503 with Retry-After')) description!: string;
  @Json(
    'Parameters by name, each with its default',
    {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: {
          description: { type: 'string', maxLength: 1_000 },
          default: { oneOf: [{ type: 'number' }, { type: 'string', maxLength: 255 }] },
        },
      },
    },
    example({ seconds: { description: 'Value of Retry-After', default: 5 } }),
  )
  parameters!: Readonly<Record<string, { readonly description: string; readonly default: number | string }>>;
  @Json(
    'The value of a request that switches the scenario on for this request',
    {
      type: 'object',
      properties: {
        truckId: { type: 'string', maxLength: 255 },
        siteId: { type: 'string', format: 'uuid', maxLength: 36 },
      },
    },
    nullable,
    example({ truckId: 'SANDBOX-UNAVAILABLE' }),
  )
  magicValue!: { readonly truckId?: string; readonly siteId?: string } | null;
}

export class SandboxCatalogue {
  @NestedList('All scenarios', SandboxScenario) data!: SandboxScenario[];
}

/** A hauler or a customer in a path. */
export class SandboxSubjectParam {
  @OneOf('Kind of the subject', SUBJECTS) subject!: Subject;
  @Text('Id of the hauler or customer', between(1, 255), SUBJECT_ID) subjectId!: string;
}

export class SandboxScenarioParam extends SandboxSubjectParam {
  @ScenarioName() name!: string;
}

export class SandboxScenarioName {
  @ScenarioName() name!: string;
}

export class SandboxCustomerParam {
  @Text('Id or name of the customer', between(1, 255), SUBJECT_ID) customerId!: string;
}

/** How long a scenario acts. At least one bound is required. */
export class StartScenarioRequest {
  @Integer('Number of requests', between(1, MAX_TIMES), optional, example(3)) times?: number;
  @Integer('Seconds from now', between(1, MAX_SANDBOX_SECONDS), optional, example(600)) forSeconds?: number;
  @Parameters(
    'Parameters of the catalogue; `route` restricts the scenario to one operation',
    optional,
    example({ route: 'listVideos' }),
  )
  parameters?: ScenarioValues;
}

export const SCENARIO_EXAMPLES = {
  times: { summary: 'The next three requests', value: { times: 3 } },
  minutes: { summary: 'Ten minutes, one operation', value: { forSeconds: 600, parameters: { route: 'getSites' } } },
};

/** A scenario that acts on a hauler or customer. */
export class ActiveSandboxScenario implements InjectedScenario {
  @ScenarioName() name!: InjectedScenario['name'];
  @Parameters('The parameters that were given', example({ seconds: 5 })) parameters!: ScenarioValues;
  @Integer('Requests that are left', nullable, example(3)) remainingTimes!: number | null;
  @Time('When it ends', nullable) endsAt!: Instant | null;
  @OneOfList(
    'The operations on which it acts, if the key that started it opens fewer than the scenario has',
    SCENARIO_ROUTES,
    optional,
  )
  routes?: ScenarioRoute[];
}

export class ActiveSandboxScenarios {
  @NestedList('In the order of their start', ActiveSandboxScenario) data!: ActiveSandboxScenario[];
}

/** An active scenario of any hauler or customer. */
export class RunningScenario extends ActiveSandboxScenario {
  @OneOf('Kind of the subject', SUBJECTS) subject!: Subject;
  @Text('Id of the hauler or customer', SUBJECT_ID) subjectId!: string;
  @Text('Name of the hauler, or of those whose connections name the customer; null if there is none', nullable)
  haulerName!: string | null;
}

export class RunningScenarios {
  @NestedList('In the order of their start', RunningScenario) data!: RunningScenario[];
}

/** One of the two fields. */
export class AdvanceClockRequest {
  @Integer('Seconds', between(1, MAX_SANDBOX_SECONDS), optional, example(3_600)) advanceSeconds?: number;
  @OneOf('Move to this event', CLOCK_EVENTS, optional) advanceTo?: ClockEvent;
}

export const CLOCK_EXAMPLES = {
  seconds: { summary: 'One hour later', value: { advanceSeconds: 3_600 } },
  event: { summary: 'All links have expired', value: { advanceTo: 'link-expired' } },
};

export class SandboxClock {
  @Time("The reference partner's time for this customer") now!: Instant;
}
