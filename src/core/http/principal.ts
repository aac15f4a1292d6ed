import type { Access } from '../config/access-rules.js';
import type { InterfaceName } from '../../contracts/common/interfaces.values.js';

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
}

/** The caller of a request that carried its key. */
export type KeyPrincipal = Principal & { readonly keyId: string };

/** A caller of the platform's own interfaces always belongs to a hauler. */
export type HaulerPrincipal = Principal & { readonly haulerId: string };

/** A person, as the identity provider names it. */
export interface Person {
  readonly subject: string;
  readonly name?: string;
  readonly email?: string;
}

/** A caller of the admin API: a token or a person. */
export interface AdminCaller extends Access {
  /** As the console shows it. */
  readonly name: string;
  /** As the action log names it. The tokens of old have one name each for direct calls and for the console. */
  readonly actor: string;
  /** ADMIN_READ_TOKEN: its refusals are 401, and it may check a connection. */
  readonly isReadToken?: true;
  readonly person?: Person;
}
