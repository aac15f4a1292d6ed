import { SiteData } from '../site/site.dto.js';
import { DryRunQuery } from './fields.js';
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
import { type AdminRoutes, FOR_ADMINS_OF_ALL, FOR_VIEWERS_OF_ALL, list, route } from './route-helpers.js';

/** Data of the reference partner. */
export const HOSTED_ROUTES = {
  replaceHostedSiteData: route(FOR_ADMINS_OF_ALL, 'PUT', '/hosted/haulers/{haulerId}/site-data', {
    summary: "Replace a hauler's data on the partner side",
    description:
      'Replaces all of it: a record that is not in the body is deleted, and an empty body makes the hauler unknown. Invalid records, repeated ids and unknown parents are refused with at most 10,000 violations, and nothing changes. Send `dryRun` first: its `preview` has the records that callers would no longer receive. Up to 32 MB: about 150,000 materials.',
    params: HostedHaulerParam,
    query: DryRunQuery,
    response: HostedSiteDataCounts,
    upload: { contentType: 'application/json', maxBytes: HOSTED_SITE_DATA_MAX_BYTES, schema: SiteData },
    returns: 'The number of stored records',
  }),
  setHostedCamera: route(FOR_ADMINS_OF_ALL, 'PUT', '/hosted/cameras', {
    summary: 'Set the aliases of a camera on the partner side',
    description:
      'Replaces its aliases. Recordings under an alias become recordings of this camera; 409, and nothing changes, if two recordings would start at the same time.',
    body: HostedCamera,
    response: HostedCamera,
    fails: { conflict: 'Two recordings would start at the same time; nothing changes' },
  }),
  uploadHostedRecording: route(FOR_ADMINS_OF_ALL, 'POST', '/hosted/recordings', {
    summary: 'Upload a recording to the partner side',
    description: 'An MP4 file of up to 2 GiB, streamed.',
    query: HostedRecordingQuery,
    response: HostedRecording,
    upload: { contentType: 'video/mp4', maxBytes: HOSTED_RECORDING_MAX_BYTES },
    status: 201,
    returns: 'The stored recording',
    fails: {
      requestTimeout: 'The upload paused for too long',
      conflict: 'The camera has a recording that starts at this time',
      tooLarge: 'The file is larger than 2 GiB',
      unsupportedMediaType: 'The body is not `video/mp4`, or has a content coding',
    },
  }),
  listHostedVideoRequests: list(
    FOR_VIEWERS_OF_ALL,
    '/hosted/video-requests',
    HostedVideoRequest,
    HostedVideoRequestQuery,
    { summary: 'List the video requests that callers made to the partner side', description: 'Newest first.' },
  ),
} as const satisfies AdminRoutes;
