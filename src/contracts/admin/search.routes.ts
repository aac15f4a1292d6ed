import { Flag, Nested, NestedList, OneOf, Text, TextList, Time } from '../common/fields/decorators.js';
import { between, example, optional } from '../common/fields/options.js';
import { AttentionHauler } from './attention.routes.js';
import { type AdminRoutes, FOR_VIEWERS, route } from './route-helpers.js';

const FOUND_KINDS = [
  'ticket',
  'exchange',
  'account',
  'truck',
  'clip',
  'recording',
  'hold',
  'connection',
  'run',
  'hauler',
  'key',
  'site',
  'kiosk',
  'material',
  'erasure',
  'webhook',
  'delivery',
] as const;
export type FoundKind = (typeof FOUND_KINDS)[number];

/** The longest id of a partner that people paste. */
const MAX_SOUGHT = 400;

export class SearchQuery {
  @Text(
    'A ticket number, a request id, a truck, the name or number of an account, the name of a hauler, the beginning of a key, or any id. `%`, `_` and `*` mean themselves',
    between(1, MAX_SOUGHT),
    example('IN-204817'),
  )
  q!: string;
}

/** A thing that was found. */
export class Found {
  @OneOf('What it is', FOUND_KINDS, example('exchange')) kind!: FoundKind;
  @Text('What it is and in which state, as a sentence without its end', example('POST createTicket, refused 422'))
  sentence!: string;
  @Text('More about it', optional, example('The platform has no material with this id for your hauler.'))
  detail?: string;
  @Flag('Present if it is a call that was refused or failed', optional) failed?: boolean;
  @Time('When it was received, made or last changed', optional) at?: string;
  @Nested('Its hauler', AttentionHauler, optional) hauler?: AttentionHauler;
  @Text('Path of the console page that shows it', example('/console/exchanges?id=019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d'))
  page!: string;
}

/** Without pages: a search for more than some is no search. */
export class SearchResults {
  @NestedList('At most 20, what is stored before the calls that name it', Found) data!: Found[];
  @TextList('What was looked for, also where nothing was found', example(['a ticket with this number']))
  lookedFor!: string[];
}

/** One look for all that has a number, a name or an id. */
export const SEARCH_ROUTES = {
  search: route(FOR_VIEWERS, 'GET', '/search', {
    summary: 'Find a thing by its number, name or id',
    description:
      'Numbers, trucks and ids are compared whole, in upper and lower case too; names of accounts and haulers by any part of them. A refused push is found by the ticket number that it named, while its exchange is kept.',
    query: SearchQuery,
    response: SearchResults,
    returns: 'What was found',
  }),
} as const satisfies AdminRoutes;
