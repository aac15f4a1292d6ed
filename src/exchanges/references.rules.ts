import { hash } from 'node:crypto';
import { parseReference, type Reference, type ReferenceKind } from '../contracts/common/references.js';
import { isJsonObject, type JsonObject } from '../contracts/common/json.js';
import { MAX_PARTNER_ID } from '../contracts/common/answer-limits.js';
import { isStorableText, isUuid } from '../contracts/common/text.js';

/** Names that many haulers give to different things. */
const SHARED_KINDS: ReadonlySet<ReferenceKind> = new Set(['truckId', 'cameraId']);

const SCOPED = '@';

/**
 * The elements of `exchanges.refs`: `kind:value`. A name that haulers share has a further element with the hauler, so that the index
 * finds the few of one hauler among the many of the others.
 */
export function storedReferences(haulerId: string | null, references: readonly Reference[]): string[] {
  const elements = references.map(elementOf);
  if (haulerId === null) return elements;
  const shared = references.filter(({ kind }) => SHARED_KINDS.has(kind));
  return [...elements, ...shared.map((reference) => scopedElement(haulerId, reference))];
}

/** The element by which exchanges are found, of one hauler or of all. */
export const soughtElement = (reference: Reference, haulerId: string | undefined): string =>
  haulerId !== undefined && SHARED_KINDS.has(reference.kind)
    ? scopedElement(haulerId, reference)
    : elementOf(reference);

/** The references as a caller sees them. */
export const shownReferences = (elements: readonly string[] | null): Reference[] =>
  (elements ?? []).flatMap((element) => (element.startsWith(SCOPED) ? [] : (parseReference(element) ?? [])));

/** PostgreSQL indexes no value of more than 2,704 bytes. */
const MAX_LENGTH = 512;
const MAX_SHOWN = 400;

const elementOf = ({ kind, value }: Reference): string =>
  `${kind}:${value.length <= MAX_LENGTH ? value : `${value.slice(0, MAX_SHOWN).toWellFormed()}… ${hash('sha256', value)}`}`;

const scopedElement = (haulerId: string, reference: Reference): string =>
  `${SCOPED}${haulerId}:${elementOf(reference)}`;

/** Further values of one exchange are not indexed. A page of recordings names some hundred. */
const MAX_REFERENCES = 200;
const MAX_MATERIALS = 20;

/** The values of a request and of its response by which the exchange is found. Each is listed once. */
export function referencesOf(input: unknown, output: unknown, others: readonly Reference[]): Reference[] {
  const found: Reference[] = [];
  const add = (kind: ReferenceKind, value: unknown): void => {
    if (typeof value !== 'string' || value === '' || value.length > MAX_PARTNER_ID || !isStorableText(value)) return;
    if (found.length >= MAX_REFERENCES) return;
    // Ids that are uuids have one spelling.
    const lower = value.toLowerCase();
    const text = lower !== value && isUuid(value) ? lower : value;
    if (!found.some((other) => other.value === text && other.kind === kind)) found.push({ kind, value: text });
  };
  for (const { kind, value } of others) add(kind, value);
  if (isJsonObject(input)) addRequest(input, add);
  if (isJsonObject(output)) addResponse(output, add);
  return found;
}

type Add = (kind: ReferenceKind, value: unknown) => void;

function addRequest(input: JsonObject, add: Add): void {
  add('siteId', input['siteId']);
  add('truckId', input['truckId']);
  add('cameraId', input['cameraId']);
  add('partnerRequestId', input['requestId']);
  add('accountName', input['accountName']);
  for (const flow of [input['inboundFlow'], input['outboundFlow']]) {
    if (isJsonObject(flow)) add('ticketNumber', flow['ticketNumber']);
  }
  for (const material of arrayIn(input['materials']).slice(0, MAX_MATERIALS)) {
    if (isJsonObject(material)) add('materialId', material['id']);
  }
}

function addResponse(output: JsonObject, add: Add): void {
  add('ticketId', output['disposalTicketId']);
  add('partnerRequestId', output['requestId']);
  add('accountId', output['accountId']);
  const { data, error } = output;
  if (isJsonObject(error) && isJsonObject(error['details'])) add('accountId', error['details']['accountId']);
  if (!isJsonObject(data)) return;
  add('accountId', data['accountId']);
  add('partnerRequestId', data['requestId']);
  for (const list of ['videos', 'recordings', 'items']) {
    for (const element of arrayIn(data[list])) {
      if (!isJsonObject(element)) continue;
      add('partnerRecordingId', element['id']);
      add('partnerRequestId', element['requestId']);
      add('truckId', element['truckId']);
      add('cameraId', element['cameraId']);
    }
  }
}

const arrayIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
