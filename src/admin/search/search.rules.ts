import type { Found, FoundKind } from '../../contracts/admin/search.routes.js';
import type { Reference, ReferenceKind } from '../../contracts/common/references.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { timeOfUuidv7 } from '../../core/database/uuid.js';
import type { ExchangeListRow } from '../../exchanges/exchanges.repository.js';
import { reasonSentence } from '../../exchanges/explanation.rules.js';
import { consolePage } from '../attention/attention.rules.js';
import type { FoundRow, SoughtText } from './search.repository.js';

/** What is looked for, as it is said where nothing was found. */
export const LOOKS = {
  id: 'a thing of this service with this id, and a site, kiosk or material with this id of the partner',
  calls: 'a call with this request id, or one that names this number or id',
  numbers: 'a ticket with this number, a truck, an account, a hold of this case, a clip with this id of the partner',
  names: 'an account or a hauler whose name contains it, and a key that begins so',
} as const;

/** A hauler is not looked for by less. */
const MIN_NAME = 3;

/** As it was typed, and in upper and lower case: people type `truck-7`. */
export const spellingsOf = (text: string): string[] => [...new Set([text, text.toUpperCase(), text.toLowerCase()])];

export const soughtText = (text: string, keyPrefix: string, accountPattern: string): SoughtText => ({
  spellings: spellingsOf(text),
  haulerPattern: [...text].length < MIN_NAME ? null : `%${text.replace(/[\\%_]/g, '\\$&')}%`,
  accountPattern,
  keyPrefix,
});

/** Few exchanges name one of these; a site or a truck is named by most. */
const IDS: readonly ReferenceKind[] = [
  ...(['ticketId', 'accountId', 'videoRequestId', 'recordingId', 'syncRunId'] as const),
  ...(['partnerRequestId', 'partnerRecordingId', 'idempotencyKey', 'ticketNumber'] as const),
];
const NUMBERS: readonly ReferenceKind[] = [
  ...(['ticketNumber', 'accountName', 'partnerRequestId', 'partnerRecordingId', 'idempotencyKey'] as const),
];

/** What an exchange may name. */
export const referencesOf = (text: string, isId: boolean): Reference[] =>
  (isId ? IDS : NUMBERS).flatMap((kind) => spellingsOf(text).map((value) => ({ kind, value })));

const SENTENCES: Readonly<Record<Exclude<FoundKind, 'exchange'>, (row: FoundRow) => string>> = {
  ticket: ({ name, more }) => `Ticket ${name ?? 'without a number'}${more === '1' ? '' : `, revision ${more}`}`,
  account: ({ name, more }) => `Account ${more}, ${name}`,
  truck: ({ truck_id: truck, name }) => `Truck ${truck}${name === null ? '' : `, camera ${name}`}`,
  clip: ({ truck_id: truck, name }) => `Clip request of ${truck}, camera ${name}`,
  recording: ({ truck_id: truck, name }) => `Recording of ${truck}, camera ${name}`,
  hold: ({ name, truck_id: truck }) => `Hold of ${truck} for ${name}`,
  connection: ({ name }) => `${name === 'site' ? 'Site' : 'Vision'} connection`,
  run: () => 'Synchronisation',
  hauler: ({ name }) => `Hauler ${name}`,
  key: ({ name }) => `Key ${name}…`,
  site: ({ name }) => `Site ${name}`,
  kiosk: ({ name }) => `Kiosk ${name}`,
  material: ({ name }) => `Material ${name}`,
  erasure: () => 'Erasure',
  webhook: ({ name }) => `Webhook endpoint ${name}`,
  delivery: ({ name }) => `Webhook delivery of ${name}`,
};

/** The detail where it says something to people. */
const SAYS_MORE: ReadonlySet<FoundKind> = new Set(['run', 'clip', 'recording', 'hold', 'connection', 'key', 'webhook']);

type Page = readonly [page: string, query: Readonly<Record<string, string>>];

const connection = ({ connection_id: id }: FoundRow) => id ?? '';

const PAGES: Readonly<Record<Exclude<FoundKind, 'exchange'>, (row: FoundRow) => Page>> = {
  ticket: ({ id }) => ['tickets', { id }],
  account: ({ id }) => ['accounts', { id }],
  truck: (row) => ['coverage', { connectionId: connection(row), truckId: row.truck_id ?? '' }],
  clip: ({ id }) => ['clips', { id }],
  recording: ({ id }) => ['recordings', { play: id }],
  hold: ({ id }) => ['holds', { id }],
  connection: ({ id }) => ['connections', { id }],
  run: ({ id }) => ['sync', { run: id }],
  hauler: ({ id }) => ['haulers', { id }],
  key: ({ hauler_id: id }): Page => ['keys', id === null ? {} : { haulerId: id }],
  site: ({ id }) => ['tickets', { siteId: id }],
  kiosk: (row) => ['sync', { connectionId: connection(row) }],
  material: ({ id }) => ['exchanges', { reference: `materialId:${id}` }],
  erasure: ({ id }) => ['retention', { erasure: id }],
  webhook: ({ id }) => ['webhooks', { endpoint: id }],
  delivery: ({ more }) => ['webhooks', { endpoint: more ?? '' }],
};

const ofHauler = (id: string | null, name: string | null | undefined) =>
  id === null || name == null ? {} : { hauler: { id, name } };

export function foundThing(row: FoundRow): Found {
  const { kind, state, more, at, hauler_id: haulerId, hauler } = row;
  if (kind === 'exchange') throw new TypeError('an exchange is no row of the search');
  return {
    kind,
    sentence: `${SENTENCES[kind](row)}${state === null ? '' : `, ${state}`}`,
    ...(more === null || !SAYS_MORE.has(kind) ? {} : { detail: more }),
    ...(at === null ? {} : { at: formatInstant(at) }),
    ...(kind === 'hauler' ? {} : ofHauler(haulerId, hauler)),
    page: consolePage(...PAGES[kind](row)),
  };
}

/** What became of a call. */
function outcomeOf({ status, reason, result, direction }: ExchangeListRow): string {
  if (status === 0) return 'no response';
  if (reason === null) return `${status}${result === null ? '' : ` ${result}`}`;
  return `${direction === 'inbound' && status >= 400 && status < 500 ? 'refused' : 'failed'} ${status}`;
}

export function foundExchange(row: ExchangeListRow, haulers: ReadonlyMap<string, string>): Found {
  const { id, method, route, path, reason, hauler_id: haulerId } = row;
  return {
    kind: 'exchange',
    sentence: `${method} ${route ?? path.split('?')[0]}, ${outcomeOf(row)}`,
    ...(reason === null ? {} : { detail: reasonSentence({ ...row, reason }), failed: true }),
    at: formatInstant(new Date(timeOfUuidv7(id))),
    ...ofHauler(haulerId, haulers.get(haulerId ?? '')),
    page: consolePage('exchanges', { id }),
  };
}
