import type { Response } from 'express';
import { REPLAYED_HEADER } from '../contracts/common/idempotency.js';
import { isJsonObject } from '../contracts/common/json.js';
import { RESULT_HEADER } from '../contracts/scale/scale.dto.js';
import { AppError } from '../errors/app-error.js';
import { errorReply } from '../errors/error-body.js';

/** What the service decided about a call, whatever its caller received. */
export interface Outcome {
  /** 0 if nothing was decided. */
  readonly status: number;
  /** `Ticket-Result`. */
  readonly header: string | undefined;
  readonly isReplay: boolean;
  /** The answer that replaces the body of the response, if it was decided after the response. */
  readonly body?: unknown;
}

/** Node sends no head to a caller that has left, so the response alone does not say that the route has answered. */
export function outcomeOf({
  response,
  isAnswered,
}: {
  readonly response: Response;
  readonly isAnswered: boolean;
}): Outcome {
  const header = response.getHeader(RESULT_HEADER);
  return {
    status: isAnswered || response.headersSent ? response.statusCode : 0,
    header: header === undefined ? undefined : String(header),
    isReplay: response.getHeader(REPLAYED_HEADER) !== undefined,
  };
}

/** The outcome of work that ended after its caller had received 503: a result, an answer or an error. */
export function lateOutcome(ended: unknown, path: string, help: string | undefined): Outcome | undefined {
  if (ended instanceof Error) {
    if (!(ended instanceof AppError)) return undefined;
    const { status, body } = errorReply(ended, path, help);
    return { status, header: undefined, isReplay: false, body };
  }
  if (!isJsonObject(ended)) return undefined;
  const { status, headers, body } = ended;
  if (typeof status !== 'number' || !isJsonObject(headers)) {
    return { status: 200, header: undefined, isReplay: false, body: ended };
  }
  const header = headers[RESULT_HEADER];
  return {
    status,
    header: typeof header === 'string' ? header : undefined,
    isReplay: headers[REPLAYED_HEADER] !== undefined,
    body: typeof body === 'string' ? parsed(body) : body,
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}
