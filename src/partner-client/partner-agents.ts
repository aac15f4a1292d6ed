import type { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { guardedAgents, type OutboundPolicy } from '../outbound/address-guard.js';

/** No connection stood in time. */
class ConnectTimeout extends Error {
  readonly code = 'CONNECT_TIMEOUT';
  constructor() {
    super('no connection in time');
    this.name = 'ConnectTimeout';
  }
}

/** Agents of all calls to partners: guarded addresses, connections kept for the next call, a limit on connecting. */
export function partnerAgents(policy: OutboundPolicy, connectMs: number) {
  const agents = guardedAgents(policy, { keepAlive: true, maxFreeSockets: 8 });
  limitConnecting(agents.httpAgent, 'connect', connectMs);
  limitConnecting(agents.httpsAgent, 'secureConnect', connectMs);
  return agents;
}

/** Node's own `timeout` of a socket counts silence only, and neither it nor axios has one for connecting. */
function limitConnecting(agent: Agent, connected: string, connectMs: number): void {
  const create = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const socket = create(options, callback) as Socket | null | undefined;
    if (socket) {
      const timer = setTimeout(() => socket.destroy(new ConnectTimeout()), connectMs);
      const stop = () => clearTimeout(timer);
      socket.once(connected, stop).once('close', stop);
    }
    return socket;
  };
}
