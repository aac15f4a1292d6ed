import { epochMillis, parseInstant } from '../../contracts/common/instant.js';
import { isJsonObject, ownField } from '../../contracts/common/json.js';
import type { Recording } from '../../contracts/vision/vision.api.js';
import { declaredAsJson, inJson, member, nameInsteadOf, shown, smallEnough, TRUE } from '../checks.js';
import type { Exchange } from '../exchange.js';
import { failed, notApplicable, passed, passedUnless, type Verdict } from '../rule.js';
import { differs, everyListed, noElements, onEveryPage } from './vision-reading.js';
import { ANSWER, elementsOf, ids, LISTED, listFacts, listOf, type ListRule, pathOf, QUERY } from './vision-facts.js';

/** Rules of an answer of `GET /videos` or `GET /videos/continuous`: its envelope and its elements. */

const HOUR_MS = 3_600_000;

/** The rule that the answer is JSON. */
const IS_JSON = { videos: 'VISION-003', continuous: 'VISION-103', clip: 'VISION-303' } as const;

/** The rule of the status precedes these; each list has its own. */
export const ENVELOPE_RULES: readonly ListRule[] = [
  {
    id: ids('VISION-020', 'VISION-120', 'VISION-320'),
    section: '8',
    severity: 'must',
    ...smallEnough((exchange) => {
      const { name, elements } = listOf(exchange) ?? { name: '', elements: [] };
      return [[`data.${name}`, elements]];
    }),
  },
  {
    id: ids('VISION-002', 'VISION-102', 'VISION-302'),
    section: '4',
    severity: 'must',
    ...declaredAsJson('the list'),
  },
  { id: ids('VISION-003', 'VISION-103', 'VISION-303'), section: '4', severity: 'must', ...inJson('the list') },
  {
    id: ids('VISION-004', 'VISION-104', 'VISION-304'),
    section: ANSWER,
    severity: 'must',
    needs: [IS_JSON],
    ...member('success', TRUE),
  },
  {
    id: ids('VISION-005', 'VISION-105', 'VISION-305'),
    section: ANSWER,
    severity: 'must',
    needs: [IS_JSON],
    title: {
      videos: 'data has an array of objects with the videos',
      continuous: 'data.recordings is an array of objects, or absent',
      clip: 'data has an array of objects with the videos',
    },
    remedy: {
      videos: 'Send an object data with the array videos.',
      continuous: 'Send an object data with the array recordings.',
      clip: 'Send an object data with the array videos.',
    },
    check: (exchange) => passedUnless(listFault(exchange)),
  },
];

function listFault(exchange: Exchange): string | undefined {
  const isOptional = exchange.request.operation === 'listContinuous';
  const name = isOptional ? 'recordings' : 'videos';
  const data = ownField(exchange.json, 'data');
  if (!isJsonObject(data)) return `data must be an object, it is ${shown(data)}`;
  const list = listOf(exchange);
  if (list === undefined) {
    const other = nameInsteadOf(data, name);
    if (other !== undefined) return `data.${name} must be an array, it is absent: data has ${other}`;
    return isOptional && data[name] == null ? undefined : `data.${name} must be an array, it is ${shown(data[name])}`;
  }
  return list.elements.every(isJsonObject) ? undefined : `the elements of data.${list.name} must be objects`;
}

/** A field of section 2.6 in every element. */
const fieldOf = (field: string, form: string): Pick<ListRule, 'title' | 'remedy' | 'check'> => ({
  title: `${field} of every element is ${form}`,
  remedy: `Send ${field} in every element, as ${form}.`,
  check: onEveryPage((exchange) => elementVerdict(exchange, field)),
});

const FIELD = { section: ANSWER, severity: 'must', needs: [LISTED] } as const;
const NAME = 'text of 1 to 4,000 characters';
const INSTANT = 'an RFC 3339 date-time with an offset';

export const ELEMENT_RULES: readonly ListRule[] = [
  { id: ids('VISION-011', 'VISION-111', 'VISION-311'), ...FIELD, ...fieldOf('id', NAME) },
  { id: ids('VISION-012', 'VISION-112', 'VISION-312'), ...FIELD, ...fieldOf('customerId', NAME) },
  { id: ids('VISION-013', 'VISION-113', 'VISION-313'), ...FIELD, ...fieldOf('truckId', NAME) },
  { id: ids('VISION-014', 'VISION-114', 'VISION-314'), ...FIELD, ...fieldOf('cameraId', NAME) },
  { id: ids('VISION-015', 'VISION-115', 'VISION-315'), ...FIELD, ...fieldOf('startTime', INSTANT) },
  { id: ids('VISION-016', 'VISION-116', 'VISION-316'), ...FIELD, ...fieldOf('endTime', INSTANT) },
  {
    id: ids('VISION-017', 'VISION-117', 'VISION-317'),
    ...FIELD,
    ...fieldOf('durationSeconds', 'a whole number of seconds'),
  },
  { id: ids('VISION-018', 'VISION-118', 'VISION-318'), ...FIELD, ...fieldOf('downloadUrl', 'an address') },
  { id: ids('VISION-019', 'VISION-119', 'VISION-319'), ...FIELD, section: '8', ...fieldOf('expiresAt', INSTANT) },
];

function elementVerdict(exchange: Exchange, field: string): Verdict {
  const { facts } = listFacts(exchange);
  const list = pathOf(exchange);
  if (facts.countOf(list) === 0) return noElements;
  if (
    field === 'durationSeconds' &&
    exchange.request.operation === 'listVideos' &&
    !facts.has(`${list}[].durationSeconds`)
  )
    return notApplicable('the field names of a clip are not fixed; the platform computes the duration');
  return passedUnless(facts.faultOf(`${list}[].${field}`) ?? strictFault(exchange, field));
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

const VALUE = { section: '2.6', severity: 'must', needs: [LISTED] } as const;
const LINK = { ...VALUE, section: '8' } as const;

/** The values of the elements whose fields are valid. */
export const VALUE_RULES: readonly ListRule[] = [
  {
    id: ids('VISION-021', 'VISION-121', 'VISION-321'),
    ...VALUE,
    title: 'every element ends after it starts',
    remedy: 'Send endTime after startTime.',
    check: onEveryPage(endsAfterStart),
  },
  {
    id: ids('VISION-022', 'VISION-122', 'VISION-322'),
    ...VALUE,
    title: 'durationSeconds is the time from startTime to endTime',
    remedy: 'Compute durationSeconds from the range; a difference of one second is accepted.',
    check: everyListed(({ startTime, endTime, durationSeconds }) => {
      const seconds = (epochMillis(endTime) - epochMillis(startTime)) / 1000;
      // A range that ends too early is the fault of another rule.
      return durationSeconds === undefined || seconds <= 0 || Math.abs(seconds - durationSeconds) <= 1
        ? undefined
        : `durationSeconds is ${durationSeconds}, the range has ${seconds}`;
    }),
  },
  {
    id: ids('VISION-023', 'VISION-123', 'VISION-323'),
    ...VALUE,
    section: QUERY,
    title: 'every element is of the requested customer',
    remedy: 'List the elements of the customerId of the request only, and return that customerId.',
    check: everyListed(({ customerId }, exchange) => differs('customerId', customerId, exchange)),
  },
  {
    id: ids('VISION-024', 'VISION-124', 'VISION-324'),
    ...LINK,
    title: 'the link of every element is valid now',
    remedy: 'Create a new link for each list, with an expiresAt in the future.',
    check: everyListed((element) => (leftMs(element) <= 0 ? 'expiresAt has passed' : undefined)),
  },
  {
    id: ids('VISION-025', 'VISION-125', 'VISION-325'),
    ...LINK,
    severity: 'should',
    title: 'the link of every element leaves an hour or more for the download',
    remedy: 'Let a link expire several hours after it was listed.',
    check: everyListed((element) => {
      const left = leftMs(element);
      return left <= 0 || left >= HOUR_MS ? undefined : `expires in ${Math.round(left / 60_000)} minutes`;
    }),
  },
];

/** Also of an element with another fault: the times alone are needed. */
function endsAfterStart(exchange: Exchange): Verdict {
  const elements = elementsOf(exchange);
  if (elements.length === 0) return noElements;
  for (const element of elements) {
    const [start, end] = ['startTime', 'endTime'].map((name) => instantOf(ownField(element, name)));
    if (start !== undefined && end !== undefined && end <= start)
      return failed(`element ${shown(ownField(element, 'id'))}: endTime is not after startTime`);
  }
  return passed;
}

const instantOf = (value: unknown): number | undefined => {
  const instant = typeof value === 'string' ? parseInstant(value) : undefined;
  return instant === undefined ? undefined : epochMillis(instant);
};

/** Milliseconds until the link expires. */
const leftMs = ({ expiresAt }: Recording): number =>
  expiresAt === undefined ? Infinity : epochMillis(expiresAt) - Date.now();
