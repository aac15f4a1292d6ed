import { COMMON_ERRORS, defineApi } from '../common/api-contract.js';
import type {
  ContinuousQuery,
  ContinuousResponse,
  CreateVideoRequest,
  CreateVideoResponse,
  ListVideosQuery,
  ListVideosResponse,
} from './vision.dto.js';

/** Vision API 1.11.0 (sections 2.5a, 2.6, 4.4 to 4.6): hosted by partners, called by the platform. */
export const VISION_API = defineApi({
  name: 'vision',
  title: 'Vision API',
  version: '1.11.0',
  prefix: '/video-platform/v1',
  keyHeader: 'API-KEY',
  routes: {
    requestVideo: { method: 'POST', path: '/videos/requests' },
    listVideos: { method: 'GET', path: '/videos' },
    listContinuous: { method: 'GET', path: '/videos/continuous', plainErrors: true },
  },
  codes: ['INVALID_PAYLOAD', 'UNAUTHORIZED', 'INTERNAL_ERROR', 'NOT_FOUND'],
  errors: { ...COMMON_ERRORS, notFound: 'NOT_FOUND', gone: 'NOT_FOUND', rangeNotSatisfiable: 'INVALID_PAYLOAD' },
});

/** The names under which partners send their lists (decision 38). */
export const VIDEO_LISTS = ['videos', 'items', 'recordings'] as const;

/** The reference partner and the outbound client implement this. The client returns the valid elements. */
export interface VisionApi<
  Caller,
  Accepted = CreateVideoResponse,
  Videos = ListVideosResponse,
  Recordings = ContinuousResponse,
> {
  requestVideo(request: CreateVideoRequest, caller: Caller): Promise<Accepted>;
  listVideos(query: ListVideosQuery, caller: Caller): Promise<Videos>;
  listContinuous(query: ContinuousQuery, caller: Caller): Promise<Recordings>;
}
