import { COMMON_ERRORS, defineApi } from '../common/api-contract.js';
import {
  ContinuousQuery,
  ContinuousResponse,
  CreateVideoRequest,
  CreateVideoResponse,
  ListVideosQuery,
  ListVideosResponse,
} from './vision.dto.js';

const UNKNOWN = { notFound: 'The customer, the truck or the camera is unknown' };
const CODES = ['INVALID_PAYLOAD', 'UNAUTHORIZED', 'INTERNAL_ERROR', 'NOT_FOUND'] as const;
const ERRORS = {
  ...COMMON_ERRORS,
  notFound: 'NOT_FOUND',
  gone: 'NOT_FOUND',
  rangeNotSatisfiable: 'INVALID_PAYLOAD',
} as const;

/** Vision API 1.11.0 (sections 2.5a, 2.6, 4.4 to 4.6): hosted by partners, called by the platform. */
export const VISION_API = defineApi({
  name: 'vision',
  title: 'Vision API',
  version: '1.11.0',
  prefix: '/video-platform/v1',
  keyHeader: 'API-KEY',
  routes: {
    requestVideo: {
      method: 'POST',
      path: '/videos/requests',
      summary: 'Request a clip',
      description:
        'Poll the video list with the `requestId` of the response until the clip is ready. The sandbox has the uploaded ' +
        'recordings; the demo has the ten minutes before its start. A request for any other time ends as `failed`.',
      body: CreateVideoRequest,
      status: 202,
      response: CreateVideoResponse,
      returns: 'The request was accepted',
      fails: UNKNOWN,
    },
    listVideos: {
      method: 'GET',
      path: '/videos',
      summary: 'List prepared clips',
      description: 'The clips that overlap the range, oldest first. With a `requestId`, `data.request` is its state.',
      query: ListVideosQuery,
      status: 200,
      response: ListVideosResponse,
      returns: 'A page of clips',
      fails: UNKNOWN,
    },
    listContinuous: {
      method: 'GET',
      path: '/videos/continuous',
      summary: "List a truck's continuous recordings",
      description: 'The chunks that overlap the range, oldest first, each with its download link.',
      query: ContinuousQuery,
      status: 200,
      response: ContinuousResponse,
      returns: 'A page of recording chunks',
      fails: UNKNOWN,
      plainErrors: true,
    },
  },
  codes: CODES,
  errors: ERRORS,
});

const DOWNLOAD = {
  operation: 'download',
  method: 'GET',
  summary: 'Download a video',
  description: 'By a link of a list. It needs no API key: the signature grants access until it expires.',
  status: 200,
  file: 'video/mp4',
  returns: 'The file',
  role: 'anyone',
  fails: {
    unauthorized: 'The signature of the link is not valid',
    notFound: 'The file was deleted',
    gone: 'The link has expired',
  },
} as const;

/** The files of the reference partner. Lists have their addresses, so no document describes them. */
export const VIDEO_FILES_API = defineApi({
  name: 'vision',
  title: 'Vision files',
  version: '1.11.0',
  prefix: '/media/v1',
  keyHeader: 'API-KEY',
  isHidden: true,
  routes: {
    downloadRecording: { ...DOWNLOAD, path: '/recordings/{id}.mp4' },
    downloadClip: { ...DOWNLOAD, path: '/clips/{id}.mp4' },
  },
  codes: CODES,
  errors: ERRORS,
});

/** The names under which partners send their lists (decision 38). */
export const VIDEO_LISTS = ['videos', 'items', 'recordings'] as const;
