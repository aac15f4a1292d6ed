import type { StoredAction } from '../../auth/action-log.repository.js';
import type { Action } from '../../contracts/admin/actions.routes.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { ApiRoute } from '../../contracts/common/api-contract.js';
import { PARTNER_API } from '../../contracts/partner/partner.api.js';
import type { NamedThing } from './action-names.repository.js';

type Changes = NonNullable<Action['changes']>;

/** What was done, with the thing within the sentence where it has one. */
type Phrase = (thing: string, changes: Changes) => string;

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

/** Of the calls of both APIs, by the name of their action. */
const SUMMARIES: ReadonlyMap<string, string> = new Map(
  [ADMIN_API, PARTNER_API]
    .flatMap(({ routes }) => Object.values<ApiRoute>(routes))
    .map(({ action, operation, summary }) => [action ?? operation, summary]),
);

const PAST: Readonly<Record<string, string>> = { Hold: 'held', Say: 'said', Send: 'sent', Set: 'set', Try: 'tried' };

/** `Revoke an API key` as "revoked an API key: the key of Lone Star Hauling". */
function summaryPhrase(summary: string, hasId: boolean): Phrase {
  const [verb = '', ...rest] = summary.split(' ');
  const done = PAST[verb] ?? `${verb.toLowerCase()}${verb.endsWith('e') ? 'd' : 'ed'}`;
  return (thing) => [done, ...rest].join(' ') + (hasId ? `: ${thing}` : '');
}

/** What happened without a change, and the calls whose changes say more than their summary. */
const PHRASES: Readonly<Record<string, Phrase>> = {
  updateConnection: connectionChange,
  setOutbound: (_thing, { enabled }) => `switched calls to partners ${enabled === true ? 'on' : 'off'}`,
  'actions.exported': (thing) => `exported ${thing}`,
  'recording.viewed': (thing) => `viewed ${thing}`,
  'recording.downloaded': (thing) => `downloaded ${thing}`,
  'exchange.viewed': (thing) => `viewed ${thing}`,
  'hold.exported': (thing) => `downloaded all that is kept by ${thing}`,
  'share.viewed': (thing, { address }) => `opened ${thing} from ${String(address)}`,
};

function phraseOf(action: string, hasId: boolean): Phrase {
  const summary = SUMMARIES.get(action);
  return (
    PHRASES[action] ??
    (summary === undefined ? (thing) => `called ${action} on ${thing}` : summaryPhrase(summary, hasId))
  );
}

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

export function actorName({ actor, person }: StoredAction, things: ReadonlyMap<string, NamedThing>): string {
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
  const what = phraseOf(action, id !== '')(kind === 'hauler' && thing !== undefined ? name : `the ${name}`, changes);
  return {
    ...stored,
    // A call that failed may have changed something.
    sentence:
      error === undefined
        ? `${actorName(stored, things)} ${what}.`
        : `${actorName(stored, things)} sent a call that failed (${error.replace(/\.$/, '')}), and may have ${what}.`,
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
