import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import { Name, NestedList, OneOf, Text, TextList, Time, Uuid } from '../common/fields/decorators.js';
import { example, max, nullable, optional } from '../common/fields/options.js';
import { CoverageInterval } from './coverage.routes.js';
import { StoredRecording } from './recordings.routes.js';
import { VideoRequest } from './video-requests.routes.js';
import { CONNECTION, HaulerId } from './fields.js';

const MAX_CAMERAS = 32;
const CAMERAS = 'Cameras to show and to request; empty: all that are known of the truck';

export class SetTicketFootage {
  @Name(
    "Name of the custom field of a ticket whose value is the truck. The value, without blanks around it, is the partner's `truckId`, letter by letter: upper and lower case differ",
    max(255),
    example('truckNumber'),
  )
  truckField!: string;
  @Uuid('Vision connection of this hauler, to whose partner the trucks belong', example(CONNECTION))
  connectionId!: string;
  @TextList(CAMERAS, max(MAX_CAMERAS), { maxLength: MAX_PARTNER_ID }, optional, example(['front', 'rear']))
  cameras?: string[];
}

/** Where the footage of a hauler's tickets is. */
export class TicketFootageSetting extends SetTicketFootage {
  @HaulerId() haulerId!: string;
  @TextList(CAMERAS, example(['front', 'rear'])) declare cameras: string[];
  @Time('When it was last set') updatedAt!: string;
}

const FLOWS = ['inbound', 'outbound'] as const;

/** A weighing of a ticket. */
export class FootageFlow {
  @OneOf('Flow of the ticket', FLOWS) flow!: (typeof FLOWS)[number];
  @Text('Its ticket number', example('IN-204817')) ticketNumber!: string;
  @Time('Its `updatedAt`') time!: string;
}

/** Ten minutes before and after each weighing, until now. Ranges that overlap are one. */
export class FootageRange {
  @Time('Start') startTime!: string;
  @Time('End') endTime!: string;
  @NestedList('The weighings in it', FootageFlow) flows!: FootageFlow[];
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
  @Text('Truck of the ticket; null where it is not known', nullable, example('TRUCK-7')) truckId!: string | null;
  @Uuid('Vision connection of the setting; null without one', nullable) connectionId!: string | null;
  @NestedList('Ranges, oldest first', FootageRange) ranges!: FootageRange[];
  @NestedList('Intervals of the coverage, by range, camera and time', CoverageInterval) coverage!: CoverageInterval[];
  @NestedList('Stored and available recordings that overlap a range, oldest first', StoredRecording)
  recordings!: StoredRecording[];
  @NestedList('Clip requests of the truck that overlap a range, newest first', VideoRequest) requests!: VideoRequest[];
  @Text('Why there is no footage, or no clip can be requested', optional) reason?: string;
  @OneOf(
    'The same as a code. `notSetUp`: the hauler has no setting; `noTruck`: the ticket does not name a truck; `noTimes`: it has no flow; `future`: its flows are still to come; `connectionDeleted`; `unknownTruck`: the partner has sent nothing of this truck, a clip can be requested if the setting names cameras; `noCamera`: no camera of the truck is known and the setting names none',
    FOOTAGE_REASONS,
    optional,
  )
  reasonCode?: FootageReason;
}

export class TicketFootageRequests {
  @NestedList('The clip requests of the ranges, newest first: new ones, and those that were made before', VideoRequest)
  requests!: VideoRequest[];
}

/** A ticket of a recording's truck. */
export class RecordedTicket {
  @Uuid('Id of the ticket') id!: string;
  @NestedList('Its weighings', FootageFlow) flows!: FootageFlow[];
}

export class RecordedTickets {
  @NestedList(
    'Tickets that name its truck and were weighed during the recording or up to 10 minutes away, nearest first',
    RecordedTicket,
  )
  data!: RecordedTicket[];
}
