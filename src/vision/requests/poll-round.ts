import type { Video } from '../../contracts/vision/vision.dto.js';
import type { PartnerFailure } from '../../partner-client/partner-failure.js';
import type { VisionConnection } from '../vision-connections.js';
import type { Part } from './parts.store.js';

/** What a round has learnt of one part. */
export type Learnt =
  | { readonly kind: 'clips'; readonly clips: readonly Video[]; readonly message?: string }
  /** Clips of a request that the partner still prepares; `reason`: what it says of it. */
  | { readonly kind: 'some'; readonly clips: readonly Video[]; readonly reason?: string }
  | { readonly kind: 'failed'; readonly message?: string }
  | { readonly kind: 'unknown'; readonly reason: string }
  /** `reason`: why there is no clip, where the part was asked for by its own id. */
  | { readonly kind: 'open'; readonly reason?: string };

export interface Round {
  readonly learnt: ReadonlyMap<Part, Learnt>;
  /** Parts that were asked about in any way; the others are as due as before. */
  readonly asked: ReadonlySet<Part>;
  /** Parts that were asked for by their own id. */
  readonly alone: ReadonlySet<Part>;
  /** Of the customer's list: where the next round goes on. */
  readonly nextPage: number;
  /** Why not everything was asked. What is learnt counts all the same. */
  readonly failure: PartnerFailure | undefined;
}

export interface Asking {
  readonly connection: VisionConnection;
  readonly signal: AbortSignal;
  readonly page: number;
  /** The database's. */
  readonly now: Date;
  /** The last round failed. */
  readonly again: boolean;
}

/** What the customer's list has brought. */
export type Listed = Pick<Round, 'learnt' | 'nextPage' | 'failure'> & {
  /** How many were answered. */
  readonly pages: number;
};

/** For one page. */
export const PAGE_SIZE = 100;
