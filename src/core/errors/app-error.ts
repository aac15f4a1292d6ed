import type { ErrorReason } from '../../contracts/common/error-help.js';
import type { ApiContract, ErrorKind, KindOf } from '../../contracts/common/api-contract.js';
import { summarise, type Violation } from '../../contracts/common/violation.js';

export interface AppErrorOptions {
  readonly details?: Readonly<Record<string, unknown>> & { readonly reason?: ErrorReason };
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
  readonly overload?: Overload | undefined;
}

/** The limits that an instance may reach, as the metrics name them. */
export const OVERLOADS = ['tickets', 'accounts', 'bodies', 'admin-reads', 'connections'] as const;
export type Overload = (typeof OVERLOADS)[number];

/**
 * An expected failure. The filter translates its kind into the status and into the code of the contract that the route
 * belongs to.
 */
export class AppError extends Error {
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly overload: Overload | undefined;

  constructor(
    readonly kind: ErrorKind,
    message: string,
    options: AppErrorOptions = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'AppError';
    this.details = options.details;
    this.headers = options.headers ?? {};
    this.overload = options.overload;
  }
}

/** An error of one interface. Only kinds for which its contract has a code compile (section 7's closed sets). */
export function apiError<C extends ApiContract>(
  _api: C,
  kind: KindOf<C>,
  message: string,
  options?: AppErrorOptions,
): AppError {
  return new AppError(kind, message, options);
}

/** 409 or 422 with every violation at once (decision 11); a 400 is `invalid` on any route. */
export function violated<C extends ApiContract>(
  api: C,
  kind: Exclude<KindOf<C>, 'invalid'>,
  violations: readonly Violation[],
  options: AppErrorOptions = {},
): AppError {
  return apiError(api, kind, summarise(violations), { ...options, details: { ...options.details, violations } });
}

/** 400 on any route, with every violation at once. */
export function invalid(violations: readonly Violation[], details: AppErrorOptions['details'] = {}): AppError {
  return new AppError('invalid', summarise(violations), { details: { violations, ...details } });
}

/** The 500 of decision 13. Its cause is logged under the id of the request. */
export const unexpected = (requestId: unknown): AppError =>
  new AppError('internal', 'An unexpected error happened; it has been logged under the request id', {
    details: { requestId },
  });

/** 503 with `Retry-After` (decision 13). */
export function unavailable(
  message: string,
  {
    cause,
    retryAfterSeconds = 1,
    overload,
  }: Omit<AppErrorOptions, 'details' | 'headers'> & { readonly retryAfterSeconds?: number } = {},
): AppError {
  return new AppError('unavailable', message, {
    cause,
    overload,
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });
}

/** Rejects with `unavailable` when `work` takes longer than `timeoutMs`. */
export function withTimeout<T>(work: Promise<T>, timeoutMs: number, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(unavailable(message)), timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
