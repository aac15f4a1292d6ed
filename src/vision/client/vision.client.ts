import { Injectable } from '@nestjs/common';
import type { DtoClass } from '../../contracts/common/reader.js';
import { VISION_API, type VisionApi } from '../../contracts/vision/vision.api.js';
import {
  type ContinuousQuery,
  type CreateVideoRequest,
  type ListVideosQuery,
  Recording,
  Video,
} from '../../contracts/vision/vision.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
import type { PartnerAnswer } from '../../partner-client/partner-answer.js';
import { PartnerClient } from '../../partner-client/partner-client.js';
import { type Acknowledgement, readAcknowledgement } from './read-acknowledgement.rules.js';
import { type ListedPage, NotAListError, readList, RefusedListError } from './read-list.rules.js';
import type { VisionConnection } from './vision-connections.service.js';

export interface VisionCall {
  readonly connection: VisionConnection;
  readonly signal: AbortSignal;
}

/** Calls a partner's Vision API (sections 4.4 to 4.6) and reads its responses leniently (decision 38). Throws `PartnerFailure`. */
@Injectable()
export class VisionClient implements VisionApi<VisionCall, Acknowledgement, ListedPage<Video>, ListedPage<Recording>> {
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
