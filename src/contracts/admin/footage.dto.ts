import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import { ArrayField, TextListField } from '../common/fields/nested-fields.js';
import { EnumField, InstantField, NameField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import { CoverageInterval } from './coverage.dto.js';
import { StoredRecording, TRUCK } from './recording.dto.js';
import { VideoRequest } from './video-request.dto.js';

const ID = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d';
const MAX_CAMERAS = 32;
const MAX_RANGES = 2;

const TRUCK_FIELD = {
  description:
    "Name of the custom field of a ticket whose value is the truck. The value, without blanks around it, is the partner's `truckId`, letter by letter: upper and lower case differ",
  max: 255,
  example: 'truckNumber',
};
const CONNECTION = {
  description: 'Vision connection of this hauler, to whose partner the trucks belong',
  example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4e',
};
const CAMERAS = {
  description: 'Cameras to show and to request; empty: all that are known of the truck',
  max: MAX_CAMERAS,
  maxLength: MAX_PARTNER_ID,
  example: ['front', 'rear'],
};

export class SetTicketFootage {
  @NameField(TRUCK_FIELD)
  truckField!: string;

  @UuidField(CONNECTION)
  connectionId!: string;

  @TextListField({ ...CAMERAS, optional: true })
  cameras?: string[];
}

/** Where the footage of a hauler's tickets is. */
export class TicketFootageSetting {
  @UuidField({ description: 'Hauler', example: ID })
  haulerId!: string;

  @NameField(TRUCK_FIELD)
  truckField!: string;

  @UuidField(CONNECTION)
  connectionId!: string;

  @TextListField(CAMERAS)
  cameras!: string[];

  @InstantField({ description: 'When it was last set', example: '2026-01-31T09:00:00Z' })
  updatedAt!: string;
}

const FLOWS = ['inbound', 'outbound'] as const;

/** A weighing of a ticket. */
export class FootageFlow {
  @EnumField({ description: 'Flow of the ticket', values: FLOWS, example: 'inbound' })
  flow!: (typeof FLOWS)[number];

  @TextField({ description: 'Its ticket number', max: 255, example: 'IN-204817' })
  ticketNumber!: string;

  @InstantField({ description: 'Its `updatedAt`', example: '2026-01-31T08:30:00Z' })
  time!: string;
}

/** Ten minutes before and after each weighing, until now. Ranges that overlap are one. */
export class FootageRange {
  @InstantField({ description: 'Start', example: '2026-01-31T08:20:00Z' })
  startTime!: string;

  @InstantField({ description: 'End', example: '2026-01-31T08:40:00Z' })
  endTime!: string;

  @ArrayField(() => FootageFlow, { description: 'The weighings in it', min: 1, max: 2 })
  flows!: FootageFlow[];
}

export const FOOTAGE_REASONS = [
  'notSetUp',
  'noTruck',
  'noTimes',
  'future',
  'connectionDeleted',
  'unknownTruck',
  'noCamera',
] as const;
export type FootageReason = (typeof FOOTAGE_REASONS)[number];

/** What is stored around the weighings of a ticket, and what can be requested. */
export class TicketFootage {
  @TextField({ ...TRUCK, description: 'Truck of the ticket; null where it is not known', nullable: true })
  truckId!: string | null;

  @UuidField({ description: 'Vision connection of the setting; null without one', nullable: true, example: ID })
  connectionId!: string | null;

  @ArrayField(() => FootageRange, { description: 'Ranges, oldest first', max: MAX_RANGES })
  ranges!: FootageRange[];

  @ArrayField(() => CoverageInterval, {
    description: 'Intervals of the coverage, by range, camera and time',
    max: 10_000,
  })
  coverage!: CoverageInterval[];

  @ArrayField(() => StoredRecording, {
    description: 'Stored and available recordings that overlap a range, oldest first',
    max: 1_000,
  })
  recordings!: StoredRecording[];

  @ArrayField(() => VideoRequest, {
    description: 'Clip requests of the truck that overlap a range, newest first',
    max: 100,
  })
  requests!: VideoRequest[];

  @TextField({ description: 'Why there is no footage, or no clip can be requested', max: 1_000, optional: true })
  reason?: string;

  @EnumField({
    description:
      'The same as a code. `notSetUp`: the hauler has no setting; `noTruck`: the ticket does not name a truck; `noTimes`: it has no flow; `future`: its flows are still to come; `connectionDeleted`; `unknownTruck`: the partner has sent nothing of this truck, a clip can be requested if the setting names cameras; `noCamera`: no camera of the truck is known and the setting names none',
    values: FOOTAGE_REASONS,
    optional: true,
    example: 'noTruck',
  })
  reasonCode?: FootageReason;
}

export class TicketFootageRequests {
  @ArrayField(() => VideoRequest, {
    description: 'The clip requests of the ranges, newest first: new ones, and those that were made before',
    max: 100,
  })
  requests!: VideoRequest[];
}

/** A ticket of a recording's truck. */
export class RecordedTicket {
  @UuidField({ description: 'Id of the ticket', example: ID })
  id!: string;

  @ArrayField(() => FootageFlow, { description: 'Its weighings', max: 2 })
  flows!: FootageFlow[];
}

export class RecordedTickets {
  @ArrayField(() => RecordedTicket, {
    description:
      'Tickets that name its truck and were weighed during the recording or up to 10 minutes away, nearest first',
    max: 20,
  })
  data!: RecordedTicket[];
}
