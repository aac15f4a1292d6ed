import { type ApiContract, type ErrorKind, KIND_STATUS } from '../contracts/common/api-contract.js';
import { ACCOUNT_API } from '../contracts/account/account.api.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { SCALE_API } from '../contracts/scale/scale.api.js';
import { SITE_API } from '../contracts/site/site.api.js';
import { VISION_API } from '../contracts/vision/vision.api.js';
import type { ErrorResponse } from '../contracts/common/error-body.dto.js';
import { withoutFinalSlashes } from '../contracts/common/text.js';
import { summarise, type Violation } from '../contracts/common/violation.js';
import type { AppError } from './app-error.js';

const CONTRACTS: readonly ApiContract[] = [SCALE_API, ACCOUNT_API, SITE_API, VISION_API, ADMIN_API];

/** Codes of paths that belong to no contract: unknown paths, health, documents (decision 10). */
const FALLBACK: Partial<Record<ErrorKind, string>> = ADMIN_API.errors;

/** Express ignores the case and final slashes of a path, so this lookup does too. */
function normalise(path: string): string {
  return withoutFinalSlashes(path.toLowerCase());
}

const byPath = new Map(
  CONTRACTS.flatMap((api) =>
    Object.values(api.routes).map((route) => [normalise(api.prefix + route.path), { api, route }] as const),
  ),
);

export interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorResponse;
}

/** The common error body (section 2.1), with the code of the contract that the path belongs to (section 7). */
export function errorReply(error: AppError, path: string): ErrorReply {
  const found = byPath.get(normalise(path));
  const codes = found?.api.errors ?? FALLBACK;
  const isPlain = found?.route.plainErrors === true;
  const details = isPlain ? undefined : error.details;
  return {
    status: KIND_STATUS[error.kind],
    headers: error.headers,
    body: {
      success: false,
      error: {
        code: codes[error.kind] ?? FALLBACK[error.kind] ?? 'INTERNAL_ERROR',
        message: isPlain ? wholeMessage(error) : error.message,
        ...(details === undefined ? {} : { details }),
      },
    },
  };
}

/** Without details the message contains all violations (decision 11). */
function wholeMessage({ message, details }: AppError): string {
  const violations = details?.['violations'] as readonly Violation[] | undefined;
  return violations === undefined ? message : summarise(violations, violations.length);
}
