import { isJsonObject, type JsonObject } from '../contracts/common/json.js';
import type { Reference, ReferenceKind } from '../contracts/common/references.js';
import { MAX_PARTNER_ID } from '../contracts/common/answer-limits.js';
import { isStorableText, isUuid } from '../contracts/common/text.js';

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
