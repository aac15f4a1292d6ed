import { INVALID_PAYLOAD, keyRows, NOT_FOUND, type RefusedGroup, UNAUTHORIZED } from '../refusals.js';

export const OPERATION = 'getSites';
/** A hauler that no server has. */
const UNKNOWN_HAULER = 'c0ffee00-0000-4000-8000-00000000dead';

/** The requests that a server of the Site interface refuses (sections 5 and 7). */
export const SITE_REFUSED: readonly RefusedGroup[] = [
  {
    ...UNAUTHORIZED,
    operation: OPERATION,
    section: '5',
    remedy: 'Read the key from the header API-KEY only.',
    rows: keyRows(
      ['SITE-050', 'SITE-052', 'SITE-054'],
      'a request',
      ['API-KEY', 'PLATFORM-API-KEY in place of API-KEY'],
      [
        'Check the header API-KEY first, and answer 401 where it is missing.',
        'Compare the complete key with the issued one, and answer 401 to any other key.',
      ],
    ),
  },
  {
    ...INVALID_PAYLOAD,
    operation: OPERATION,
    section: '7',
    remedy: 'Answer 400 where haulerId does not have the form of a UUID.',
    rows: [
      [
        'SITE-060',
        'haulerId',
        'a request without haulerId',
        undefined,
        'Answer 400 where the query parameter haulerId is absent.',
      ],
      ['SITE-062', 'haulerId', 'a request with a haulerId that is not a UUID', 'not-a-uuid'],
    ],
  },
  {
    ...NOT_FOUND,
    operation: OPERATION,
    section: '7',
    remedy: 'Answer 404 where you have no data of that hauler, not 200 with empty lists.',
    rows: [['SITE-064', 'haulerId', 'a request for a hauler without data', UNKNOWN_HAULER]],
  },
];
