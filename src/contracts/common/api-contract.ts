/** Every kind of failure of a request, with its HTTP status. */
export const KIND_STATUS = {
  invalid: 400,
  unauthorized: 401,
  notFound: 404,
  methodNotAllowed: 405,
  requestTimeout: 408,
  conflict: 409,
  gone: 410,
  tooLarge: 413,
  unsupportedMediaType: 415,
  rangeNotSatisfiable: 416,
  ruleViolated: 422,
  tooManyRequests: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorKind = keyof typeof KIND_STATUS;

const KINDS = Object.keys(KIND_STATUS) as ErrorKind[];

/** The kind of failure with this status; undefined if there is none. */
export function kindOf(status: number): ErrorKind | undefined {
  return KINDS.find((kind) => KIND_STATUS[kind] === status);
}

/** The four interfaces of the specification, and the scopes that an API key may carry (decision 2). */
export const INTERFACES = ['scale', 'account', 'site', 'vision'] as const;
export type InterfaceName = (typeof INTERFACES)[number];

/** Header of the key: `PLATFORM-API-KEY` for keys of the platform, `API-KEY` for keys of a partner (section 5). */
export type KeyHeader = 'PLATFORM-API-KEY' | 'API-KEY';

export interface ApiRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Its error schema has no `details` (section 2.1): the message names the fields (decision 11). */
  readonly plainErrors?: boolean;
}

/**
 * One interface on the wire: version, prefix, key header, and the closed set of `error.code` values
 * (section 7), each bound to the kinds of failure that may carry it.
 */
export interface ApiContract {
  readonly name: InterfaceName | 'admin' | 'partner';
  readonly title: string;
  readonly version: string;
  readonly prefix: string;
  readonly keyHeader: KeyHeader | 'Authorization';
  readonly routes: Readonly<Record<string, ApiRoute>>;
  readonly codes: readonly string[];
  readonly errors: Readonly<Partial<Record<ErrorKind, string>>>;
}

/** Declares a contract; the compiler refuses an error code that is not in the interface's closed set. */
export function defineApi<
  const Codes extends readonly string[],
  const Contract extends Omit<ApiContract, 'codes' | 'errors'> & {
    readonly codes: Codes;
    readonly errors: Readonly<Partial<Record<ErrorKind, Codes[number]>>>;
  },
>(contract: Contract & { readonly codes: Codes }): Contract {
  return contract;
}

/** The kinds of failure that a contract has a code for. */
export type KindOf<Contract extends ApiContract> = keyof Contract['errors'] & ErrorKind;

/** The codes of failures that no interface defines, the same in every interface (decisions 10, 13, 15). */
export const COMMON_ERRORS = {
  invalid: 'INVALID_PAYLOAD',
  unauthorized: 'UNAUTHORIZED',
  methodNotAllowed: 'INVALID_PAYLOAD',
  requestTimeout: 'INVALID_PAYLOAD',
  tooLarge: 'INVALID_PAYLOAD',
  unsupportedMediaType: 'INVALID_PAYLOAD',
  tooManyRequests: 'INTERNAL_ERROR',
  internal: 'INTERNAL_ERROR',
  unavailable: 'INTERNAL_ERROR',
} as const;
