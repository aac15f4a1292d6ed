import type { EventData, TopicName } from '../contracts/webhooks/topics.js';

/** What states are about; each is looked at as a whole. */
export type Family = 'sync' | 'connection' | 'recording' | 'key';

/** A state that lasts. */
export interface LastingState {
  /** `sync:<id of the connection>`: what it is about. */
  readonly subject: string;
  readonly topic: TopicName;
  readonly haulerId: string | null;
  readonly connectionId?: string;
  /** Of a key, the first one of its rotations. */
  readonly firstKeyId?: string;
  readonly data: EventData;
}

export interface AnnouncedState {
  readonly endpoint_id: string;
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

/** What was seen. */
export interface Seen {
  /** Families that could be looked at. What is announced of others stays as it is. */
  readonly families: ReadonlySet<Family>;
  readonly lasting: readonly LastingState[];
  /** Subjects of which it is known that they are well again, with what is sent. The others end silently. */
  readonly recovered: ReadonlyMap<
    string,
    { readonly topic: TopicName; readonly haulerId: string; readonly data: EventData }
  >;
  /** Subjects of which nothing can be said, such as a connection that is switched off. */
  readonly undecided: ReadonlySet<string>;
}

interface Changes {
  readonly sent: { readonly endpointId: string; readonly topic: TopicName; readonly data: EventData }[];
  readonly announced: AnnouncedState[];
  readonly ended: AnnouncedState[];
}

const familyOf = (subject: string) => subject.slice(0, subject.indexOf(':')) as Family;

function concerns(endpoint: StateEndpoint, state: LastingState): boolean {
  if (!endpoint.topics.includes(state.topic)) return false;
  // The endpoints of a partner's key get what concerns this key alone.
  if (endpoint.key_id !== null && state.firstKeyId !== undefined) return endpoint.key_id === state.firstKeyId;
  if (endpoint.hauler_id !== null && endpoint.hauler_id !== state.haulerId) return false;
  return endpoint.connection_id === null || endpoint.connection_id === state.connectionId;
}

const withHauler = (haulerId: string | null, data: EventData): EventData =>
  haulerId === null ? data : { haulerId, ...data };

/** What to send to which endpoint, so that each gets a change once, and "recovered" only of what it got before. */
export function changesOf(
  endpoints: readonly StateEndpoint[],
  before: readonly AnnouncedState[],
  { families, lasting, recovered, undecided }: Seen,
): Changes {
  const changes: Changes = { sent: [], announced: [], ended: [] };
  const known = new Map(before.map((state) => [`${state.endpoint_id} ${state.subject}`, state]));
  const lastingSubjects = new Set(lasting.map(({ subject }) => subject));
  for (const endpoint of endpoints) {
    for (const state of lasting) {
      const { subject, topic, haulerId, data } = state;
      if (!concerns(endpoint, state) || known.get(`${endpoint.id} ${subject}`)?.topic === topic) continue;
      changes.sent.push({ endpointId: endpoint.id, topic, data: withHauler(haulerId, data) });
      changes.announced.push({ endpoint_id: endpoint.id, subject, topic });
    }
  }
  for (const state of before) {
    const { subject, endpoint_id: endpointId } = state;
    if (lastingSubjects.has(subject) || undecided.has(subject) || !families.has(familyOf(subject))) continue;
    changes.ended.push(state);
    const well = recovered.get(subject);
    const endpoint = endpoints.find(({ id }) => id === endpointId);
    if (well === undefined || endpoint?.topics.includes(well.topic) !== true) continue;
    changes.sent.push({ endpointId, topic: well.topic, data: withHauler(well.haulerId, well.data) });
  }
  return changes;
}
