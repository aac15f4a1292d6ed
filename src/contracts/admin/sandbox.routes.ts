import { INTERFACES } from '../common/interfaces.values.js';
import { Integer, Json, NestedList, OneOf, OneOfList, Text, Time } from '../common/fields/decorators.js';
import { between, example, max, nullable, optional, type Options } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { isJsonObject } from '../common/json.js';
import {
  type InjectedScenario,
  SCENARIO_ROUTES,
  type ScenarioRoute,
  type ScenarioValues,
} from '../sandbox/scenarios.js';
import { type AdminRoutes, FOR_OPERATORS_OF_ALL, FOR_VIEWERS_OF_ALL, route } from './route-helpers.js';

const SUBJECTS = ['haulers', 'customers'] as const;
/** Scenarios of Scale, Account and Site belong to a hauler, those of Vision to a customer. */
export type Subject = (typeof SUBJECTS)[number];

const CLOCK_EVENTS = ['clip-ready', 'link-expired', 'window-closed'] as const;
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

/** Scenarios of the sandbox, and the clock of the reference partner. */
export const SANDBOX_ROUTES = {
  listSandboxScenarios: route(FOR_VIEWERS_OF_ALL, 'GET', '/sandbox/scenarios', {
    summary: 'List the scenarios of the sandbox',
    description: 'The whole catalogue. 404 without `SANDBOX`, as every call of the sandbox.',
    response: SandboxCatalogue,
    fails: { notFound: 'SANDBOX is off' },
  }),
  listRunningScenarios: route(FOR_VIEWERS_OF_ALL, 'GET', '/sandbox', {
    summary: 'List the active scenarios of all haulers and customers',
    description:
      'The first 1,000, each with the name of the hauler whose calls it faults, and with what is left of it.',
    response: RunningScenarios,
    returns: 'The active scenarios',
    fails: { notFound: 'SANDBOX is off' },
  }),
  listActiveScenarios: route(FOR_VIEWERS_OF_ALL, 'GET', '/sandbox/{subject}/{subjectId}', {
    summary: 'List the active scenarios of a hauler or customer',
    description: 'With the requests and the time that are left.',
    params: SandboxSubjectParam,
    response: ActiveSandboxScenarios,
    returns: 'The active scenarios',
    fails: { notFound: 'SANDBOX is off' },
  }),
  startScenario: route(FOR_OPERATORS_OF_ALL, 'PUT', '/sandbox/{subject}/{subjectId}/scenarios/{name}', {
    summary: 'Start a scenario',
    description:
      'Acts on the requests of a hauler (Scale, Account, Site) or of a customer (Vision), and ends by itself: after 1,000 requests or 24 hours at most. Of several scenarios the one that started first acts.',
    params: SandboxScenarioParam,
    body: StartScenarioRequest,
    response: ActiveSandboxScenario,
    examples: SCENARIO_EXAMPLES,
    returns: 'The active scenario',
    fails: { notFound: 'The catalogue has no such scenario, or SANDBOX is off' },
  }),
  endScenario: route(FOR_OPERATORS_OF_ALL, 'DELETE', '/sandbox/{subject}/{subjectId}/scenarios/{name}', {
    summary: 'End a scenario',
    description: 'Also if it is not active.',
    params: SandboxScenarioParam,
    status: 204,
    returns: 'The scenario is not active',
    fails: { notFound: 'The catalogue has no such scenario, or SANDBOX is off' },
  }),
  advanceClock: route(FOR_OPERATORS_OF_ALL, 'POST', '/sandbox/customers/{customerId}/clock', {
    summary: "Move the reference partner's time forward for a customer",
    description:
      'By seconds, or to the next event, by 24 hours at most: the next clip is ready, all links issued so far have expired, or the newest recording ended six hours ago, after which the platform lists it again once a day at most.',
    params: SandboxCustomerParam,
    body: AdvanceClockRequest,
    response: SandboxClock,
    examples: CLOCK_EXAMPLES,
    returns: 'The new time',
    fails: { notFound: 'SANDBOX is off', conflict: 'There is no such event ahead' },
  }),
} as const satisfies AdminRoutes;
