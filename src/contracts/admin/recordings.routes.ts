import { IdParam } from './list.dto.js';
import {
  AdminRecording,
  RecordingContentQuery,
  RecordingDetails,
  RecordingQuery,
  RetriedRecordings,
  RetryRecordings,
  StoredRecording,
} from './recording.dto.js';
import { type AdminRoutes, change, FOR_OPERATORS, FOR_VIEWERS, list, one, route } from './route-helpers.js';
import { VisionFinding, VisionFindingQuery } from './vision-finding.dto.js';

/** Recordings, their files, and the errors in partners' lists. */
export const RECORDING_ROUTES = {
  listRecordings: list(FOR_VIEWERS, '/recordings', AdminRecording, RecordingQuery, {
    summary: 'List recordings',
    description: 'Latest start first.',
    csv: true,
  }),
  getRecording: one(FOR_VIEWERS, '/recordings/{id}', 'recording', RecordingDetails, {
    summary: 'Read a recording',
    description: 'By its id.',
  }),
  retryRecording: change(FOR_OPERATORS, 'POST', '/recordings/{id}/retry', 'recording', {
    summary: 'Fetch a recording again',
    description:
      'Of a recording that failed or expired; one that waits is tried at once. The partner lists it again for a new link.',
    response: StoredRecording,
    status: 202,
    fails: { conflict: 'It is stored, or retention has deleted its file' },
  }),
  retryRecordings: route(FOR_OPERATORS, 'POST', '/recordings/retry', {
    summary: 'Fetch recordings of a connection again',
    description:
      'All that failed or expired, of a truck, a time or a reason. Files that retention has deleted stay deleted.',
    body: RetryRecordings,
    response: RetriedRecordings,
    status: 202,
    returns: 'How many',
  }),
  getRecordingContent: route({ role: 'viewer+video', isPerHauler: true }, 'GET', '/recordings/{id}/content', {
    summary: 'Download a recording',
    description:
      'The whole file, or the part that `Range` names. It is an action: `recording.viewed` of a console session, `recording.downloaded` with `download` or of a token. 503 while that cannot be stored. A `preview` has the first and last 512 KiB alone, and is no action: without `Range` the first of a longer file (206), and 416 for a range that begins in between.',
    params: IdParam,
    query: RecordingContentQuery,
    file: 'video/mp4',
    returns: 'The file',
    fails: { notFound: 'No recording has this id, or its file is not stored' },
  }),
  listVisionFindings: list(FOR_VIEWERS, '/vision-findings', VisionFinding, VisionFindingQuery, {
    summary: "List the errors in partners' video lists",
    description:
      'By the time they were first seen, newest first. The service skipped the listed elements and stored the others.',
    csv: true,
  }),
} as const satisfies AdminRoutes;
