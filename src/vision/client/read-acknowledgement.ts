import { isJsonObject } from '../../contracts/common/json.js';
import { isStorableText } from '../../contracts/common/text.js';
import { LONGEST_REQUEST_ID, type VideoStatus } from '../../contracts/vision/vision.dto.js';
import { ownField } from '../../partner-client/own-field.js';
import type { Finding } from './finding.js';
import { knownStatus, shownMessage } from './read-list.js';

/** The 202 of a video request (section 2.5a), as far as it could be read. */
export interface Acknowledgement {
  /** Absent where the partner sent none: then its clips are recognised by truck, camera and range. */
  readonly requestId?: string;
  readonly status: VideoStatus;
  readonly message?: string;
  readonly findings: readonly Finding[];
}

/** It is sent again as it is, so that nothing may be taken out of it. */
const isId = (id: unknown): boolean =>
  typeof id === 'string' && id !== '' && id.length <= LONGEST_REQUEST_ID && isStorableText(id);

/** `success: false` is a refusal: the request failed, says the partner. */
export function readAcknowledgement(body: unknown): Acknowledgement {
  const findings: Finding[] = [];
  if (!isJsonObject(body)) {
    findings.push({ path: '', reason: 'the body of the 202 must be an object', raw: body });
    return { status: 'processing', findings };
  }
  // Some partners wrap every answer in `data`.
  const inner = body['requestId'] === undefined && isJsonObject(body['data']) ? body['data'] : body;
  const { requestId, message } = inner;
  const named = Number.isSafeInteger(requestId) || isId(requestId);
  const isRefused = body['success'] === false;
  // An error has none.
  if (!named && !isRefused)
    findings.push({
      path: 'requestId',
      reason: `requestId must be an id of at most ${LONGEST_REQUEST_ID} characters, without U+0000, or an integer of at most 2^53 - 1`,
      raw: body,
    });
  const said = typeof message === 'string' ? message : errorText(body['error']);
  const status = isRefused ? 'failed' : knownStatus(inner['status'], 'status', findings);
  return {
    ...(named ? { requestId: String(requestId) } : {}),
    status,
    ...(said === undefined ? {} : { message: shownMessage(said) }),
    findings,
  };
}

/** `INTERNAL_ERROR: no room`, where the common error body came with a status that accepts (section 2.1). */
function errorText(error: unknown): string | undefined {
  const said = [ownField(error, 'code'), ownField(error, 'message')].filter((text) => typeof text === 'string');
  return said.length === 0 ? undefined : said.join(': ');
}
