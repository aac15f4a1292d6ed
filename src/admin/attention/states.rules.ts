import type { AttentionKind } from '../../contracts/admin/attention.routes.js';
import type { EventData, TopicName } from '../../contracts/webhooks/topics.values.js';
import type { Notice } from './attention.rules.js';

/** What states are about: the first part of their topics, with the kinds of notices that have them. */
const FAMILIES = {
  sync: { kinds: ['held-runs', 'failing-runs'], over: 'sync.recovered' },
  connection: { kinds: ['refused-keys'], over: 'connection.recovered' },
  recording: { kinds: ['downloads-at-risk'], over: undefined },
  key: { kinds: ['expiring-keys'], over: undefined },
} as const satisfies Record<
  string,
  {
    readonly kinds: readonly AttentionKind[];
    /** What announces the end of a state; without it the end is silent. */
    readonly over: TopicName | undefined;
  }
>;
type Family = keyof typeof FAMILIES;
const FAMILY_NAMES = Object.keys(FAMILIES) as Family[];

/** The kinds whose items are announced. */
export const ANNOUNCED_KINDS: readonly AttentionKind[] = Object.values(FAMILIES).flatMap(({ kinds }) => kinds);

export interface AnnouncedState {
  readonly endpoint_id: string;
  /** `sync:<id of the connection>`: what it is about. */
  readonly subject: string;
  readonly topic: TopicName;
}

export interface StateEndpoint {
  readonly id: string;
  readonly hauler_id: string | null;
  readonly connection_id: string | null;
  readonly key_id: string | null;
  readonly topics: readonly TopicName[];
}

/** A connection that is not deleted, with its last ended synchronisation. */
export interface ConnectionState {
  readonly id: string;
  readonly hauler_id: string;
  readonly enabled: boolean;
  readonly run_id: string | null;
  readonly run_status: string | null;
}

/** What was seen. */
export interface Seen {
  readonly notices: readonly Notice[];
  /** Kinds that could be checked. What is announced of others stays as it is. */
  readonly checked: ReadonlySet<AttentionKind>;
  /** Those of which something was announced that is seen no more. */
  readonly connections: readonly ConnectionState[];
}

/** A change of one state for one endpoint: what is stored, and what is sent with it. */
export interface Change {
  readonly endpointId: string;
  readonly subject: string;
  /** Undefined: the state has ended. */
  readonly announced?: TopicName;
  /** Undefined: it ends without a message. */
  readonly sent?: { readonly topic: TopicName; readonly data: EventData };
}

interface LastingState {
  readonly subject: string;
  readonly topic: TopicName;
  readonly haulerId: string | null;
  readonly connectionId: string | undefined;
  readonly firstKeyId: string | undefined;
  readonly data: EventData;
}

const familyNamed = (name: string | undefined): Family | undefined => FAMILY_NAMES.find((each) => each === name);
const familyOf = (subject: string): Family | undefined => familyNamed(subject.split(':')[0]);

/** The last part of `sync:<id>` and `connection:<id>`. */
const connectionIdOf = (subject: string): string => subject.slice(subject.indexOf(':') + 1);

/** One notice of a subject stands for all: a partner that refuses a key refuses it for each operation. */
function lastingOf(notices: readonly Notice[]): ReadonlyMap<string, LastingState> {
  return new Map(
    notices.flatMap(({ state, haulerId = null, connection }) => {
      if (state === undefined) return [];
      const { topic, about, data, firstKeyId } = state;
      const subject = `${topic.split('.')[0] ?? ''}:${about}`;
      return [[subject, { subject, topic, haulerId, connectionId: connection?.id, firstKeyId, data }] as const];
    }),
  );
}

/** The ids of connections of which something was announced that is seen no more. */
export function endedConnections(before: readonly AnnouncedState[], notices: readonly Notice[]): string[] {
  const lasting = lastingOf(notices);
  const over = before.filter(({ subject }) => /^(sync|connection):/.test(subject) && !lasting.has(subject));
  return [...new Set(over.map(({ subject }) => connectionIdOf(subject)))];
}

function concerns(endpoint: StateEndpoint, state: LastingState): boolean {
  if (!endpoint.topics.includes(state.topic)) return false;
  // The endpoints of a partner's key get what concerns this key alone.
  if (endpoint.key_id !== null && state.firstKeyId !== undefined) return endpoint.key_id === state.firstKeyId;
  if (endpoint.hauler_id !== null && endpoint.hauler_id !== state.haulerId) return false;
  return endpoint.connection_id === null || endpoint.connection_id === state.connectionId;
}

const withHauler = (haulerId: string | null, data: EventData): EventData =>
  haulerId === null ? data : { haulerId, ...data };

/** What to announce to which endpoint, so that each gets a change once, and "recovered" only of what it got before. */
export function changesOf(
  endpoints: readonly StateEndpoint[],
  before: readonly AnnouncedState[],
  { notices, checked, connections }: Seen,
): Change[] {
  const lasting = lastingOf(notices);
  const known = new Map(before.map((state) => [`${state.endpoint_id} ${state.subject}`, state.topic]));
  const begun = endpoints.flatMap((endpoint) =>
    [...lasting.values()].flatMap((state): Change[] => {
      const { subject, topic, haulerId, data } = state;
      if (!concerns(endpoint, state) || known.get(`${endpoint.id} ${subject}`) === topic) return [];
      return [
        { endpointId: endpoint.id, subject, announced: topic, sent: { topic, data: withHauler(haulerId, data) } },
      ];
    }),
  );
  const ended = before.flatMap(({ subject, endpoint_id: endpointId }): Change[] => {
    const family = familyOf(subject);
    if (family === undefined || lasting.has(subject)) return [];
    if (!FAMILIES[family].kinds.every((kind) => checked.has(kind))) return [];
    const connection = connections.find(({ id }) => id === connectionIdOf(subject));
    // A connection that is switched off, or whose last run a scenario of the sandbox let fail, works no better than before.
    if (connection !== undefined && !hasRecovered(family, connection)) return [];
    const { over } = FAMILIES[family];
    const isSent = over !== undefined && endpoints.find(({ id }) => id === endpointId)?.topics.includes(over) === true;
    if (!isSent || connection === undefined) return [{ endpointId, subject }];
    const { id: connectionId, hauler_id: haulerId, run_id: syncRunId } = connection;
    const data: EventData = family === 'sync' ? { haulerId, connectionId, syncRunId } : { haulerId, connectionId };
    return [{ endpointId, subject, sent: { topic: over, data } }];
  });
  return [...begun, ...ended];
}

function hasRecovered(family: Family, { enabled, run_status: status }: ConnectionState): boolean {
  if (family === 'sync') return status !== 'failed';
  return family !== 'connection' || enabled;
}
