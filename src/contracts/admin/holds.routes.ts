import { HoldBundleQuery, MAX_BUNDLE_RECORDINGS } from './hold-bundle.dto.js';
import { CreateHold, Hold, HoldDetails, HoldQuery, ReleasedHold, ReleaseHold } from './hold.dto.js';
import { IdParam } from './list.dto.js';
import {
  type AdminRoutes,
  change,
  create,
  FOR_OPERATORS,
  FOR_OPERATORS_OF_ALL,
  FOR_VIEWERS,
  list,
  one,
  route,
} from './route-helpers.js';

const BUNDLE_HEADERS = {
  'Content-Disposition': { description: 'The name of the file', schema: { type: 'string' as const, maxLength: 255 } },
};

/** Footage that a case needs. */
export const HOLD_ROUTES = {
  createHold: create(FOR_OPERATORS, '/holds', CreateHold, HoldDetails, {
    summary: 'Hold the footage of a truck',
    description:
      'Keeps every recording that overlaps the range by any part, of one camera or of all, also those that are listed later, until the hold is released. `missing` names the time of which nothing is held. A truck that the connection does not know is refused.',
  }),
  listHolds: list(FOR_VIEWERS, '/holds', Hold, HoldQuery, {
    summary: 'List holds',
    description: 'Newest first, released ones included. `from` and `to` are times of the footage.',
  }),
  getHold: one(FOR_VIEWERS, '/holds/{id}', 'hold', HoldDetails, {
    summary: 'Read a hold',
    description: 'With what it holds at this moment, and what is missing.',
  }),
  releaseHold: change(FOR_OPERATORS_OF_ALL, 'POST', '/holds/{id}/release', 'hold', {
    summary: 'Release a hold',
    description:
      'Its footage follows the retention of the hauler again, from the next hour on. The hold stays in the list, with who released it, when and why.',
    body: ReleaseHold,
    response: ReleasedHold,
    fails: { conflict: 'It is released already' },
  }),
  getHoldBundle: route({ role: 'viewer+video', isPerHauler: true }, 'GET', '/holds/{id}/bundle', {
    summary: 'Download all that a hold keeps',
    description:
      'A ZIP archive, made while it is sent: the files, `manifest.json` with their sources, sums and views, and `SHA256SUMS` for `sha256sum -c`. A file that is gone or differs has a `problem` in the manifest. Where the storage fails, the connection breaks: an archive without an end is not whole.',
    params: IdParam,
    query: HoldBundleQuery,
    archive: 'application/zip',
    returns: 'The archive',
    responseHeaders: BUNDLE_HEADERS,
    fails: {
      notFound: 'No hold has this id',
      conflict: `The range has more than ${MAX_BUNDLE_RECORDINGS} recordings: get it in parts, with \`endsAfter\` and \`startsBefore\``,
    },
  }),
} as const satisfies AdminRoutes;
