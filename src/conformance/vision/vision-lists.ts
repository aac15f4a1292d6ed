import { epochMillis, parseInstant } from '../../contracts/common/instant.js';
import { isJsonObject, ownField } from '../../contracts/common/json.js';
import type { Recording } from '../../contracts/vision/vision.dto.js';
import { declaredAsJson, inJson, member, shown, smallEnough, TRUE } from '../checks.js';
import type { Exchange } from '../exchange.js';
import { failed, notApplicable, passed, passedUnless, type Verdict } from '../rule.js';
import { differs, everyListed, noElements, onEveryPage } from './element-checks.js';
import { ANSWER, LISTED, type ListRule, QUERY } from './list-rule.js';
import { elementsOf, listFacts, listOf } from './vision-facts.js';

/** Rules of an answer of `GET /videos` or `GET /videos/continuous`: its envelope and its elements. */

const HOUR_MS = 3_600_000;

/** The rule that the answer is JSON. */
const IS_JSON = { videos: 'VISION-003', continuous: 'VISION-103', clip: 'VISION-303' } as const;

/** The rule of the status precedes these; each list has its own. */
export const ENVELOPE_RULES: readonly ListRule[] = [
  {
    id: { videos: 'VISION-020', continuous: 'VISION-120', clip: 'VISION-320' },
    section: '8',
    severity: 'must',
    ...smallEnough((exchange) => {
      const { name, elements } = listOf(exchange) ?? { name: '', elements: [] };
      return [[`data.${name}`, elements]];
    }),
  },
  {
    id: { videos: 'VISION-002', continuous: 'VISION-102', clip: 'VISION-302' },
    section: '4',
    severity: 'must',
    ...declaredAsJson('the list'),
  },
  {
    id: { videos: 'VISION-003', continuous: 'VISION-103', clip: 'VISION-303' },
    section: '4',
    severity: 'must',
    ...inJson('the list'),
  },
  {
    id: { videos: 'VISION-004', continuous: 'VISION-104', clip: 'VISION-304' },
    section: ANSWER,
    severity: 'must',
    needs: [IS_JSON],
    ...member('success', TRUE),
  },
  {
    id: { videos: 'VISION-005', continuous: 'VISION-105', clip: 'VISION-305' },
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

export const ELEMENT_RULES: readonly ListRule[] = [
  {
    id: { videos: 'VISION-011', continuous: 'VISION-111', clip: 'VISION-311' },
    section: ANSWER,
    severity: 'must',
    needs: [LISTED],
    ...fieldOf('id', 'text of 1 to 255 characters'),
  },
  {
    id: { videos: 'VISION-012', continuous: 'VISION-112', clip: 'VISION-312' },
    section: ANSWER,
    severity: 'must',
    needs: [LISTED],
    ...fieldOf('customerId', 'text of 1 to 255 characters'),
  },
  {
    id: { videos: 'VISION-013', continuous: 'VISION-113', clip: 'VISION-313' },
    section: ANSWER,
    severity: 'must',
    needs: [LISTED],
    ...fieldOf('truckId', 'text of 1 to 255 characters'),
  },
  {
    id: { videos: 'VISION-014', continuous: 'VISION-114', clip: 'VISION-314' },
    section: ANSWER,
    severity: 'must',
    needs: [LISTED],
    ...fieldOf('cameraId', 'text of 1 to 255 characters'),
  },
  {
    id: { videos: 'VISION-015', continuous: 'VISION-115', clip: 'VISION-315' },
    section: ANSWER,
    severity: 'must',
    needs: [LISTED],
    ...fieldOf('startTime', 'an ISO 8601 date-time with an offset'),
  },
  {
    id: { videos: 'VISION-016', continuous: 'VISION-116', clip: 'VISION-316' },
    section: ANSWER,
    severity: 'must',
    needs: [LISTED],
    ...fieldOf('endTime', 'an ISO 8601 date-time with an offset'),
  },
  {
    id: { videos: 'VISION-017', continuous: 'VISION-117', clip: 'VISION-317' },
    section: ANSWER,
    severity: 'must',
    needs: [LISTED],
    ...fieldOf('durationSeconds', 'a whole number of seconds'),
  },
  {
    id: { videos: 'VISION-018', continuous: 'VISION-118', clip: 'VISION-318' },
    section: ANSWER,
    severity: 'must',
    needs: [LISTED],
    ...fieldOf('downloadUrl', 'an address'),
  },
  {
    id: { videos: 'VISION-019', continuous: 'VISION-119', clip: 'VISION-319' },
    section: '8',
    severity: 'must',
    needs: [LISTED],
    ...fieldOf('expiresAt', 'an ISO 8601 date-time with an offset'),
  },
];

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

/** The values of the elements whose fields are valid. */
export const VALUE_RULES: readonly ListRule[] = [
  {
    id: { videos: 'VISION-021', continuous: 'VISION-121', clip: 'VISION-321' },
    section: '2.6',
    severity: 'must',
    needs: [LISTED],
    title: 'every element ends after it starts',
    remedy: 'Send endTime after startTime.',
    check: onEveryPage(endsAfterStart),
  },
  {
    id: { videos: 'VISION-022', continuous: 'VISION-122', clip: 'VISION-322' },
    section: '2.6',
    severity: 'must',
    needs: [LISTED],
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
    id: { videos: 'VISION-023', continuous: 'VISION-123', clip: 'VISION-323' },
    section: QUERY,
    severity: 'must',
    needs: [LISTED],
    title: 'every element is of the requested customer',
    remedy: 'List the elements of the customerId of the request only, and return that customerId.',
    check: everyListed(({ customerId }, exchange) => differs('customerId', customerId, exchange)),
  },
  {
    id: { videos: 'VISION-024', continuous: 'VISION-124', clip: 'VISION-324' },
    section: '8',
    severity: 'must',
    needs: [LISTED],
    title: 'the link of every element is valid now',
    remedy: 'Create a new link for each list, with an expiresAt in the future.',
    check: everyListed((element) => (leftMs(element) <= 0 ? 'expiresAt has passed' : undefined)),
  },
  {
    id: { videos: 'VISION-025', continuous: 'VISION-125', clip: 'VISION-325' },
    section: '8',
    severity: 'should',
    needs: [LISTED],
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
