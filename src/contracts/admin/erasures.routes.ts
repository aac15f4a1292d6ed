import { Integer, Nested, NestedList, OneOf, Text, TextList, Time, Uuid } from '../common/fields/decorators.js';
import { example, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';
import { CONNECTION, ConnectionId, DryRun, HAULER, HaulerId, PARTNER_NAME, TRUCK, TruckId } from './fields.js';
import { type AdminRoutes, FOR_ADMINS_OF_ALL, FOR_VIEWERS_OF_ALL, list, one, route } from './route-helpers.js';

const ID = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c50';
const FROM = '2026-01-31T10:00:00Z';
const TO = '2026-01-31T11:00:00Z';
const STORED_STATUSES = ['running', 'done', 'stopped', 'failed'] as const;
const STATUSES = ['previewed', ...STORED_STATUSES] as const;
const KINDS = ['account', 'footage'] as const;

class ErasureTarget {
  @Uuid('An account of the hauler', optional) accountId?: string;
  @ConnectionId(optional) connectionId?: string;
  @TruckId(optional) truckId?: string;
  @Text('One camera; all cameras of the truck if absent', PARTNER_NAME, optional, example('front')) cameraId?: string;
  @Time('Start of the range', optional, example(FROM)) from?: Instant;
  @Time('End of the range, at most 366 days later', optional, example(TO)) to?: Instant;
}

/** Either an account of a hauler, or a range of a truck. */
export class CreateErasure extends ErasureTarget {
  @Uuid('The hauler', optional, example(HAULER)) haulerId?: string;
  @DryRun() dryRun?: boolean;
}

const ERASURE_EXAMPLES = {
  preview: {
    summary: 'What the erasure of an account would erase',
    value: { haulerId: HAULER, accountId: ID, dryRun: true },
  },
  account: { summary: 'An account', value: { haulerId: HAULER, accountId: ID } },
  footage: { summary: 'A range of a truck', value: { connectionId: CONNECTION, truckId: TRUCK, from: FROM, to: TO } },
};

export class ErasureQuery extends ListQuery {
  @Uuid('The hauler', optional) haulerId?: string;
  @OneOf('State', STORED_STATUSES, optional) status?: (typeof STORED_STATUSES)[number];
}

/** Numbers alone. */
export class ErasureCounts {
  @Integer('Accounts', example(0)) accounts!: number;
  @Integer('Recordings, with their files', example(0)) recordings!: number;
  @Integer('Bytes of these files', example(0)) bytes!: number;
  @Integer('Of these files: those whose old versions remain in the bucket, because they could not be deleted')
  versionsLeft!: number;
  @Integer('Exchanges whose bodies and references were redacted', example(0)) exchanges!: number;
  @Integer('Tickets with a custom field that was its id, number, name, address or phone', example(0)) tickets!: number;
  @Integer('Stored pushes of tickets with such a custom field', example(0)) revisions!: number;
  @Integer("Kept parts of partners' lists that named an erased range of a truck", example(0)) findings!: number;
}

/** What an erasure leaves, because it is deleted by age. */
export class EndsByItself {
  @Text('What may still name the erased', example('Stored answers of the Idempotency-Key.')) what!: string;
  @Text('The last day (UTC) on which it is there', example('2026-02-04')) until!: string;
}

/** The progress and then the receipt of an erasure, or what a dry run has counted. */
export class Erasure extends ErasureTarget {
  @Uuid('Id of the erasure; absent for a dry run', optional) id?: string;
  @HaulerId() haulerId!: string;
  @OneOf('What is erased', KINDS, example('footage')) kind!: (typeof KINDS)[number];
  @OneOf(
    '`previewed`: a dry run, which erased nothing; `running`; `done`; `stopped`: a hold that was created meanwhile keeps the rest; `failed`: see `reason`',
    STATUSES,
  )
  status!: (typeof STATUSES)[number];
  @Nested('What would be erased; of a dry run alone', ErasureCounts, optional) preview?: ErasureCounts;
  @Nested('What was erased so far', ErasureCounts) erased!: ErasureCounts;
  @TextList('Where copies may remain that an erasure does not reach') notReached!: string[];
  @NestedList('What ends by itself, with the day', EndsByItself) endsByItself!: EndsByItself[];
  @Text('Why it stopped, failed or waits', optional) reason?: string;
  @Time('When it was requested') createdAt!: string;
  @Text('Who asked for it, as the action log names them', example('console')) createdBy!: string;
  @Time('When it ended', optional) finishedAt?: string;
}

/** Erasure of an account or of footage by request. */
export const ERASURE_ROUTES = {
  createErasure: route(FOR_ADMINS_OF_ALL, 'POST', '/erasures', {
    summary: 'Erase an account or footage',
    description:
      'Erases an account with what it left, or the footage of a truck in a range. It cannot be undone: send `dryRun` first, which counts what would be erased. A job does it, and goes on after a restart: `GET /admin/v1/erasures/{id}` is the receipt. Erased footage is not fetched again when the partner lists it.',
    body: CreateErasure,
    response: Erasure,
    examples: ERASURE_EXAMPLES,
    returns: 'The erasure, or what a dry run has counted',
    fails: {
      notFound: 'The account or connection belongs to another hauler',
      conflict: 'A hold keeps footage of the range; `details.holdIds` names the holds',
    },
  }),
  listErasures: list(FOR_VIEWERS_OF_ALL, '/erasures', Erasure, ErasureQuery, {
    summary: 'List erasures',
    description: 'Newest first.',
  }),
  getErasure: one(FOR_VIEWERS_OF_ALL, '/erasures/{id}', 'erasure', Erasure, {
    summary: 'Read an erasure',
    description: 'The progress, and then the receipt: numbers and times, without what was erased.',
  }),
} as const satisfies AdminRoutes;
