import type { Request } from 'express';
import type { InterfaceName } from '../contracts/common/api-contract.js';

/** The caller, as its API key identifies it (decisions 1, 2, 17). */
export interface Principal {
  /** Null for a push that an admin replays for another hauler than that of its key. */
  readonly keyId: string | null;
  /** What lists show of the key, and the log. */
  readonly keyPrefix: string;
  readonly interfaces: ReadonlySet<InterfaceName>;
  /** The hauler that owns the key; a site key may have none. */
  readonly haulerId: string | null;
  /** On a vision key: the only customer that may be read. */
  readonly customerId: string | null;
  /** Epoch milliseconds at which the key expires; infinite for most. */
  readonly endsAt: number;
}

/** The caller of a request that carried its key. */
export type KeyPrincipal = Principal & { readonly keyId: string };

/** A caller of the platform's own interfaces always belongs to a hauler. */
export type HaulerPrincipal = Principal & { readonly haulerId: string };

export interface AuthenticatedRequest extends ReplayedRequest {
  principal?: Principal;
}

/** Present where an admin repeats an earlier request: it has no key. Only `InnerServer` sets it, so that no header can forge it. */
export interface ReplayedRequest extends Request {
  replay?: {
    /** Id of the repeated exchange. */
    readonly of: string;
    readonly caller: Principal;
  };
}
