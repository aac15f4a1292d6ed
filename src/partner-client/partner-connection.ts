import type { InterfaceName } from '../contracts/common/api-contract.js';

export type PartnerInterface = Extract<InterfaceName, 'site' | 'vision'>;

/** The columns of a connection that a call needs. */
export interface PartnerConnection {
  readonly id: string;
  readonly haulerId: string;
  /** Without a final slash. The contract's prefix is appended to its path. */
  readonly baseUrl: string;
}
