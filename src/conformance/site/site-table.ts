import { INVALID_PAYLOAD, NOT_FOUND, UNAUTHORIZED } from '../refusals.js';
import type { RefusedGroup } from '../rule.js';

export const OPERATION = 'getSites';
/** A hauler that no server has. */
const UNKNOWN_HAULER = 'c0ffee00-0000-4000-8000-00000000dead';

const REQUEST = { operation: OPERATION, subject: 'a request', severity: 'must' } as const;

/** The requests that a server of the Site interface refuses (sections 5 and 7). */
export const SITE_REFUSED: readonly RefusedGroup[] = [
  {
    ...UNAUTHORIZED,
    ...REQUEST,
    section: '5',
    remedy: 'Read the key from the header API-KEY only.',
    requests: [
      {
        ids: ['SITE-050', 'SITE-051'],
        field: 'API-KEY',
        words: 'without the header API-KEY',
        value: 'none',
        remedy: 'Check the header API-KEY first, and answer 401 where it is missing.',
      },
      {
        ids: ['SITE-052', 'SITE-053'],
        field: 'API-KEY',
        words: 'with a wrong key',
        value: 'wrong-key',
        remedy: 'Compare the complete key with the issued one, and answer 401 to any other key.',
      },
      {
        ids: ['SITE-054', 'SITE-055'],
        field: 'API-KEY',
        words: 'with the key in PLATFORM-API-KEY in place of API-KEY',
        value: 'other-header',
      },
    ],
  },
  {
    ...INVALID_PAYLOAD,
    ...REQUEST,
    section: '7',
    remedy: 'Answer 400 where haulerId does not have the form of a UUID.',
    requests: [
      {
        ids: ['SITE-060', 'SITE-061'],
        field: 'haulerId',
        words: 'without haulerId',
        value: undefined,
        remedy: 'Answer 400 where the query parameter haulerId is absent.',
      },
      {
        ids: ['SITE-062', 'SITE-063'],
        field: 'haulerId',
        words: 'with a haulerId that is not a UUID',
        value: 'not-a-uuid',
      },
    ],
  },
  {
    ...NOT_FOUND,
    ...REQUEST,
    section: '7',
    remedy: 'Answer 404 where you have no data of that hauler, not 200 with empty lists.',
    requests: [
      { ids: ['SITE-064', 'SITE-065'], field: 'haulerId', words: 'for a hauler without data', value: UNKNOWN_HAULER },
    ],
  },
];
