import { Injectable } from '@nestjs/common';
import type { DtoClass } from '../contracts/common/reader.js';
import { VISION_API, type VisionApi } from '../contracts/vision/vision.api.js';
import {
  type ContinuousQuery,
  type CreateVideoRequest,
  type ListVideosQuery,
  Recording,
  Video,
} from '../contracts/vision/vision.dto.js';
import { formatInstant } from '../contracts/common/instant.js';
import type { PartnerAnswer } from '../partner-client/partner-answer.js';
import { PartnerClient } from '../partner-client/partner-client.js';
import { type ListedPage, NoList, readList, RefusedList } from './client/read-list.js';
import { type Acknowledgement, readAcknowledgement } from './client/read-acknowledgement.js';
import type { VisionConnection } from './vision-connections.js';

/** Through which connection a partner is asked. */
export interface VisionCall {
  readonly connection: VisionConnection;
  readonly signal: AbortSignal;
}

/**
 * Calls a partner's side of the Vision API (sections 4.4 to 4.6), reading its answers leniently (decision 38). Whatever
 * else goes wrong is a `PartnerFailure`.
 */
@Injectable()
export class VisionClient implements VisionApi<VisionCall, Acknowledgement, ListedPage<Video>, ListedPage<Recording>> {
  constructor(private readonly partners: PartnerClient) {}

  /** One POST, never a second one by itself: whoever calls counts the tries (decision 41). */
  async requestVideo(request: CreateVideoRequest, { connection, signal }: VisionCall): Promise<Acknowledgement> {
    const answer = await this.partners.call(connection, {
      api: VISION_API,
      route: VISION_API.routes.requestVideo,
      body: { ...request, startTime: formatInstant(request.startTime), endTime: formatInstant(request.endTime) },
      // Partners that answer 200 or 201 have accepted it as well.
      accept: [202, 200, 201],
      signal,
    });
    return readAcknowledgement(jsonOrNothing(answer));
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
      if (error instanceof RefusedList) throw answer.refusal(body);
      if (error instanceof NoList) throw answer.breach([{ path: '', rule: 'isList', message: error.message }]);
      throw error;
    }
  }
}

/** A 202 is an acceptance whatever its body is: asking again would ask the partner twice. */
function jsonOrNothing(answer: PartnerAnswer): unknown {
  try {
    return answer.json();
  } catch {
    return undefined;
  }
}
