import { Injectable } from '@nestjs/common';
import type { DtoClass } from '../../contracts/common/fields/field.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { isJsonObject, ownField } from '../../contracts/common/json.js';
import { isStorableText } from '../../contracts/common/text.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';
import {
  type ContinuousQuery,
  type CreateVideoRequest,
  type ListVideosQuery,
  MAX_REQUEST_ID_LENGTH,
  Recording,
  Video,
  type VideoStatus,
} from '../../contracts/vision/vision.dto.js';
import type { PartnerAnswer } from '../../partner-client/partner-answer.js';
import { PartnerClient } from '../../partner-client/partner-client.js';
import {
  type Finding,
  knownStatus,
  limitMessage,
  type ListedPage,
  NotAListError,
  readList,
  RefusedListError,
} from './read-list.rules.js';
import type { VisionConnection } from './vision-connections.repository.js';

export interface VisionCall {
  readonly connection: VisionConnection;
  readonly signal: AbortSignal;
}

/** Calls a partner's Vision API (sections 4.4 to 4.6) and reads its responses leniently (decision 38). Throws `PartnerFailure`. */
@Injectable()
export class VisionClient {
  constructor(private readonly partners: PartnerClient) {}

  /** Sends exactly one POST. The caller counts the attempts (decision 41). */
  async requestVideo(request: CreateVideoRequest, { connection, signal }: VisionCall): Promise<Acknowledgement> {
    const answer = await this.partners.call(connection, {
      api: VISION_API,
      route: VISION_API.routes.requestVideo,
      body: { ...request, startTime: formatInstant(request.startTime), endTime: formatInstant(request.endTime) },
      // Some partners accept a request with 200 or 201.
      accept: [202, 200, 201],
      signal,
    });
    return readAcknowledgement(jsonOrUndefined(answer));
  }

  listVideos(query: ListVideosQuery, call: VisionCall): Promise<ListedPage<Video>> {
    return this.list(Video, VISION_API.routes.listVideos, query, call);
  }

  listContinuous(query: ContinuousQuery, call: VisionCall): Promise<ListedPage<Recording>> {
    return this.list(Recording, VISION_API.routes.listContinuous, query, call);
  }

  private async list<T extends Recording>(
    type: DtoClass<T>,
    route: (typeof VISION_API.routes)['listVideos' | 'listContinuous'],
    query: ListVideosQuery | ContinuousQuery,
    { connection, signal }: VisionCall,
  ): Promise<ListedPage<T>> {
    const { startTime, endTime, ...rest } = query;
    const answer = await this.partners.call(connection, {
      api: VISION_API,
      route,
      query: {
        ...rest,
        ...(startTime === undefined ? {} : { startTime: formatInstant(startTime) }),
        ...(endTime === undefined ? {} : { endTime: formatInstant(endTime) }),
      },
      signal,
    });
    const body = answer.json();
    try {
      return readList(type, body, query.customerId);
    } catch (error) {
      if (error instanceof RefusedListError) throw answer.refusal(body);
      if (error instanceof NotAListError) throw answer.breach([{ path: '', rule: 'isList', message: error.message }]);
      throw error;
    }
  }
}

/** A 202 accepts the request whatever its body is. A second POST would be a second request. */
function jsonOrUndefined(answer: PartnerAnswer): unknown {
  try {
    return answer.json();
  } catch {
    return undefined;
  }
}

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
