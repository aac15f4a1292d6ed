import type { FieldChange } from '../contracts/admin/history.dto.js';
import { type Instant, instantOf } from '../contracts/common/instant.js';
import type { CreateScaleTicketRequest, MaterialItem, TicketResult } from '../contracts/scale/scale.api.js';
import { timeOfUuidv7, uuidv7 } from '../core/database/uuid.js';

/** The two flows of a ticket (section 2.2). */
export const DIRECTIONS = ['inbound', 'outbound'] as const;
export type Direction = (typeof DIRECTIONS)[number];

export interface Flow {
  readonly ticketNumber: string;
  readonly updatedAt: Instant;
}

export interface Flows {
  readonly inbound?: Flow | undefined;
  readonly outbound?: Flow | undefined;
}

/** Materials and custom fields, which are replaced as a set (decision 21), as canonical JSON: equal contents are equal text. */
export interface Contents {
  readonly materials: string;
  readonly customFields: string | null;
}

/** Where a push came from. `exchangeId` is null where exchanges are not recorded. */
export interface PushOrigin {
  readonly exchangeId: string | null;
  readonly apiKeyId: string | null;
  readonly requestId: string | null;
}

export const NO_ORIGIN: PushOrigin = { exchangeId: null, apiKeyId: null, requestId: null };

/** One request, normalised. */
export interface Push {
  /** A new UUID. It becomes the ticket's id if this push creates a ticket. */
  readonly id: string;
  readonly haulerId: string;
  /** The partner's id of the site. */
  readonly siteId: string;
  /** The partner's ids of the materials, in the order of the request. */
  readonly materialIds: readonly string[];
  readonly receivedAt: Instant;
  readonly flows: Flows;
  readonly contents: Contents;
  /** The body of the request as it was received. */
  readonly body: string;
  readonly origin: PushOrigin;
}

/** A disposal ticket as it is stored. */
export interface Ticket {
  readonly id: string;
  readonly haulerId: string;
  readonly siteId: string;
  /** Number of the last kept push, from 1. */
  readonly revision: number;
  /** Version of the push that the contents come from; null if it had no flow. */
  readonly version: Instant | null;
  readonly flows: Flows;
  readonly contents: Contents;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** What a push changed, as its revision has it. */
export interface TicketChanges {
  readonly changes: readonly FieldChange[];
  /** Changes beyond `MAX_CHANGES`. */
  readonly moreChanges?: number;
}

/** One kept push (decision 23). */
export interface Revision {
  readonly haulerId: string;
  readonly ticketId: string;
  readonly revision: number;
  readonly receivedAt: Instant;
  readonly result: TicketResult;
  readonly body: string;
  readonly origin: PushOrigin;
  /** Null for the push that created the ticket: there was nothing before. */
  readonly changes: TicketChanges | null;
}

/** The normalised form of a request that is received now; `body` is its text. */
export function toPush(
  request: CreateScaleTicketRequest,
  haulerId: string,
  body: string,
  origin: PushOrigin = NO_ORIGIN,
): Push {
  const id = uuidv7();
  return {
    id,
    haulerId,
    siteId: request.siteId,
    materialIds: request.materials.map((material) => material.id),
    // The same millisecond as in the id, by which lists are sorted and filtered.
    receivedAt: instantOf(new Date(timeOfUuidv7(id))),
    flows: { inbound: request.inboundFlow, outbound: request.outboundFlow },
    contents: {
      materials: `[${request.materials.map(materialJson).join(',')}]`,
      customFields: request.customFields === undefined ? null : sortedMapJson(request.customFields),
    },
    body,
    origin,
  };
}

/** Fields in the order of section 2.2. An absent field stays absent. */
function materialJson({ id, name, quantity, unitPriceCents, unitOfMeasure }: MaterialItem): string {
  const price = unitPriceCents === undefined ? '' : `,"unitPriceCents":${numberJson(unitPriceCents)}`;
  return `{"id":"${id}","name":${JSON.stringify(name)},"quantity":${numberJson(quantity)}${price},"unitOfMeasure":"${unitOfMeasure}"}`;
}

/** The shortest text that reads as the same double (decision 25). `JSON.stringify` would lose the sign of -0. */
function numberJson(number: number): string {
  return Object.is(number, -0) ? '-0' : String(number);
}

/** Sorted by name, because the order of a map's entries has no meaning. A name may be anything, even `__proto__`. */
function sortedMapJson(map: Record<string, string>): string {
  const names = Object.keys(map).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(map[name])}`).join(',')}}`;
}
