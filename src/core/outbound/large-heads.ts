import type { Agent, ClientRequest } from 'node:http';
import { MAX_HEAD_BYTES } from '../../contracts/common/answer-limits.js';

/** What Node.js hands over to an agent; it is not part of its types. */
interface RequestQueue {
  addRequest(request: ClientRequest & { maxHeaderSize?: number | undefined }, ...rest: unknown[]): void;
}

/**
 * The agent, whose requests read heads of up to `MAX_HEAD_BYTES`. Node.js has the limit as an option of a single request, which
 * the clients of S3 and axios do not pass on, or as a flag of the process, which would also widen what our own server reads.
 */
export function readLargeHeads<A extends Agent>(agent: A): A {
  const queue = agent as A & RequestQueue;
  const add = queue.addRequest.bind(agent);
  queue.addRequest = (request, ...rest) => {
    request.maxHeaderSize = MAX_HEAD_BYTES;
    add(request, ...rest);
  };
  return agent;
}
