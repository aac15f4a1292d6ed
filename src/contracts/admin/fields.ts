import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import { Flag, Integer, Name, Text, Time, Uuid } from '../common/fields/decorators.js';
import {
  example,
  inQuery,
  max,
  nullable,
  optional,
  type Options,
  type QueryOptions,
  between,
} from '../common/fields/options.js';
import { DEMO_HAULER_ID } from '../common/demo.js';

/* The fields that many DTOs of the admin API have, and the values of their examples. */

export const HAULER = DEMO_HAULER_ID;
export const CONNECTION = '0197a1d0-11aa-7c33-9b44-0f1e2d3c4b5a';
export const TRUCK = 'TRUCK-7';

/** The length of a name that a partner gives (decision 38). */
export const PARTNER_NAME = between(1, MAX_PARTNER_ID);

export const HaulerId = (...options: readonly Options[]) =>
  Uuid('Hauler that it belongs to', example(HAULER), ...options);

export const ConnectionId = (...options: readonly Options[]) =>
  Uuid('Vision connection to the partner', example(CONNECTION), ...options);

export const TruckId = (...options: readonly Options[]) =>
  Text('Truck, as the partner names it', PARTNER_NAME, example(TRUCK), ...options);

/** Of a request: not blank. */
export const RequestedTruckId = (...options: readonly Options[]) =>
  Name('Truck identifier of work orders and routing', max(MAX_PARTNER_ID), example(TRUCK), ...options);

export const CameraId = (...options: readonly Options[]) =>
  Text('Camera, as the partner names it', PARTNER_NAME, example('front'), ...options);

export const AnyCameraId = (...options: readonly Options[]) =>
  Text(
    'Camera, by placement or number; either matches after the partner has used both',
    PARTNER_NAME,
    example('front'),
    ...options,
  );

export const CustomerId = (...options: readonly Options[]) =>
  Text('Customer, as the partner names it', example(HAULER), ...options);

export const StartTime = (...options: readonly QueryOptions[]) => Time('Start of the range', ...options);

export const EndTime = (...options: readonly QueryOptions[]) =>
  Time('End of the range', example('2026-01-31T08:35:00Z'), ...options);

export const KeyPrefix = (...options: readonly Options[]) =>
  Text('First characters of that key', example('hb_7Kq2mZ9x'), ...options);

export const RequestId = (...options: readonly Options[]) =>
  Text('`X-Request-Id` of the response', example('a6a7c6f2-5a0b-4d0e-8d36-f6f0f1a1b2c3'), ...options);

export const ResponseStatus = (...options: readonly Options[]) =>
  Integer('Status of the response; null without a response', between(100, 999), example(422), ...options);

/** Of a call that cannot be undone, and that changes more than the record in its path. Each route says what a dry run answers. */
export const DryRun = (...options: readonly QueryOptions[]) =>
  Flag('Only report what would be done, and change nothing', optional, ...options);

/** The same in the query of a `DELETE`. */
export class DryRunQuery {
  @DryRun(inQuery) dryRun?: boolean;
}

/** Where a list goes on. `GET /exchanges` has only cursors. */
export const Cursor = (more = '') =>
  Text(`\`next\` of the previous page, with the same filters${more}`, between(1, 512), optional);

export const NextCursor = () => Text('The cursor of the next page; null on the last one', nullable, example(null));

export const TimeZone = () =>
  Text(
    'Time zone whose days are counted, by its IANA name with the region, or as an offset such as `-06:00`; `UTC` by default',
    between(1, 100),
    optional,
    example('America/Chicago'),
  );
