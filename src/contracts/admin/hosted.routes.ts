import { SiteData } from '../site/site.dto.js';
import {
  HOSTED_RECORDING_MAX_BYTES,
  HOSTED_SITE_DATA_MAX_BYTES,
  HostedCamera,
  HostedHaulerParam,
  HostedRecording,
  HostedRecordingQuery,
  HostedSiteDataCounts,
  HostedVideoRequest,
  HostedVideoRequestQuery,
} from './hosted.dto.js';
import { type AdminRoutes, page } from './route-parts.js';

/** Data of the reference partner. */
export const HOSTED_ROUTES = {
  replaceHostedSiteData: {
    method: 'PUT',
    path: '/hosted/haulers/{haulerId}/site-data',
    role: 'admin',
    summary: "Replace a hauler's data on the partner side",
    description:
      'Replaces all of it: a record that is not in the body is deleted, and an empty body makes the hauler unknown. Invalid records, repeated ids and unknown parents are refused with at most 10,000 violations, and nothing changes. Up to 256 MB.',
    params: HostedHaulerParam,
    upload: {
      contentType: 'application/json',
      maxBytes: HOSTED_SITE_DATA_MAX_BYTES,
      schema: SiteData,
    },
    status: 200,
    response: HostedSiteDataCounts,
    returns: 'The number of stored records',
  },
  setHostedCamera: {
    method: 'PUT',
    path: '/hosted/cameras',
    role: 'admin',
    summary: 'Set the aliases of a camera on the partner side',
    description:
      'Replaces its aliases. Recordings under an alias become recordings of this camera; 409, and nothing changes, if two recordings would start at the same time.',
    body: HostedCamera,
    status: 200,
    response: HostedCamera,
    returns: 'The camera',
    fails: {
      conflict: 'Two recordings would start at the same time; nothing changes',
    },
  },
  uploadHostedRecording: {
    method: 'POST',
    path: '/hosted/recordings',
    role: 'admin',
    summary: 'Upload a recording to the partner side',
    description: 'An MP4 file of up to 2 GiB, streamed.',
    query: HostedRecordingQuery,
    upload: { contentType: 'video/mp4', maxBytes: HOSTED_RECORDING_MAX_BYTES },
    status: 201,
    response: HostedRecording,
    returns: 'The stored recording',
    fails: {
      requestTimeout: 'The upload paused for too long',
      conflict: 'The camera has a recording that starts at this time',
      tooLarge: 'The file is larger than 2 GiB',
      unsupportedMediaType: 'The body is not `video/mp4`, or has a content coding',
    },
  },
  listHostedVideoRequests: {
    ...page(HostedVideoRequest, 'requests'),
    path: '/hosted/video-requests',
    role: 'viewer',
    summary: 'List the video requests that callers made to the partner side',
    description: 'Newest first.',
    query: HostedVideoRequestQuery,
  },
} as const satisfies AdminRoutes;
