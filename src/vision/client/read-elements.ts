import { hash } from 'node:crypto';
import { parseInstant, secondsBetween } from '../../contracts/common/instant.js';
import { isJsonObject, type JsonObject } from '../../contracts/common/json.js';
import { type DtoClass, readerOf } from '../../contracts/common/reader.js';
import { summarise, type Violation } from '../../contracts/common/violation.js';
import type { Recording } from '../../contracts/vision/vision.dto.js';
import type { Finding } from './finding.js';

/** Names, and texts that some partners send as numbers. */
const NAMES = ['id', 'customerId', 'truckId', 'cameraId', 'requestId'];

/** What the contract's field takes: a year. */
const LONGEST_SECONDS = 31_536_000;

export interface ReadElements<T> {
  readonly items: T[];
  readonly findings: Finding[];
}

/**
 * The elements of a partner's list, each for itself (decision 38): a malformed one is passed over and told, the others
 * are kept. What can be known without the partner is filled in: the customer who was asked for, and the duration.
 */
export function readElements<T extends Recording>(
  type: DtoClass<T>,
  elements: readonly unknown[],
  path: string,
  customerId: string,
): ReadElements<T> {
  const items: T[] = [];
  const findings: Finding[] = [];
  elements.forEach((raw, i) => {
    const place = `${path}[${i}]`;
    const violations: Violation[] = [];
    const element = isJsonObject(raw) ? completed(raw, customerId, place, findings) : raw;
    const item = readerOf(type)(element, place, violations);
    if (violations.length === 0 && item.endTime <= item.startTime) {
      violations.push({
        path: `${place}.endTime`,
        rule: 'isRange',
        message: `${place}.endTime must be after startTime`,
      });
    }
    const [first] = violations;
    if (first === undefined) {
      if (isJsonObject(raw) && !isDuration(raw['durationSeconds'])) item.durationSeconds = secondsOf(item);
      items.push(item);
    } else findings.push({ path: first.path, reason: summarise(violations), raw });
  });
  return { items, findings };
}

/** A number that may stand for several; `1.5` does not, and is read as it is shown. */
const isRounded = (value: unknown): boolean => typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;

/** A number that JSON's reader has rounded, or may have: it is another request's id. */
export const isInexact = (id: unknown): boolean => typeof id === 'number' && !Number.isSafeInteger(id);

export const inexact = (path: string, raw: unknown): Finding => ({
  path,
  reason: `${path} must be a string, or an integer of at most 2^53 - 1; it is taken as absent`,
  raw,
});

function completed(raw: JsonObject, customerId: string, place: string, findings: Finding[]): JsonObject {
  const element: Record<string, unknown> = { ...raw };
  if (isInexact(element['requestId'])) {
    element['requestId'] = undefined;
    findings.push(inexact(`${place}.requestId`, raw));
  }
  if (isRounded(element['customerId'])) {
    element['customerId'] = undefined;
    findings.push(inexact(`${place}.customerId`, raw));
  }
  if (isRounded(element['id'])) {
    // By these a recording without an id of its own is known (decision 48).
    element['id'] = digestOf(rangeOf(raw));
    findings.push(inexact(`${place}.id`, raw));
  }
  for (const name of NAMES) {
    const value = element[name];
    // The rest of them are refused where they are read: another truck's film would be taken for this one's.
    if (typeof value === 'number' && !isRounded(value)) element[name] = String(value);
  }
  element['customerId'] ??= customerId;
  // In its place until its times are read, from which it is reckoned.
  if (!isDuration(element['durationSeconds'])) element['durationSeconds'] = 0;
  const { expiresAt } = element;
  if (expiresAt != null && (typeof expiresAt !== 'string' || parseInstant(expiresAt) === undefined)) {
    element['expiresAt'] = undefined;
    findings.push({
      path: `${place}.expiresAt`,
      reason: `${place}.expiresAt must be a date-time; it is taken as absent`,
      raw,
    });
  }
  return element;
}

/** What an element shows. */
export const rangeOf = ({ truckId, cameraId, startTime, endTime }: JsonObject): unknown[] => [
  truckId,
  cameraId,
  startTime,
  endTime,
];

/** Of one length however long the element is: those of a whole list are held until it is read. */
export const digestOf = (value: unknown): string => hash('sha256', JSON.stringify(value), 'base64');

const isDuration = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LONGEST_SECONDS;

const secondsOf = ({ startTime, endTime }: Recording): number =>
  Math.min(secondsBetween(startTime, endTime), LONGEST_SECONDS);
