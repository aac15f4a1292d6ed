import { Injectable } from '@nestjs/common';
import { formatInstant } from '../../contracts/common/instant.js';
import { isJsonObject, ownField } from '../../contracts/common/json.js';
import { isBlank, isStorableText } from '../../contracts/common/text.js';
import type { Violation } from '../../contracts/common/violation.js';
import {
  type ContinuousQuery,
  type CreateVideoRequest,
  type ListVideosQuery,
  MAX_REQUEST_ID_LENGTH,
  Recording,
  Video,
  type VideoStatus,
  VISION_API,
} from '../../contracts/vision/vision.api.js';
import type { PartnerAnswer } from '../../partner-client/partner-answer.js';
import { PartnerClient } from '../../partner-client/partner-client.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import {
  ELEMENT_LISTS,
  EMPTY_PAGE,
  type Finding,
  knownStatus,
  limitMessage,
  type ListedPage,
  ListReader,
  NotAListError,
  RefusedListError,
} from './read-list.rules.js';
import type { VisionConnection } from './vision-connections.repository.js';

export interface VisionCall {
  readonly connection: VisionConnection;
  readonly signal: AbortSignal;
}

/** Receives elements of a page. */
type OnItems<T> = (items: readonly T[]) => void | Promise<void>;

/** Elements that are in memory at once, at most some 10 MB of texts. */
const ITEMS_PER_PART = 500;

/** Calls a partner's Vision API (sections 4.4 to 4.6) and reads its responses leniently (decision 38). Throws `PartnerFailure`. */
@Injectable()
export class VisionClient {
  constructor(private readonly partners: PartnerClient) {}

  /**
   * Sends exactly one POST. The caller counts the attempts (decision 41). An answer of 2xx that is no acknowledgement, such as
   * the page of a gateway, is a `PartnerFailure` of kind `notJson` or `breach`.
   */
  async requestVideo(
    request: CreateVideoRequest,
    { connection, signal, idempotencyKey }: VisionCall & { readonly idempotencyKey: string },
  ): Promise<Acknowledgement> {
    const call = {
      api: VISION_API,
      route: VISION_API.routes.requestVideo,
      body: { ...request, startTime: formatInstant(request.startTime), endTime: formatInstant(request.endTime) },
      // Some partners accept a request with 200 or 201.
      accept: [202, 200, 201],
      idempotencyKey,
      signal,
    };
    return this.partners.stream(connection, call, async (answer) => {
      const acknowledgement = readAcknowledgement(await answer.json());
      if (acknowledgement === undefined) throw answer.breach([NO_ACKNOWLEDGEMENT]);
      return acknowledgement;
    });
  }

  /** One page, of any size in constant memory: `onItems` receives its elements in parts, after a broken connection again. */
  listVideos(query: ListVideosQuery, call: VisionCall, onItems: OnItems<Video>): Promise<ListedPage> {
    const reader = () => new ListReader(Video, query.customerId);
    return this.list(reader, VISION_API.routes.listVideos, query, call, onItems);
  }

  /** As `listVideos`. */
  listContinuous(query: ContinuousQuery, call: VisionCall, onItems: OnItems<Recording>): Promise<ListedPage> {
    const reader = () => new ListReader(Recording, query.customerId);
    return this.list(reader, VISION_API.routes.listContinuous, query, call, onItems);
  }

  private list<T extends Recording>(
    reader: () => ListReader<T>,
    route: (typeof VISION_API.routes)['listVideos' | 'listContinuous'],
    query: ListVideosQuery | ContinuousQuery,
    { connection, signal }: VisionCall,
    onItems: OnItems<T>,
  ): Promise<ListedPage> {
    const { startTime, endTime, ...rest } = query;
    const call = {
      api: VISION_API,
      route,
      query: {
        ...rest,
        ...(startTime === undefined ? {} : { startTime: formatInstant(startTime) }),
        ...(endTime === undefined ? {} : { endTime: formatInstant(endTime) }),
      },
      accept: [200, 204],
      signal,
    };
    return this.partners.stream(connection, call, (answer) => readPage(answer, reader(), onItems));
  }
}

async function readPage<T extends Recording>(
  answer: PartnerAnswer,
  reader: ListReader<T>,
  onItems: OnItems<T>,
): Promise<ListedPage> {
  if (answer.status === 204) return EMPTY_PAGE;
  const items: T[] = [];
  try {
    for await (const records of answer.records(ELEMENT_LISTS)) {
      items.push(...records.map((record) => reader.read(record)).filter((item) => item !== undefined));
      if (items.length >= ITEMS_PER_PART) await onItems(items.splice(0));
    }
    const page = reader.end(answer.envelope);
    if (items.length > 0) await onItems(items);
    return page;
  } catch (error) {
    if (error instanceof RefusedListError) throw answer.refusal(answer.envelope);
    if (error instanceof NotAListError) throw answer.breach([{ path: '', rule: 'isList', message: error.message }]);
    throw error;
  }
}

/** The finding for a list that is larger than `PARTNER_BODY_LIMIT`. */
export const sizeFindings = (error: unknown): Finding[] =>
  error instanceof PartnerFailure && error.kind === 'tooLarge' ? [{ path: '', reason: error.message }] : [];

const NO_ACKNOWLEDGEMENT: Violation = {
  path: 'requestId',
  rule: 'isAcknowledgement',
  message: 'the body of the 202 must be an acknowledgement with a requestId',
};

/** The 202 of a video request (section 2.5a), as far as it could be read. */
export interface Acknowledgement {
  /** Absent where it cannot be stored and sent back. The clips are then recognised by truck, camera and range. */
  readonly requestId?: string;
  readonly status: VideoStatus;
  readonly message?: string;
  /** The body of an answer with `success: false`. */
  readonly refusal?: unknown;
  readonly findings: readonly Finding[];
}

/**
 * Undefined if the body is no acknowledgement: the partner may not have read the request. `success: false` and the status
 * `failed` mean that the partner refused it, also without an id.
 */
export function readAcknowledgement(body: unknown): Acknowledgement | undefined {
  if (!isJsonObject(body)) return undefined;
  const findings: Finding[] = [];
  // Some partners wrap every response in `data`.
  const inner = body['requestId'] === undefined && isJsonObject(body['data']) ? body['data'] : body;
  const { requestId, message } = inner;
  const isRefused = body['success'] === false || inner['success'] === false;
  if (!isRefused && !isId(requestId) && inner['status'] !== 'failed') return undefined;
  const id = readRequestId(requestId);
  if (id === undefined && !isRefused) {
    const reason = `requestId must be an id of at most ${MAX_REQUEST_ID_LENGTH} characters, without U+0000, or an integer of at most 2^53 - 1`;
    findings.push({ path: 'requestId', reason, raw: body });
  }
  const text = typeof message === 'string' ? message : errorText(body['error']);
  const status = isRefused ? 'failed' : knownStatus(inner['status'], 'status', findings);
  return {
    ...(id === undefined ? {} : { requestId: id }),
    status,
    ...(isRefused ? { refusal: body } : {}),
    ...(text === undefined ? {} : { message: limitMessage(text) }),
    findings,
  };
}

/** An id of the partner, although it may not be storable. */
const isId = (id: unknown): boolean => typeof id === 'number' || (typeof id === 'string' && !isBlank(id));

/** Undefined if the id cannot be stored without a change, because the polls send it back. */
export function readRequestId(id: unknown): string | undefined {
  if (Number.isSafeInteger(id)) return String(id);
  return typeof id === 'string' && id !== '' && id.length <= MAX_REQUEST_ID_LENGTH && isStorableText(id)
    ? id
    : undefined;
}

/** `INTERNAL_ERROR: no room`, where the common error body came with a 2xx status (section 2.1). */
function errorText(error: unknown): string | undefined {
  const texts = [ownField(error, 'code'), ownField(error, 'message')].filter((text) => typeof text === 'string');
  return texts.length === 0 ? undefined : texts.join(': ');
}
