import type { Request } from 'express';
import type { AdminCaller } from './admin-caller.js';
import type { HaulerHold } from './hauler-hold.js';
import type { InterfaceName } from '../contracts/common/interfaces.values.js';

/** The caller, as its API key identifies it (decisions 1, 2, 17). */
export interface Principal {
  /** Null if an admin replays a push for a hauler that does not own the key of the push. */
  readonly keyId: string | null;
  /** The part of the key that lists and the log show. */
  readonly keyPrefix: string;
  readonly interfaces: ReadonlySet<InterfaceName>;
  /** The hauler that owns the key; a site key may have none. */
  readonly haulerId: string | null;
  /** On a key of a connection: the only one that the partner API shows. It opens no interface. */
  readonly connectionId: string | null;
  /** On a vision key: the only customer that may be read. */
  readonly customerId: string | null;
  /** Epoch milliseconds at which the key expires or its overlap with a successor ends; infinite for most keys. */
  readonly endsAt: number;
  /** Present while the hauler is not served here. */
  readonly hold?: HaulerHold;
}

/** The caller of a request that carried its key. */
export type KeyPrincipal = Principal & { readonly keyId: string };

/** A caller of the platform's own interfaces always belongs to a hauler. */
export type HaulerPrincipal = Principal & { readonly haulerId: string };

export interface AuthenticatedRequest extends ReplayedRequest {
  principal?: Principal;
  /** The caller of the admin API. */
  admin?: AdminCaller;
}

/**
 * Present if an admin repeats an earlier request, which then has no key. Only `InnerServer` sets it: a header could be
 * forged.
 */
export interface ReplayedRequest extends Request {
  replay?: {
    /** Id of the repeated exchange. */
    readonly of: string;
    readonly caller: Principal;
  };
}
