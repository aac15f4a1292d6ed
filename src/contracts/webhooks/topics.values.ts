import { isStateTopic, TOPIC_NAMES, type TopicName } from './topic-names.values.js';

export { TOPIC_NAMES, type TopicName };

/** The ids of an event. The truth is read by the API: a body never has more than what names it. */
export type EventData = Readonly<Record<string, string | number | null>>;

export interface Topic {
  /** When it is sent. */
  readonly description: string;
  /** `data` of an example body. */
  readonly data: EventData;
  /** One sentence for people; `{name}` stands for a member of `data`. */
  readonly sentence: string;
  readonly page: string;
  /** The call that returns the truth. */
  readonly readBy: string;
}

const HAULER = { haulerId: '5f0c1f2e-7a3b-4c8d-9e10-112233445566' };
const CONNECTION = { ...HAULER, connectionId: '0197a1d0-11aa-7c33-9b44-0f1e2d3c4b5a' };
const TICKET = { ...HAULER, ticketId: '0197a1c8-02d1-7c55-8a3e-5b7d9e1f2a34' };
const CLIP = {
  ...CONNECTION,
  videoRequestId: '0197a1c9-4bd2-7f10-9c0a-2f3e4d5c6b7a',
  truckId: 'TRUCK-7',
  cameraId: 'front',
};
const RUN = { ...CONNECTION, syncRunId: '0197a1ca-93c1-7d22-8b1f-3a4b5c6d7e8f' };
const KEY = {
  ...HAULER,
  keyId: '0197a1c8-02d1-7c55-8a3e-5b7d9e1f2a34',
  prefix: 'hb_7Kq2mZ9x',
  expiresAt: '2027-11-20T00:00:00Z',
};

const TICKETS = { page: 'tickets?id={ticketId}', readBy: 'GET /admin/v1/tickets/{ticketId}' };
const CLIPS = {
  data: CLIP,
  page: 'recordings?truckId={truckId}',
  readBy: 'GET /admin/v1/video-requests/{videoRequestId}',
};
const RUNS = {
  data: RUN,
  page: 'sync?run={syncRunId}&connectionId={connectionId}',
  readBy: 'GET /admin/v1/sync-runs/{syncRunId}',
};
const CONNECTIONS = {
  data: CONNECTION,
  page: 'connections?id={connectionId}',
  readBy: 'GET /admin/v1/connections/{connectionId}',
};
const KEYS = { data: KEY, page: 'keys', readBy: 'GET /admin/v1/api-keys' };

/** What an endpoint can ask for. `docs/webhooks.md` is made from it. */
export const TOPICS: Readonly<Record<TopicName, Topic>> = {
  'ticket.created': {
    ...TICKETS,
    description: 'A push created a ticket.',
    data: TICKET,
    sentence: 'Ticket {ticketId} was created.',
  },
  'ticket.updated': {
    ...TICKETS,
    description: 'A push changed a ticket. Pushes that change nothing, and stale ones, are not sent.',
    data: TICKET,
    sentence: 'Ticket {ticketId} was updated.',
  },
  'ticket.refused': {
    description: 'A push with a valid key was refused (400, 413, 415 or 422), and nothing was stored.',
    data: { ...HAULER, requestId: 'req-204817', exchangeId: '0197a1cb-5d7e-7a90-8c22-0a1b2c3d4e5f', status: 422 },
    sentence: 'A ticket push was refused with status {status}.',
    page: 'exchanges?id={exchangeId}',
    readBy: 'GET /admin/v1/exchanges/{exchangeId}',
  },
  'account.created': {
    description: 'A partner created an account.',
    data: { ...HAULER, accountId: '0197a1cc-1234-7b56-9a78-9b0c1d2e3f40' },
    sentence: 'Account {accountId} was created.',
    page: 'accounts?id={accountId}',
    readBy: 'GET /admin/v1/accounts/{accountId}',
  },
  'clip.stored': {
    ...CLIPS,
    description: 'The whole video of a clip request is stored.',
    sentence: 'The clip of truck {truckId}, camera {cameraId} is stored.',
  },
  'clip.failed': {
    ...CLIPS,
    description: 'A clip request failed.',
    sentence: 'The clip of truck {truckId}, camera {cameraId} failed.',
  },
  'clip.expired': {
    ...CLIPS,
    description: 'A clip request reached its deadline without the whole video.',
    sentence: 'The clip of truck {truckId}, camera {cameraId} expired.',
  },
  'recording.at_risk': {
    description:
      'Downloads of a truck fail, or their links expire within an hour. It is sent again only after none was at risk.',
    data: { ...CONNECTION, truckId: 'TRUCK-7' },
    sentence: 'Recordings of truck {truckId} are at risk.',
    page: 'recordings?connectionId={connectionId}&truckId={truckId}&status=available',
    readBy: 'GET /admin/v1/attention',
  },
  'recording.failed': {
    description: 'A continuous recording was given up: `reason` is the code of the list of recordings.',
    data: {
      ...CONNECTION,
      recordingId: '0197a1cd-6f70-7c81-8d92-1a2b3c4d5e6f',
      truckId: 'TRUCK-7',
      cameraId: 'front',
      reason: 'linkRefused',
    },
    sentence: 'A recording of truck {truckId}, camera {cameraId} failed: {reason}.',
    page: 'recordings?connectionId={connectionId}&truckId={truckId}',
    readBy: 'GET /admin/v1/recordings/{recordingId}',
  },
  'sync.held': {
    ...RUNS,
    description: 'The removals of a synchronisation wait for a decision.',
    sentence: 'A synchronisation holds removals that wait for a decision.',
  },
  'sync.failed': {
    ...RUNS,
    description: 'A synchronisation failed. Further failures in a row are not sent.',
    sentence: 'The synchronisation of sites failed.',
  },
  'sync.recovered': {
    ...RUNS,
    description: 'After `sync.held` or `sync.failed`: the last synchronisation ended well, or was decided.',
    sentence: 'The synchronisation of sites works again.',
  },
  'connection.refused': {
    ...CONNECTIONS,
    description: 'A partner refuses our key (401).',
    sentence: 'A partner refuses our key.',
  },
  'connection.recovered': {
    ...CONNECTIONS,
    description: 'After `connection.refused`: the partner accepts the key.',
    sentence: 'A partner accepts our key again.',
  },
  'key.expiring': {
    ...KEYS,
    description: 'A key that we issued expires within 14 days, and no successor is in use.',
    sentence: 'The key {prefix}… expires at {expiresAt}.',
  },
  'key.expired': {
    ...KEYS,
    description: 'A key that we issued has expired, and no successor is in use.',
    sentence: 'The key {prefix}… expired at {expiresAt}.',
  },
};

/** What the service sends about endpoints themselves; nobody asks for it. */
export const SERVICE_TOPICS = {
  'webhook.test': {
    description: 'Somebody tests the endpoint. It is tried once.',
    data: { endpointId: '0197a1ce-7081-7d92-8ea3-2b3c4d5e6f70' },
    sentence: 'This is a test of the endpoint {endpointId}.',
    page: 'webhooks?endpoint={endpointId}',
    readBy: 'GET /admin/v1/webhook-endpoints',
  },
  'webhook.disabled': {
    description:
      'An endpoint was disabled after 410, after five days of failures, or with the key of its partner. It goes once to each other endpoint of the operator: `reason` is `gone`, `failing` or `key-ended`.',
    data: { endpointId: '0197a1ce-7081-7d92-8ea3-2b3c4d5e6f70', reason: 'failing' },
    sentence: 'The webhook endpoint {endpointId} was disabled: {reason}.',
    page: 'webhooks?endpoint={endpointId}',
    readBy: 'GET /admin/v1/webhook-endpoints',
  },
} as const satisfies Readonly<Record<string, Topic>>;

type ServiceTopicName = keyof typeof SERVICE_TOPICS;
export type SentTopic = TopicName | ServiceTopicName;
export const SENT_TOPICS = [...TOPIC_NAMES, ...(Object.keys(SERVICE_TOPICS) as ServiceTopicName[])];

/** `isState`: sent once for each change. */
export const topicOf = (name: SentTopic): Topic & { readonly isState: boolean } => ({
  ...{ ...TOPICS, ...SERVICE_TOPICS }[name],
  isState: isStateTopic(name),
});

/** `template` with the members of `data`; `encode` makes each fit its place. */
export const filled = (template: string, data: EventData, encode: (value: string) => string = String): string =>
  template.replace(/\{(\w+)\}/g, (_all, name: string) => encode(String(data[name] ?? '')));
