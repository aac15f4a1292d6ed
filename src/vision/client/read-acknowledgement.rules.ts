import { isJsonObject } from '../../contracts/common/json.js';
import { isStorableText } from '../../contracts/common/text.js';
import { MAX_REQUEST_ID_LENGTH, type VideoStatus } from '../../contracts/vision/vision.dto.js';
import { ownField } from '../../partner-client/own-field.js';
import { type Finding, knownStatus, limitMessage } from './read-list.rules.js';

/** The 202 of a video request (section 2.5a), as far as it could be read. */
export interface Acknowledgement {
  /** Absent where the partner sent none. Its clips are then recognised by truck, camera and range. */
  readonly requestId?: string;
  readonly status: VideoStatus;
  readonly message?: string;
  readonly findings: readonly Finding[];
}

/** `success: false` means that the partner refused the request, so its status is `failed`. */
export function readAcknowledgement(body: unknown): Acknowledgement {
  const findings: Finding[] = [];
  if (!isJsonObject(body)) {
    findings.push({ path: '', reason: 'the body of the 202 must be an object', raw: body });
    return { status: 'processing', findings };
  }
  // Some partners wrap every response in `data`.
  const inner = body['requestId'] === undefined && isJsonObject(body['data']) ? body['data'] : body;
  const { requestId, message } = inner;
  const hasId = Number.isSafeInteger(requestId) || isRequestId(requestId);
  const isRefused = body['success'] === false;
  if (!hasId && !isRefused) {
    const reason = `requestId must be an id of at most ${MAX_REQUEST_ID_LENGTH} characters, without U+0000, or an integer of at most 2^53 - 1`;
    findings.push({ path: 'requestId', reason, raw: body });
  }
  const text = typeof message === 'string' ? message : errorText(body['error']);
  const status = isRefused ? 'failed' : knownStatus(inner['status'], 'status', findings);
  return {
    ...(hasId ? { requestId: String(requestId) } : {}),
    status,
    ...(text === undefined ? {} : { message: limitMessage(text) }),
    findings,
  };
}

/** The id must be storable without a change, because the polls send it back. */
const isRequestId = (id: unknown): boolean =>
  typeof id === 'string' && id !== '' && id.length <= MAX_REQUEST_ID_LENGTH && isStorableText(id);

/** `INTERNAL_ERROR: no room`, where the common error body came with a 2xx status (section 2.1). */
function errorText(error: unknown): string | undefined {
  const texts = [ownField(error, 'code'), ownField(error, 'message')].filter((text) => typeof text === 'string');
  return texts.length === 0 ? undefined : texts.join(': ');
}
