import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import {
  BooleanField,
  InstantField,
  IntegerField,
  NameField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';

const ID = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d';
const CONNECTION = { description: 'Vision connection to the partner', example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4e' };
const TRUCK = { description: 'Truck identifier of work orders and routing', max: MAX_PARTNER_ID, example: 'TRUCK-7' };
const CAMERA = {
  description: 'Camera; all cameras of the truck if absent',
  max: MAX_PARTNER_ID,
  optional: true,
  example: 'front',
};
const START = { description: 'Recordings from this time on', example: '2026-01-31T00:00:00Z' };
const INTERVAL = { description: 'Seconds between two reads', min: 30, max: 86_400, example: 300 };
const ENABLED = { description: 'Whether the service reads it on schedule', example: true };

export class CreateVideoSubscription {
  @UuidField(CONNECTION)
  connectionId!: string;

  @NameField(TRUCK)
  truckId!: string;

  @NameField(CAMERA)
  cameraId?: string;

  @InstantField(START)
  startTime!: Instant;

  @IntegerField({
    ...INTERVAL,
    description: `${INTERVAL.description}; default: the interval of the connection`,
    optional: true,
  })
  intervalSeconds?: number;
}

export class ChangeVideoSubscription {
  @IntegerField({ ...INTERVAL, optional: true })
  intervalSeconds?: number;

  @BooleanField({ ...ENABLED, optional: true })
  enabled?: boolean;
}

export class ReadVideoSubscriptionAgain {
  @InstantField({ description: 'Start of the time to list again', example: '2026-01-31T00:00:00Z' })
  from!: Instant;

  @InstantField({
    description: 'End of the time to list again, at most 366 days later',
    example: '2026-02-01T00:00:00Z',
  })
  to!: Instant;
}

/** The filters that the partner of a connection has too. */
export class TruckFilters extends ListQuery {
  @NameField({ ...TRUCK, optional: true })
  truckId?: string;
}

export class VideoSubscriptionQuery extends TruckFilters {
  @UuidField({ description: 'Subscriptions of this hauler only', optional: true, example: ID })
  haulerId?: string;

  @UuidField({ ...CONNECTION, optional: true })
  connectionId?: string;
}

/** A time of a subscription of which no list could be read. The service reads it again until it succeeds or gives up. */
export class UnreadWindow {
  @UuidField({ description: 'Its subscription', example: ID })
  subscriptionId!: string;

  @NameField(TRUCK)
  truckId!: string;

  @NameField(CAMERA)
  cameraId?: string;

  @InstantField({ description: 'Start of the time', example: '2026-01-31T08:00:00Z' })
  startTime!: string;

  @InstantField({ description: 'End of the time', example: '2026-01-31T08:30:00Z' })
  endTime!: string;

  @TextField({
    description: 'Why the last list could not be read',
    max: 10_000,
    optional: true,
    example: 'partner.example.com did not respond in time.',
  })
  reason?: string;

  @IntegerField({ description: 'Readings that failed since it was set aside', min: 0, max: 1_000, example: 3 })
  attempts!: number;

  @InstantField({
    description: 'When it is read again; null after the last attempt: an admin may read it again',
    nullable: true,
    example: '2026-01-31T09:31:00Z',
  })
  nextAttemptAt!: string | null;
}

export class VideoSubscription {
  @UuidField({ description: 'Id of the subscription', example: ID })
  id!: string;

  @UuidField({ description: 'Hauler that it belongs to', example: ID })
  haulerId!: string;

  @UuidField(CONNECTION)
  connectionId!: string;

  @NameField(TRUCK)
  truckId!: string;

  @NameField(CAMERA)
  cameraId?: string;

  @InstantField(START)
  startTime!: string;

  @IntegerField(INTERVAL)
  intervalSeconds!: number;

  @BooleanField(ENABLED)
  enabled!: boolean;

  @InstantField({ description: 'Everything before this time was read', example: '2026-01-31T09:00:00Z' })
  watermark!: string;

  @InstantField({
    description: 'Start of the last read that the partner answered',
    optional: true,
    example: '2026-01-31T09:01:00Z',
  })
  lastReadAt?: string;

  @TextField({ description: 'Error of the last read', max: 10_000, optional: true })
  lastError?: string;

  @InstantField({ description: 'When it was created', example: '2026-01-31T00:00:00Z' })
  createdAt!: string;

  @InstantField({ description: 'When it last changed', example: '2026-01-31T09:01:00Z' })
  updatedAt!: string;
}
