import type { InterfaceName } from '../contracts/common/api-contract.js';

export type PartnerInterface = Extract<InterfaceName, 'site' | 'vision'>;

/** What a call needs to know of a connection; its rows have it, and so may a room's own joined query. */
export interface PartnerConnection {
  readonly id: string;
  readonly haulerId: string;
  /** Without a final slash; a path in it stands before the contract's own prefix. */
  readonly baseUrl: string;
}
