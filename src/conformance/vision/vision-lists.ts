import { epochMillis } from '../../contracts/common/instant.js';
import type { Recording } from '../../contracts/vision/vision.dto.js';
import { isDeclaredJson, isJson, member, ownField, shown } from '../checks.js';
import type { Exchange } from '../exchange.js';
import {
  type Exchanges,
  failed,
  notApplicable,
  notProven,
  passed,
  passedUnless,
  type Rule,
  type Verdict,
} from '../rule.js';
import { elementsOf, listFacts, listOf, paginationOf } from './vision-facts.js';
import { isJsonObject } from '../../contracts/common/json.js';

/** Rules of a page of `GET /videos` or `GET /videos/continuous`: its envelope, its elements, its pagination. */

const HOUR_MS = 3_600_000;

export interface ListNames {
  readonly on: string;
  readonly operation: 'listVideos' | 'listContinuous';
  /** First id of the block; the rules are numbered from it. */
  readonly first: number;
  readonly section: string;
}

export const visionId = (number: number): string => `VISION-${String(number).padStart(3, '0')}`;

const noElements = notProven('the list is empty');

type ElementRow = readonly [field: string, form: string, severity: Rule['severity'], isOptional?: 'optional'];

const ELEMENT_FIELDS: readonly ElementRow[] = [
  ['id', 'text of 1 to 255 characters', 'must'],
  ['customerId', 'text of 1 to 255 characters', 'must'],
  ['truckId', 'text of 1 to 255 characters', 'must'],
  ['cameraId', 'text of 1 to 255 characters', 'must'],
  ['startTime', 'an ISO 8601 date-time with an offset', 'must'],
  ['endTime', 'an ISO 8601 date-time with an offset', 'must'],
  ['durationSeconds', 'a whole number of seconds', 'must'],
  ['downloadUrl', 'an address', 'must'],
  ['expiresAt', 'an ISO 8601 date-time with an offset', 'must'],
];

/** Numbers 1 to 5 of a block: status is the first rule and stands elsewhere. */
export function envelopeRules({ on, operation, first, section }: ListNames): Rule[] {
  const common = { on, operation, severity: 'must' } as const;
  return [
    {
      ...common,
      id: visionId(first + 1),
      section: '4',
      title: `the list is application/json`,
      remedy: 'Send Content-Type: application/json.',
      check: isDeclaredJson,
    },
    {
      ...common,
      id: visionId(first + 2),
      section: '4',
      title: 'the body of the list is JSON in UTF-8',
      remedy: 'Write the body with a JSON serializer, in UTF-8.',
      check: isJson,
    },
    {
      ...common,
      id: visionId(first + 3),
      section,
      title: 'success of the list is true',
      remedy: 'Set success to true in an answer with status 200.',
      needs: [visionId(first + 2)],
      check: member('success', (value) => value === true, 'true'),
    },
    {
      ...common,
      id: visionId(first + 4),
      section,
      title:
        operation === 'listVideos'
          ? 'data has an array of objects with the videos'
          : 'data.recordings is an array of objects, or absent',
      remedy: `Send an object data with the array ${operation === 'listVideos' ? 'videos' : 'recordings'}.`,
      needs: [visionId(first + 2)],
      check: (exchange) => passedUnless(listFault(exchange)),
    },
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
export function elementRules({ on, operation, first, section }: ListNames): Rule[] {
  return ELEMENT_FIELDS.map(([field, form, severity], i) => ({
    id: visionId(first + 10 + i),
    section: field === 'expiresAt' ? '8' : section,
    severity,
    operation,
    on,
    needs: [visionId(first + 4)],
    title: `${field} of every element is ${form}`,
    remedy: `Send ${field} in every element, as ${form}.`,
    check: (exchange) => elementVerdict(exchange, field),
  }));
}

function elementVerdict(exchange: Exchange, field: string): Verdict {
  const { facts } = listFacts(exchange);
  if (facts.countOf('list') === 0) return noElements;
  const fault = facts.faultOf(`list[].${field}`);
  const isOfClip = exchange.request.operation === 'listVideos';
  if (field === 'durationSeconds' && isOfClip && !facts.has('list[].durationSeconds')) {
    return notApplicable('the field names of a clip are not fixed; the platform computes the duration');
  }
  if (field === 'downloadUrl' && fault === undefined) {
    return passedUnless(
      firstFault(
        elementsOf(exchange),
        (element) => (isAddress(element) ? undefined : 'must be an absolute http or https address'),
        field,
      ),
    );
  }
  if (field === 'expiresAt' && fault === undefined) {
    return passedUnless(
      firstFault(
        elementsOf(exchange),
        (element) => (ownField(element, 'expiresAt') == null ? 'is absent' : undefined),
        field,
      ),
    );
  }
  return passedUnless(fault);
}

const isAddress = (element: unknown): boolean => {
  const url = ownField(element, 'downloadUrl');
  return typeof url === 'string' && /^https?:\/\//i.test(url) && URL.canParse(url);
};

function firstFault(
  elements: readonly unknown[],
  faultOf: (element: unknown) => string | undefined,
  field: string,
): string | undefined {
  for (const [i, element] of elements.entries()) {
    const fault = faultOf(element);
    if (fault !== undefined) return `${field} of element ${i} ${fault}`;
  }
  return undefined;
}

type ValueCheck = (
  element: Recording,
  context: { readonly exchange: Exchange; readonly run: Exchanges },
) => string | undefined;

/** Fault of an element whose fields are valid. */
const VALUES: readonly (readonly [
  offset: number,
  title: string,
  severity: Rule['severity'],
  section: string,
  remedy: string,
  check: ValueCheck,
])[] = [
  [
    20,
    'every element ends after it starts',
    'must',
    '2.6',
    'Send endTime after startTime.',
    ({ startTime, endTime }) =>
      epochMillis(endTime) > epochMillis(startTime) ? undefined : 'endTime is not after startTime',
  ],
  [
    21,
    'durationSeconds is the time from startTime to endTime',
    'must',
    '2.6',
    'Compute durationSeconds from the range; a difference of one second is accepted.',
    ({ startTime, endTime, durationSeconds }) => {
      if (durationSeconds === undefined) return undefined;
      const seconds = (epochMillis(endTime) - epochMillis(startTime)) / 1000;
      // A range that ends too early is the fault of another rule.
      return seconds <= 0 || Math.abs(seconds - durationSeconds) <= 1
        ? undefined
        : `durationSeconds is ${durationSeconds}, the range has ${seconds}`;
    },
  ],
  [
    22,
    'every element is of the customer that was asked for',
    'must',
    '4.5, 4.6',
    'List the elements of the customerId of the request only, and return that customerId.',
    ({ customerId }, { exchange }) => differs('customerId', customerId, exchange),
  ],
  [
    23,
    'the link of every element is valid now',
    'must',
    '8',
    'Create a new link for each list, with an expiresAt in the future.',
    ({ expiresAt }, { run }) =>
      expiresAt === undefined || epochMillis(expiresAt) > run.now().getTime() ? undefined : 'expiresAt has passed',
  ],
  [
    24,
    'the link of every element leaves an hour or more for the download',
    'should',
    '8',
    'Let a link expire several hours after it was listed.',
    ({ expiresAt }, { run }) => {
      if (expiresAt === undefined) return undefined;
      const left = epochMillis(expiresAt) - run.now().getTime();
      return left <= 0 || left >= HOUR_MS ? undefined : `expires in ${Math.round(left / 60_000)} minutes`;
    },
  ],
];

export const askedFor = (exchange: Exchange, name: string): string | undefined =>
  new URL(exchange.request.url).searchParams.get(name) ?? undefined;

export function differs(name: string, value: string, exchange: Exchange): string | undefined {
  const asked = askedFor(exchange, name);
  return asked === undefined || asked.toLowerCase() === value.toLowerCase()
    ? undefined
    : `${name} is ${shown(value)}, asked for ${shown(asked)}`;
}

export function valueRules({ on, operation, first }: ListNames): Rule[] {
  return VALUES.map(([offset, title, severity, section, remedy, check]) => ({
    id: visionId(first + offset),
    section: section === '4.5, 4.6' ? (operation === 'listVideos' ? '4.5' : '4.6') : section,
    severity,
    operation,
    on,
    needs: [visionId(first + 4)],
    title,
    remedy,
    check: (exchange, run) => everyElement(exchange, (element) => check(element, { exchange, run })),
  }));
}

/** Checks the elements whose fields are valid. */
export function everyElement(exchange: Exchange, faultOf: (element: Recording) => string | undefined): Verdict {
  const { valid } = listFacts(exchange);
  if (valid.length === 0) return noElements;
  for (const element of valid) {
    const fault = faultOf(element);
    if (fault !== undefined) return failed(`element ${element.id}: ${fault}`);
  }
  return passed;
}

export const isCount = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0;

/** Numbers 30 to 35 of a block: pagination of a list without `page` and `pageSize`. */
export function paginationRules({ on, operation, first }: ListNames): Rule[] {
  const isVideos = operation === 'listVideos';
  const common = { on, operation, needs: [visionId(first + 4)] };
  const section = isVideos ? '4.5' : '2.6';
  const rule = (
    offset: number,
    title: string,
    remedy: string,
    fault: (page: Record<string, unknown>, exchange: Exchange) => string | undefined,
    ruleSection = section,
  ): Rule => ({
    ...common,
    id: visionId(first + offset),
    section: ruleSection,
    severity: 'must',
    title,
    remedy,
    check: (exchange) => {
      const page = paginationOf(exchange);
      if (!isJsonObject(page)) {
        return offset === 30 && page != null
          ? failed(`pagination must be an object, it is ${shown(page)}`)
          : notApplicable('the answer has no pagination');
      }
      return passedUnless(fault(page, exchange));
    },
  });
  return [
    rule(
      30,
      'page, pageSize, totalItems and totalPages are whole numbers, or absent',
      'Send the four fields of the pagination as whole numbers.',
      (page) =>
        Object.entries(page).flatMap(([name, value]) =>
          ['page', 'pageSize', 'totalItems', 'totalPages'].includes(name) && value !== null && !isCount(value)
            ? [`${name} must be a whole number, it is ${shown(value)}`]
            : [],
        )[0],
    ),
    rule(
      31,
      'the default page is 1',
      'Return the first page where the request has no page, and page: 1.',
      ({ page }) => (page == null || !isCount(page) || page === 1 ? undefined : `page is ${page}`),
      '8',
    ),
    rule(
      32,
      'the default pageSize is 20',
      'Return at most 20 elements where the request has no pageSize, and pageSize: 20.',
      ({ pageSize }, exchange) => {
        if (isCount(pageSize) && pageSize !== 20) return `pageSize is ${pageSize}`;
        const { length } = elementsOf(exchange);
        return length > 20 ? `the page has ${length} elements` : undefined;
      },
      '8',
    ),
    rule(
      33,
      'totalPages is totalItems divided by pageSize, rounded up',
      'Compute totalPages from totalItems and pageSize.',
      ({ totalItems, totalPages, pageSize }) => {
        if (!isCount(totalItems) || !isCount(totalPages) || !isCount(pageSize) || pageSize === 0) return undefined;
        const expected = Math.ceil(totalItems / pageSize);
        // Some servers count an empty list as one page.
        return totalPages === expected || (totalItems === 0 && totalPages === 1)
          ? undefined
          : `totalPages is ${totalPages}, expected ${expected}`;
      },
    ),
    rule(
      34,
      'totalItems counts the elements of all pages',
      'Count the elements that match the request.',
      ({ totalItems, pageSize }, exchange) => {
        const { length } = elementsOf(exchange);
        const size = isCount(pageSize) && pageSize > 0 ? pageSize : 20;
        if (!isCount(totalItems)) return undefined;
        if (length < size && length < 20 && totalItems !== length)
          return `totalItems is ${totalItems}, the only page has ${length} elements`;
        return totalItems < length ? `totalItems is ${totalItems}, the page has ${length} elements` : undefined;
      },
    ),
  ];
}
