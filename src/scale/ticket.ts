import type { Instant } from '../contracts/common/instant.js';
import type { TicketResult } from '../contracts/scale/ticket-result.js';

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

/**
 * Materials and custom fields, which are replaced as a set (decision 21), as JSON text in a canonical form: the same
 * text is the same contents.
 */
export interface Contents {
  readonly materials: string;
  readonly customFields: string | null;
}

/** One request, normalised. */
export interface Push {
  /** A new UUID: the ticket's, if this push creates one. */
  readonly id: string;
  readonly haulerId: string;
  /** The partner's id of the site. */
  readonly siteId: string;
  readonly receivedAt: Instant;
  readonly flows: Flows;
  readonly contents: Contents;
  /** The request's body as it was sent. */
  readonly body: string;
}

/** A disposal ticket as it is stored. */
export interface Ticket {
  readonly id: string;
  readonly haulerId: string;
  readonly siteId: string;
  /** Number of the last kept push. */
  readonly revision: number;
  /** Version of the push that the contents come from; null where it had no flow. */
  readonly version: Instant | null;
  readonly flows: Flows;
  readonly contents: Contents;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** One kept push (decision 23). */
export interface Revision {
  readonly haulerId: string;
  readonly ticketId: string;
  readonly revision: number;
  readonly receivedAt: Instant;
  readonly result: TicketResult;
  readonly body: string;
}
