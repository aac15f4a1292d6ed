import { epochMillis } from '../../contracts/common/instant.js';
import { isJsonObject, ownField } from '../../contracts/common/json.js';
import type { Recording } from '../../contracts/vision/vision.dto.js';
import { jsonRules, memberRow, rulesOf, serverRules, shown, sizeRules, TRUE } from '../checks.js';
import type { Exchange } from '../exchange.js';
import { failed, notApplicable, notProven, passed, passedUnless, type Rule, type Verdict } from '../rule.js';
import { elementsOf, listFacts, listOf } from './vision-facts.js';

/** Rules of an answer of `GET /videos` or `GET /videos/continuous`: its envelope and its elements. */

const HOUR_MS = 3_600_000;

export interface ListNames {
  readonly on: string;
  readonly operation: 'listVideos' | 'listContinuous';
  /** First id of the block; the rules are numbered from it. */
  readonly first: number;
  readonly section: string;
}

export const visionId = (number: number): string => `VISION-${String(number).padStart(3, '0')}`;

type Ids = readonly [string, string, string, string, string, string];

/** Six ids from a number of a block. */
export const idsOf = (first: number, number: number): Ids => {
  const id = (offset: number) => visionId(first + number + offset);
  return [id(0), id(1), id(2), id(3), id(4), id(5)];
};

const noElements = notProven('the list is empty');

/** The number of the rule in its block. */
const ELEMENT_FIELDS: readonly (readonly [number: number, field: string, form: string])[] = [
  [10, 'id', 'text of 1 to 255 characters'],
  [11, 'customerId', 'text of 1 to 255 characters'],
  [12, 'truckId', 'text of 1 to 255 characters'],
  [13, 'cameraId', 'text of 1 to 255 characters'],
  [14, 'startTime', 'an ISO 8601 date-time with an offset'],
  [15, 'endTime', 'an ISO 8601 date-time with an offset'],
  [16, 'durationSeconds', 'a whole number of seconds'],
  [17, 'downloadUrl', 'an address'],
  [18, 'expiresAt', 'an ISO 8601 date-time with an offset'],
];

/** Numbers 1 to 4, and 19 for the size, of a block. The rule of the status is number 0; each list has its own. */
export function envelopeRules({ on, operation, first, section }: ListNames): Rule[] {
  const isVideos = operation === 'listVideos';
  return [
    ...sizeRules(visionId(first + 19), { operation, on }, (exchange) => {
      const { name, elements } = listOf(exchange) ?? { name: '', elements: [] };
      return [[`data.${name}`, elements]];
    }),
    ...jsonRules([visionId(first + 1), visionId(first + 2)], operation, on, 'the list'),
    ...rulesOf(
      { operation, section, on, needs: [visionId(first + 2)] },
      memberRow(visionId(first + 3), 'success', TRUE),
      [
        visionId(first + 4),
        isVideos ? 'data has an array of objects with the videos' : 'data.recordings is an array of objects, or absent',
        `Send an object data with the array ${isVideos ? 'videos' : 'recordings'}.`,
        (exchange) => passedUnless(listFault(exchange)),
      ],
    ),
  ];
}

function listFault(exchange: Exchange): string | undefined {
  const isOptional = exchange.request.operation === 'listContinuous';
  const name = isOptional ? 'recordings' : 'videos';
  const data = ownField(exchange.json, 'data');
  if (!isJsonObject(data)) return `data must be an object, it is ${shown(data)}`;
  const list = listOf(exchange);
  if (list === undefined) {
    return isOptional && data[name] == null ? undefined : `data.${name} must be an array, it is ${shown(data[name])}`;
  }
  return list.elements.every(isJsonObject) ? undefined : `the elements of data.${list.name} must be objects`;
}

/** Numbers 10 to 18 of a block: the fields of section 2.6. */
export const elementRules = ({ on, operation, first, section }: ListNames): Rule[] =>
  ELEMENT_FIELDS.flatMap(([number, field, form]) =>
    rulesOf({ operation, section: field === 'expiresAt' ? '8' : section, on, needs: [visionId(first + 4)] }, [
      visionId(first + number),
      `${field} of every element is ${form}`,
      `Send ${field} in every element, as ${form}.`,
      (exchange) => elementVerdict(exchange, field),
    ]),
  );

function elementVerdict(exchange: Exchange, field: string): Verdict {
  const { facts } = listFacts(exchange);
  if (facts.countOf('list') === 0) return noElements;
  if (
    field === 'durationSeconds' &&
    exchange.request.operation === 'listVideos' &&
    !facts.has('list[].durationSeconds')
  )
    return notApplicable('the field names of a clip are not fixed; the platform computes the duration');
  return passedUnless(facts.faultOf(`list[].${field}`) ?? strictFault(exchange, field));
}

/** The platform accepts any text as a link, and a list without `expiresAt`; the specification does not. */
function strictFault(exchange: Exchange, field: string): string | undefined {
  const elements = elementsOf(exchange);
  if (field === 'downloadUrl') {
    const i = elements.findIndex((element) => !isAddress(ownField(element, field)));
    return i < 0 ? undefined : `${field} of element ${i} must be an absolute http or https address`;
  }
  const i = field === 'expiresAt' ? elements.findIndex((element) => ownField(element, field) == null) : -1;
  return i < 0 ? undefined : `${field} of element ${i} is absent`;
}

const isAddress = (url: unknown): boolean => typeof url === 'string' && /^https?:\/\//i.test(url) && URL.canParse(url);

/** Numbers 20 to 24 of a block: the values of the elements whose fields are valid. */
export function valueRules({ on, operation, first }: ListNames): Rule[] {
  const [order, duration, customer, link, hour] = idsOf(first, 20);
  const filters = operation === 'listVideos' ? '4.5' : '4.6';
  const list = `${operation} | ${on} | ${visionId(first + 4)}`;
  return serverRules(
    `
${order} | must | 2.6 | ${list} | every element ends after it starts | Send endTime after startTime.
${duration} | must | 2.6 | ${list} | durationSeconds is the time from startTime to endTime | Compute durationSeconds from the range; a difference of one second is accepted.
${customer} | must | ${filters} | ${list} | every element is of the requested customer | List the elements of the customerId of the request only, and return that customerId.
${link} | must | 8 | ${list} | the link of every element is valid now | Create a new link for each list, with an expiresAt in the future.
${hour} | should | 8 | ${list} | the link of every element leaves an hour or more for the download | Let a link expire several hours after it was listed.
`,
    {
      [order]: everyElement(({ startTime, endTime }) =>
        epochMillis(endTime) > epochMillis(startTime) ? undefined : 'endTime is not after startTime',
      ),
      [duration]: everyElement(({ startTime, endTime, durationSeconds }) => {
        const seconds = (epochMillis(endTime) - epochMillis(startTime)) / 1000;
        // A range that ends too early is the fault of another rule.
        return durationSeconds === undefined || seconds <= 0 || Math.abs(seconds - durationSeconds) <= 1
          ? undefined
          : `durationSeconds is ${durationSeconds}, the range has ${seconds}`;
      }),
      [customer]: everyElement(({ customerId }, exchange) => differs('customerId', customerId, exchange)),
      [link]: everyElement((element) => (leftMs(element) <= 0 ? 'expiresAt has passed' : undefined)),
      [hour]: everyElement((element) => {
        const left = leftMs(element);
        return left <= 0 || left >= HOUR_MS ? undefined : `expires in ${Math.round(left / 60_000)} minutes`;
      }),
    },
  )();
}

/** Milliseconds until the link expires. */
const leftMs = ({ expiresAt }: Recording): number =>
  expiresAt === undefined ? Infinity : epochMillis(expiresAt) - Date.now();

export const queryValue = (exchange: Exchange, name: string): string | undefined =>
  new URL(exchange.request.url).searchParams.get(name) ?? undefined;

export function differs(name: string, value: string, exchange: Exchange): string | undefined {
  const requested = queryValue(exchange, name);
  return requested === undefined || requested.toLowerCase() === value.toLowerCase()
    ? undefined
    : `${name} is ${shown(value)}, requested was ${shown(requested)}`;
}

/** A check of the elements whose fields are valid. */
export const everyElement =
  (faultOf: (element: Recording, exchange: Exchange) => string | undefined) =>
  (exchange: Exchange): Verdict => {
    const { valid } = listFacts(exchange);
    if (valid.length === 0) return noElements;
    for (const element of valid) {
      const fault = faultOf(element, exchange);
      if (fault !== undefined) return failed(`element ${element.id}: ${fault}`);
    }
    return passed;
  };
