import { ACCOUNT_API } from '../account/account.api.js';
import type { InterfaceName } from '../common/interfaces.values.js';
import { SCALE_API } from '../scale/scale.api.js';
import { SITE_API } from '../site/site.api.js';
import { VISION_API } from '../vision/vision.api.js';

const APIS = [SCALE_API, ACCOUNT_API, SITE_API, VISION_API] as const;

type RouteOf<Api> = Api extends { readonly routes: infer Routes } ? keyof Routes & string : never;

/** The operations that a scenario can act on. Each name belongs to one interface. */
export type ScenarioRoute = RouteOf<(typeof APIS)[number]>;

export const ROUTE_INTERFACES = Object.fromEntries(
  APIS.flatMap(({ name, routes }) => Object.keys(routes).map((route) => [route, name])),
) as Readonly<Record<ScenarioRoute, InterfaceName>>;

export const SCENARIO_ROUTES = Object.keys(ROUTE_INTERFACES) as readonly ScenarioRoute[];

export interface ScenarioParameter {
  readonly description: string;
  readonly default: number | string;
}

export interface Scenario {
  readonly routes: readonly ScenarioRoute[];
  readonly description: string;
  readonly parameters?: Readonly<Record<string, ScenarioParameter>>;
  /** A value of the request that switches the scenario on for this request. */
  readonly magicValue?: { readonly truckId?: string; readonly siteId?: string };
}

const PARTNER = ['getSites', 'requestVideo', 'listVideos', 'listContinuous'] as const;
const PUSHES = ['createTicket', 'createAccount'] as const;
const LISTS = ['listVideos', 'listContinuous'] as const;

const seconds = (value: number, description: string) => ({ seconds: { description, default: value } });
const truck = (name: string) => ({ truckId: `SANDBOX-${name}` });
const truckOrSite = (name: string, last: number) => ({
  ...truck(name),
  siteId: `5a4d0b0c-0000-4000-8000-00000000000${last}`,
});

/** The catalogue of the sandbox: every fault that it can simulate. The names are part of the API. */
export const SCENARIOS = {
  unauthorized: {
    routes: SCENARIO_ROUTES,
    description: 'The response is 401, as if the key were revoked',
    magicValue: truckOrSite('UNAUTHORIZED', 1),
  },
  'too-many-requests': {
    routes: SCENARIO_ROUTES,
    description: 'The response is 429 with Retry-After',
    parameters: seconds(5, 'Value of Retry-After'),
    magicValue: truckOrSite('TOO-MANY-REQUESTS', 2),
  },
  'server-error': {
    routes: SCENARIO_ROUTES,
    description: 'The response is 500',
    magicValue: truckOrSite('SERVER-ERROR', 3),
  },
  unavailable: {
    routes: SCENARIO_ROUTES,
    description: 'The response is 503 with Retry-After',
    parameters: seconds(5, 'Value of Retry-After'),
    magicValue: truckOrSite('UNAVAILABLE', 4),
  },
  'slow-answer': {
    routes: SCENARIO_ROUTES,
    description: 'The response is correct and starts late',
    parameters: seconds(10, 'Seconds before the response starts'),
    magicValue: truck('SLOW-ANSWER'),
  },
  'cut-answer': {
    routes: PARTNER,
    description: 'The response breaks off before its Content-Length',
    magicValue: truck('CUT-ANSWER'),
  },
  'hanging-answer': {
    routes: PARTNER,
    description: 'The request gets no response; the connection closes after a while',
    parameters: seconds(300, 'Seconds before the connection closes'),
    magicValue: truck('HANGING-ANSWER'),
  },
  'malformed-json': {
    routes: PARTNER,
    description: 'The body of the response is not valid JSON',
    magicValue: truck('MALFORMED-JSON'),
  },
  'wrong-content-type': {
    routes: PARTNER,
    description: 'The body is correct and has Content-Type: text/plain',
    magicValue: truck('WRONG-CONTENT-TYPE'),
  },
  'html-answer': {
    routes: PARTNER,
    description: 'The response is 200 with an HTML page, as a proxy sends it',
    magicValue: truck('HTML-ANSWER'),
  },
  conflict: {
    routes: ['createAccount'],
    description: 'The response is 409 NAME_TAKEN, and no account is created',
  },
  'rule-violated': {
    routes: ['createTicket'],
    description: 'The response is 422 for an unknown material, and nothing is stored',
    magicValue: { siteId: '5a4d0b0c-0000-4000-8000-000000000005' },
  },
  'answer-lost': {
    routes: PUSHES,
    description: 'The push is committed; the connection closes without a response',
  },
  'site-list-shrinks': {
    routes: ['getSites'],
    description: 'The second half of the sites is absent, with their kiosks and materials',
  },
  'material-without-parent': {
    routes: ['getSites'],
    description: 'The first material names an unknown site',
  },
  'stale-records': {
    routes: ['getSites'],
    description: 'Every record has an updatedAt of the year 2000 and a changed name',
  },
  'slow-clip': {
    routes: ['requestVideo'],
    description: 'The clip stays in preparation for a while',
    parameters: seconds(120, 'Seconds of preparation'),
    magicValue: truck('SLOW-CLIP'),
  },
  'failed-clip': {
    routes: ['requestVideo'],
    description: 'The clip fails with a reason',
    parameters: { reason: { description: 'The reason', default: 'The camera was switched off.' } },
    magicValue: truck('FAILED-CLIP'),
  },
  'endless-clip': {
    routes: ['requestVideo'],
    description: 'The clip never becomes ready',
    magicValue: truck('ENDLESS-CLIP'),
  },
  'link-expired-at-birth': {
    routes: LISTS,
    description: 'The download links of the list have already expired',
    magicValue: truck('LINK-EXPIRED-AT-BIRTH'),
  },
  'link-expires-during-download': {
    routes: LISTS,
    description: 'A download sends half of the file and breaks off when its link expires',
    parameters: seconds(5, 'Seconds for which the links are valid'),
    magicValue: truck('LINK-EXPIRES-DURING-DOWNLOAD'),
  },
  'truncated-file': {
    routes: LISTS,
    description: 'The links lead to the first half of each file, as a complete response',
    magicValue: truck('TRUNCATED-FILE'),
  },
  'etag-changes': {
    routes: LISTS,
    description: 'The first download breaks off, and each response has another ETag',
    magicValue: truck('ETAG-CHANGES'),
  },
  'no-range': {
    routes: LISTS,
    description: 'The first download breaks off, and Range is ignored',
    magicValue: truck('NO-RANGE'),
  },
  'shifting-pages': {
    routes: LISTS,
    description: 'An element arrives at the front while the pages are read: each later page starts one element earlier',
    magicValue: truck('SHIFTING-PAGES'),
  },
  'wrong-totals': {
    routes: LISTS,
    description: 'totalItems and totalPages are too high',
    magicValue: truck('WRONG-TOTALS'),
  },
  'late-chunks': {
    routes: ['listContinuous'],
    description: 'Every second recording is absent; it is listed after the scenario ends',
    magicValue: truck('LATE-CHUNKS'),
  },
  'camera-alias': {
    routes: LISTS,
    description: 'The elements name the camera by one of its other names',
    magicValue: truck('CAMERA-ALIAS'),
  },
} as const satisfies Readonly<Record<string, Scenario>>;

export type ScenarioName = keyof typeof SCENARIOS;

export const SCENARIO_NAMES = Object.keys(SCENARIOS) as ScenarioName[];

export const scenarioNamed = (name: string): Scenario | undefined =>
  Object.hasOwn(SCENARIOS, name) ? SCENARIOS[name as ScenarioName] : undefined;

export type ScenarioValues = Readonly<Record<string, number | string>>;

/** A scenario that acts on one request, with the parameters that were given. */
export interface InjectedScenario {
  readonly name: ScenarioName;
  readonly parameters: ScenarioValues;
}

export function secondsOf({ name, parameters }: InjectedScenario): number {
  return Number(parameters['seconds'] ?? scenarioNamed(name)?.parameters?.['seconds']?.default ?? 0);
}

/** A truck of the catalogue, which every customer of the reference partner has. */
export const isMagicTruck = (truckId: string): boolean => truckId.startsWith('SANDBOX-');

/** The scenario that a truck or a site of a request switches on. */
export function magicScenario(route: ScenarioRoute, input: { truckId?: unknown; siteId?: unknown }) {
  return SCENARIO_NAMES.find((name) => {
    const { routes, magicValue }: Scenario = SCENARIOS[name];
    if (magicValue === undefined || !routes.includes(route)) return false;
    if (route === 'createTicket') return magicValue.siteId !== undefined && magicValue.siteId === input.siteId;
    return magicValue.truckId !== undefined && magicValue.truckId === input.truckId;
  });
}
