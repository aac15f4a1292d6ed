import type { Video } from '../../contracts/vision/vision.dto.js';
import type { PartnerFailure } from '../../partner-client/partner-failure.js';
import type { VisionConnection } from '../vision-connections.js';
import type { Part } from './parts.store.js';
import type { PollProgress } from './poll-schedule.js';

/** What a round has learnt of one part; `reason`: what the partner says of it, or why there is no clip. */
export type Learnt =
  | LearntClips
  | { readonly kind: 'failed'; readonly reason: string | undefined }
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'open'; readonly reason: string | undefined };

export interface LearntClips {
  /** `some` may not be all. */
  readonly kind: 'clips' | 'some';
  readonly clips: readonly Video[];
  readonly reason: string | undefined;
}

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

export const progressOf = ({ polls, submittedAt }: Part, now: Date): PollProgress => ({
  asked: polls,
  openMs: submittedAt === null ? 0 : now.getTime() - submittedAt.getTime(),
});
