import type { InterfaceName } from '../contracts/common/interfaces.values.js';
import type { Reference } from '../contracts/common/references.js';
import type { KeptBody } from '../core/http/body-capture.js';

export type Direction = 'inbound' | 'outbound';

/**
 * Who caused an exchange (decision 58):
 * - `known`: a caller whose key or link was accepted, or this service itself.
 * - `unverified`: a caller with the form of a key, which could not be checked because the service was overloaded or its database away.
 * - `keyless`: any other caller.
 */
export type Standing = 'known' | 'unverified' | 'keyless';

/** Headers as Node has them. */
export type Headers = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** One exchange in memory. It may contain secrets, which are redacted before it is written. */
export interface ExchangeRecord {
  /** Contains the time at which the exchange began. */
  readonly id: string;
  readonly direction: Direction;
  readonly standing: Standing;
  /** Of the caller; empty for an outbound call. */
  readonly address: string;
  readonly interface: InterfaceName;
  /** The operation; null for an unknown path. */
  readonly route: string | null;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** The link of a download: every value of its query is secret. */
  readonly isLink?: boolean;
  readonly haulerId: string | null;
  readonly connectionId: string | null;
  readonly apiKeyId: string | null;
  readonly keyPrefix: string | null;
  readonly requestId: string | null;
  /** 0 without a response. */
  readonly status: number;
  readonly failure: string | undefined;
  readonly result?: string | undefined;
  readonly durationMs: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly scenario: string | undefined;
  /** The exchange that this one repeats. */
  readonly replayOf?: string | undefined;
  /** Paths of ignored fields, as in the response header. */
  readonly ignoredFields?: string | undefined;
  readonly requestHeaders: Headers;
  readonly requestBody: KeptBody | undefined;
  /** The parsed body or query, for references. */
  readonly input: unknown;
  readonly responseHeaders: Headers | undefined;
  readonly responseBody: KeptBody | undefined;
  /** The status of an answer that was decided and of which nothing was sent. */
  readonly decidedStatus?: number | undefined;
  /** The request body is stored as a revision of a ticket. */
  readonly inRevision: boolean;
  readonly references: readonly Reference[];
  /** Texts that are redacted wherever they occur. */
  readonly secrets: readonly string[];
}
