import { CreateErasure, Erasure, ERASURE_EXAMPLES, ErasureQuery } from './erasure.dto.js';
import { CreateHold, Hold, HoldDetails, HoldQuery, ReleaseHold } from './hold.dto.js';
import { BUNDLE_PROBLEMS, HoldBundleQuery, MAX_BUNDLE_RECORDINGS } from './hold-bundle.dto.js';
import { IdParam } from './list.dto.js';
import { HaulerRetention, RetentionPreview, RetentionPreviewQuery, SetRetention } from './retention.dto.js';
import { type AdminRoutes, create, ofOne, page, read } from './route-parts.js';

const BUNDLE_HEADERS = {
  'Content-Disposition': {
    description: 'The name of the file',
    schema: { type: 'string' as const, maxLength: 255 },
  },
  Trailer: {
    description: `\`${BUNDLE_PROBLEMS}\` follows the archive: how many files of it are gone or differ`,
    schema: { type: 'string' as const, enum: [BUNDLE_PROBLEMS] },
  },
};

/** What is kept for a case, and for how long the rest is. */
export const KEEPING_ROUTES = {
  createHold: {
    ...create(HoldDetails, 'hold'),
    path: '/holds',
    role: 'operator',
    isPerHauler: true,
    summary: 'Hold the footage of a truck',
    description:
      'Keeps every recording that overlaps the range by any part, of one camera or of all, also those that are listed later, until the hold is released. `missing` names the time of which nothing is held. A truck that the connection does not know is refused.',
    body: CreateHold,
  },
  listHolds: {
    ...page(Hold, 'holds'),
    path: '/holds',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List holds',
    description: 'Newest first, released ones included. `from` and `to` are times of the footage.',
    query: HoldQuery,
  },
  getHold: {
    ...read(HoldDetails, 'hold'),
    path: '/holds/{id}',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Read a hold',
    description: 'With what it holds at this moment, and what is missing.',
  },
  releaseHold: {
    ...ofOne('hold'),
    method: 'POST',
    path: '/holds/{id}/release',
    role: 'operator',
    summary: 'Release a hold',
    description:
      'Its footage follows the retention of the hauler again, from the next hour on. The hold stays in the list, with who released it, when and why.',
    body: ReleaseHold,
    status: 200,
    response: Hold,
    returns: 'The hold',
    fails: { notFound: 'No hold has this id', conflict: 'It is released already' },
  },
  getHoldBundle: {
    method: 'GET',
    status: 200,
    params: IdParam,
    path: '/holds/{id}/bundle',
    role: 'viewer+video',
    isPerHauler: true,
    summary: 'Download all that a hold keeps',
    description:
      'A ZIP archive, made while it is sent: the files, `manifest.json` and `manifest.csv` with their sources and sums, `views.csv`, and `SHA256SUMS` for `sha256sum -c`. A file that is gone or differs is named in the manifest and in `PROBLEMS.txt`. Where the storage fails, the connection breaks: an archive without an end is not whole.',
    query: HoldBundleQuery,
    archive: 'application/zip',
    returns: 'The archive',
    responseHeaders: BUNDLE_HEADERS,
    fails: {
      notFound: 'No hold has this id',
      conflict: `The range has more than ${MAX_BUNDLE_RECORDINGS} recordings: get it in parts, with \`endsAfter\` and \`startsBefore\``,
    },
  },
  getHaulerRetention: {
    ...read(HaulerRetention, 'hauler'),
    path: '/haulers/{id}/retention',
    role: 'viewer',
    isPerHauler: true,
    summary: 'Read for how long the video of a hauler is kept',
    description: 'By source. Without a setting of its own it is the longest default since the hauler was created.',
  },
  setHaulerRetention: {
    ...read(HaulerRetention, 'hauler'),
    method: 'PUT',
    path: '/haulers/{id}/retention',
    role: 'admin',
    summary: 'Set for how long the video of a hauler is kept',
    description:
      'To shorten it, send `confirm` and the number of recordings of the preview. It counts at once: the next hourly run deletes.',
    body: SetRetention,
    fails: {
      notFound: 'No hauler has this id',
      conflict: 'It would delete recordings, and is not confirmed, or would delete more than were confirmed',
    },
  },
  previewRetention: {
    method: 'GET',
    path: '/retention/preview',
    role: 'viewer',
    summary: 'Count what a retention would delete',
    description: 'At this moment. Changes nothing.',
    query: RetentionPreviewQuery,
    status: 200,
    response: RetentionPreview,
    returns: 'The recordings that would be deleted',
  },
  createErasure: {
    method: 'POST',
    status: 200,
    response: Erasure,
    returns: 'The erasure, or what a dry run has counted',
    path: '/erasures',
    role: 'admin',
    summary: 'Erase an account or footage',
    description:
      'Erases an account with what it left, or the footage of a truck in a range. It cannot be undone: send `dryRun` first, which counts what would be erased. A job does it, and goes on after a restart: `GET /admin/v1/erasures/{id}` is the receipt. Erased footage is not fetched again when the partner lists it.',
    body: CreateErasure,
    examples: ERASURE_EXAMPLES,
    fails: { conflict: 'A hold keeps footage of the range; `details.holdIds` names the holds' },
  },
  listErasures: {
    ...page(Erasure, 'erasures'),
    path: '/erasures',
    role: 'viewer',
    summary: 'List erasures',
    description: 'Newest first.',
    query: ErasureQuery,
  },
  getErasure: {
    ...read(Erasure, 'erasure'),
    path: '/erasures/{id}',
    role: 'viewer',
    summary: 'Read an erasure',
    description: 'The progress, and then the receipt: numbers and times, without what was erased.',
  },
} as const satisfies AdminRoutes;
