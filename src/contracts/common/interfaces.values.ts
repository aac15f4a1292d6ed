/** The four interfaces of the specification, and the scopes that an API key may carry (decision 2). */
export const INTERFACES = ['scale', 'account', 'site', 'vision'] as const;
export type InterfaceName = (typeof INTERFACES)[number];
