import { IdParam } from './list.dto.js';
import { RetriedRecordings, RetryRecordings } from './recording-retry.dto.js';
import { AdminRecording, RecordingContentQuery, RecordingQuery, StoredRecording } from './recording.dto.js';
import { type AdminRoutes, read, table } from './route-parts.js';
import { VisionFinding, VisionFindingQuery } from './vision-finding.dto.js';

/** Recordings, their files, and the errors in partners' lists. */
export const RECORDING_ROUTES = {
  listRecordings: {
    ...table(AdminRecording, 'recordings'),
    path: '/recordings',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List recordings',
    description: 'Latest start first.',
    query: RecordingQuery,
  },
  getRecording: {
    ...read(AdminRecording, 'recording'),
    path: '/recordings/{id}',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Read a recording',
    description: 'By its id.',
  },
  retryRecording: {
    method: 'POST',
    path: '/recordings/{id}/retry',
    role: 'operator',
    isPerHauler: true,
    summary: 'Fetch a recording again',
    description:
      'Of a recording that failed or expired; one that waits is tried at once. The partner lists it again for a new link.',
    params: IdParam,
    status: 202,
    response: StoredRecording,
    returns: 'The recording',
    fails: {
      notFound: 'No recording has this id',
      conflict: 'It is stored, or retention has deleted its file',
    },
  },
  retryRecordings: {
    method: 'POST',
    path: '/recordings/retry',
    role: 'operator',
    isPerHauler: true,
    summary: 'Fetch recordings of a connection again',
    description:
      'All that failed or expired, of a truck, a time or a reason. Files that retention has deleted stay deleted.',
    body: RetryRecordings,
    status: 202,
    response: RetriedRecordings,
    returns: 'How many',
  },
  getRecordingContent: {
    method: 'GET',
    status: 200,
    params: IdParam,
    query: RecordingContentQuery,
    path: '/recordings/{id}/content',
    role: 'viewer+video',
    isPerHauler: true,
    summary: 'Download a recording',
    description:
      'The whole file, or the part that `Range` names. It is an action: `recording.viewed` of a console session, `recording.downloaded` with `download` or of a token. 503 while that cannot be stored. A `preview` has the first and last 512 KiB alone, and is no action: without `Range` the first of a longer file (206), and 416 for a range that begins in between.',
    file: 'video/mp4',
    returns: 'The file',
    fails: { notFound: 'No recording has this id, or its file is not stored' },
  },
  listVisionFindings: {
    ...table(VisionFinding, 'findings'),
    path: '/vision-findings',
    role: 'viewer',
    isPerHauler: true,
    summary: "List the errors in partners' video lists",
    description:
      'By the time they were first seen, newest first. The service skipped the listed elements and stored the others.',
    query: VisionFindingQuery,
  },
} as const satisfies AdminRoutes;
