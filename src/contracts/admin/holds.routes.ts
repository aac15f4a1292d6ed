import { BUNDLE_PROBLEMS, HoldBundleQuery, MAX_BUNDLE_RECORDINGS } from './hold-bundle.dto.js';
import { CreateHold, Hold, HoldDetails, HoldQuery, ReleaseHold } from './hold.dto.js';
import { IdParam } from './list.dto.js';
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

/** Footage that a case needs. */
export const HOLD_ROUTES = {
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
} as const satisfies AdminRoutes;
