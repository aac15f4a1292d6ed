import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Marks a request that this process sends to itself as a replay. A caller cannot know its value. */
export const REPLAY_HEADER = 'x-haulbridge-replay';

const originals = new Map<string, string>();

/** Returns the value of the header for a replay of an exchange, and the function that ends its validity. */
export function markReplay(exchangeId: string): { readonly mark: string; readonly forget: () => void } {
  const mark = randomUUID();
  originals.set(mark, exchangeId);
  return { mark, forget: () => void originals.delete(mark) };
}

/** The exchange that a request replays. */
export function replayIn({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const mark = headers[REPLAY_HEADER];
  return typeof mark === 'string' ? originals.get(mark) : undefined;
}
