import type { StoredAction } from '../../auth/action-log.repository.js';
import type { Action } from '../../contracts/admin/action.dto.js';
import type { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { PARTNER_API } from '../../contracts/partner/partner.api.js';
import type { NamedThing } from './action-names.repository.js';

type ChangingRoute<Routes> = {
  [Name in keyof Routes]: Routes[Name] extends { readonly method: 'GET' } | { readonly action: string } ? never : Name;
}[keyof Routes];
type Operation = ChangingRoute<(typeof ADMIN_API)['routes']> | ChangingRoute<(typeof PARTNER_API)['routes']>;

type Changes = NonNullable<Action['changes']>;
type Phrase = (thing: string, changes: Changes) => string;

const verb =
  (words: string): Phrase =>
  (thing) =>
    `${words} ${thing}`;

const scenario = (words: string): Phrase => {
  return (thing, { name }) => `${words} the scenario ${typeof name === 'string' ? `${name} ` : ''}for ${thing}`;
};

/** A change of a connection, by its key or its only field: a form sends the others as they were. */
function connectionChange(thing: string, changes: Changes): string {
  if ('apiKey' in changes) return `${'baseUrl' in changes ? 'set the address and' : 'replaced'} the key of ${thing}`;
  if ('nextApiKey' in changes) {
    return `${changes['nextApiKey'] === null ? 'removed' : 'stored'} the next key of ${thing}`;
  }
  const [first, ...others] = Object.keys(changes);
  if (first === 'enabled' && others.length === 0) return `${changes[first] === false ? 'paused' : 'resumed'} ${thing}`;
  return `changed ${thing}`;
}

/** What each call that changes something does. The compiler asks for a phrase for a new one. */
const PHRASES: Readonly<Record<Operation, Phrase>> = {
  endSession: verb('ended'),
  createHauler: verb('created'),
  issueApiKey: verb('issued'),
  rotateApiKey: verb('issued the successor of'),
  revokeApiKey: verb('revoked'),
  createConnection: verb('created'),
  updateConnection: connectionChange,
  deleteConnection: verb('deleted'),
  checkConnection: verb('checked'),
  syncConnection: verb('started a synchronisation of'),
  confirmSyncRun: verb('confirmed the removals of'),
  rejectSyncRun: verb('kept the stored data in'),
  setTicketFootage: verb('set where the footage of tickets is for'),
  deleteTicketFootageSetting: verb('deleted where the footage of tickets is for'),
  createRecordingShare: verb('made a link that shares'),
  revokeShare: verb('revoked'),
  requestTicketFootage: verb('requested the missing footage of'),
  createVideoRequest: verb('requested'),
  retryVideoRequest: verb('requested again'),
  createVideoSubscription: verb('created'),
  updateVideoSubscription: verb('changed'),
  readVideoSubscriptionAgain: verb('had the lists read again of'),
  deleteVideoSubscription: verb('ended'),
  retryRecording: verb('had fetched again'),
  retryOwnRecording: verb('had fetched again'),
  retryRecordings: () => 'had recordings fetched again',
  createHold: verb('created'),
  releaseHold: verb('released'),
  createErasure: verb('started'),
  setHaulerRetention: verb('set the retention of'),
  replayExchange: verb('sent again'),
  replayExchanges: () => 'sent exchanges again',
  setOutbound: (_thing, { enabled }) => `switched calls to partners ${enabled === true ? 'on' : 'off'}`,
  repairStorage: () => 'repaired the video storage',
  runRetention: () => 'deleted stored video by age',
  createWebhookEndpoint: verb('created'),
  createOwnWebhookEndpoint: verb('created'),
  updateWebhookEndpoint: verb('changed'),
  updateOwnWebhookEndpoint: verb('changed'),
  deleteWebhookEndpoint: verb('deleted'),
  deleteOwnWebhookEndpoint: verb('deleted'),
  testWebhookEndpoint: verb('tested'),
  testOwnWebhookEndpoint: verb('tested'),
  rotateWebhookSecret: verb('rotated the secret of'),
  rotateOwnWebhookSecret: verb('rotated the secret of'),
  retryWebhookDelivery: verb('had delivered again'),
  retryOwnWebhookDelivery: verb('had delivered again'),
  retryWebhookDeliveries: () => 'had failed webhook deliveries delivered again',
  poke: () => 'said that something is ready',
  replaceHostedSiteData: verb('replaced the site data that the reference partner serves for'),
  setHostedCamera: () => 'set a camera of the reference partner',
  uploadHostedRecording: () => 'uploaded a recording to the reference partner',
  startScenario: scenario('started'),
  startOwnScenario: scenario('started'),
  endScenario: scenario('ended'),
  endOwnScenario: scenario('ended'),
  advanceClock: verb('moved the clock of the reference partner for'),
  advanceOwnClock: verb('moved the clock of the reference partner for'),
};

/** Calls whose action has another name than the operation, and what happened without a call. */
const EVENTS: Readonly<Record<string, Phrase>> = {
  'actions.exported': verb('exported'),
  'accounts.imported': (thing, { created }) =>
    `imported ${typeof created === 'number' ? `${created} ` : ''}accounts for ${thing}`,
  'recording.viewed': verb('viewed'),
  'recording.downloaded': verb('downloaded'),
  'exchange.viewed': verb('viewed'),
  'hold.exported': verb('downloaded all that is kept by'),
  'share.viewed': (thing, { address }) => `opened ${thing} from ${String(address)}`,
};

const isOperation = (action: string): action is Operation => Object.hasOwn(PHRASES, action);

/** `connection:<id>` in its parts; the id may contain colons. */
export function partsOf(resource: string): { readonly kind: string; readonly id: string } {
  const end = resource.indexOf(':');
  return end === -1 ? { kind: resource, id: '' } : { kind: resource.slice(0, end), id: resource.slice(end + 1) };
}

const PARTNER = 'partner:';
const TOKEN = 'token:';

/** The prefix of the key of a partner; undefined for an admin. */
export const prefixOf = (actor: string): string | undefined =>
  actor.startsWith(PARTNER) ? actor.slice(PARTNER.length) : undefined;

const ACTORS: Readonly<Record<string, string>> = {
  admin: 'An admin with the token',
  console: 'An admin in the console',
  reader: 'The read-only token',
  share: 'Someone with a link',
};

function actorName({ actor, person }: StoredAction, things: ReadonlyMap<string, NamedThing>): string {
  if (person !== undefined) {
    const { subject, name = person.email ?? subject, email } = person;
    return email === undefined || email === name ? name : `${name} (${email})`;
  }
  if (actor.startsWith(TOKEN)) return `The token ${actor.slice(TOKEN.length)}`;
  const prefix = prefixOf(actor);
  if (prefix === undefined) return ACTORS[actor] ?? actor;
  const { hauler = null, detail = null } = things.get(`caller:${prefix}`) ?? {};
  return `${hauler ?? 'A partner'} with the key ${prefix}…${detail === null ? '' : ` (${detail})`}`;
}

const NOUNS: Readonly<Record<string, string>> = {
  action: 'action log',
  hosted: 'recording of the reference partner',
  'api-key': 'key',
  'sync-run': 'synchronisation',
  'video-request': 'clip',
  'video-subscription': 'subscription',
  share: 'link',
  'webhook-endpoint': 'webhook endpoint',
  'webhook-delivery': 'webhook delivery',
};

/** `site connection of Lone Star Hauling` */
function nameOf({ kind, id, hauler, detail }: NamedThing): string {
  const of = hauler === null ? '' : ` of ${hauler}`;
  if (kind === 'hauler') return hauler ?? id;
  if (kind === 'connection') return `${detail} connection${of}`;
  if (kind === 'sync-run') return `synchronisation${of}`;
  if (kind === 'api-key') return `key ${detail}${of}`;
  if (kind === 'exchange') return `exchange ${detail}${of}`;
  return `${NOUNS[kind] ?? kind} of ${detail ?? id}${of}`;
}

/** Who did what, on which thing. `things` are the known ones by kind and id. */
export function toAction(stored: StoredAction, things: ReadonlyMap<string, NamedThing>): Action {
  const { action, resource, changes = {}, error } = stored;
  const { kind, id } = partsOf(resource);
  const thing = things.get(`${kind}:${id}`);
  const noun = NOUNS[kind] ?? kind;
  const name = thing === undefined ? (id === '' ? noun : `${noun} ${id}`) : nameOf(thing);
  const phrase: Phrase = isOperation(action) ? PHRASES[action] : (EVENTS[action] ?? verb(`called ${action} on`));
  const what = phrase(kind === 'hauler' && thing !== undefined ? name : `the ${name}`, changes);
  return {
    ...stored,
    // A call that failed may have changed something.
    sentence:
      error === undefined
        ? `${actorName(stored, things)} ${what}.`
        : `${actorName(stored, things)} sent a call that failed, and may have ${what}: ${error.replace(/\.$/, '')}.`,
    subject: {
      kind,
      name,
      ...(id === '' ? {} : { id }),
      ...(thing?.hauler_id == null || thing.hauler === null
        ? {}
        : { hauler: { id: thing.hauler_id, name: thing.hauler } }),
    },
  };
}
