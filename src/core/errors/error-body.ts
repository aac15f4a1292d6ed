import type { Application, Request } from 'express';
import { isDoubtfulText } from '../../contracts/common/json.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import { type ErrorKind, KIND_STATUS } from '../../contracts/common/api-contract.js';
import type { ErrorResponse } from '../../contracts/common/error-body.dto.js';
import { summarise, type Violation } from '../../contracts/common/violation.js';
import { operationOf } from '../../contracts/interfaces/operations.js';
import type { AppError } from './app-error.js';

/** Key of a setting of the Express application. */
const HELP = 'haulbridge help address';

/** Errors name the page about them: `<publicUrl>/docs/errors#CODE`. */
export function setHelpAddress(application: Application, publicUrl: string | undefined): void {
  if (publicUrl !== undefined) application.set(HELP, `${publicUrl.replace(/\/+$/, '')}/docs/errors`);
}

/** Undefined without `PUBLIC_URL`. */
export const helpAddressOf = ({ app }: Pick<Request, 'app'>): string | undefined => app.get(HELP) as string | undefined;

/** A parsed JSON body on its way from `@JsonBody()` to the validation pipe. */
export class ReceivedBody {
  /** Whether the text has to be checked by decision 8. */
  readonly isDoubtful: boolean;

  /** `reportIgnored` names the unknown fields in the response (decision 51). */
  constructor(
    readonly value: unknown,
    text: string,
    readonly reportIgnored: (() => void) | undefined,
  ) {
    this.isDoubtful = isDoubtfulText(text);
  }
}

/** Codes of paths outside the four interfaces: unknown paths, health, documents (decision 10). */
const FALLBACK: Partial<Record<ErrorKind, string>> = ADMIN_API.errors;

interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorResponse;
}

/**
 * The common error body (section 2.1), with the code of the contract that the path belongs to (section 7). `help` is the address
 * of the page about errors.
 */
export function errorReply(error: AppError, path: string, help?: string): ErrorReply {
  const operation = operationOf(path);
  const codes = operation?.api.errors ?? FALLBACK;
  const isPlain = operation?.route?.plainErrors === true;
  const code = codes[error.kind] ?? FALLBACK[error.kind] ?? 'INTERNAL_ERROR';
  const details = isPlain ? undefined : withHelp(error.details, code, help);
  return {
    status: KIND_STATUS[error.kind],
    headers: error.headers,
    body: {
      success: false,
      error: {
        code,
        message: isPlain ? wholeMessage(error) : error.message,
        ...(details === undefined ? {} : { details }),
      },
    },
  };
}

/** The anchor of the page is the reason, or else the code. */
function withHelp(details: AppError['details'], code: string, help: string | undefined): AppError['details'] {
  if (help === undefined) return details;
  const reason = details?.['reason'];
  return { ...details, help: `${help}#${typeof reason === 'string' ? reason : code}` };
}

/** Without details the message contains all violations (decision 11). */
function wholeMessage({ message, details }: AppError): string {
  const violations = details?.['violations'] as readonly Violation[] | undefined;
  return violations === undefined ? message : summarise(violations, violations.length);
}
