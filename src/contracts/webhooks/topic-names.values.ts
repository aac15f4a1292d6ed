/** Sent once for each change of a state: while it lasts, they are not sent again. People get these alone. */
export const STATE_TOPICS = [
  'recording.at_risk',
  'sync.held',
  'sync.failed',
  'sync.recovered',
  'connection.refused',
  'connection.recovered',
  'key.expiring',
  'key.expired',
] as const;

/** What an endpoint can ask for, in the order in which it is offered. Without the sentences: the console has the names alone. */
export const TOPIC_NAMES = [
  'ticket.created',
  'ticket.updated',
  'ticket.refused',
  'account.created',
  'clip.stored',
  'clip.failed',
  'clip.expired',
  'recording.at_risk',
  'recording.failed',
  'sync.held',
  'sync.failed',
  'sync.recovered',
  'connection.refused',
  'connection.recovered',
  'key.expiring',
  'key.expired',
] as const;
export type TopicName = (typeof TOPIC_NAMES)[number];

export const isStateTopic = (name: string): boolean => STATE_TOPICS.some((each) => each === name);
