// Calls on many connections, as fast as they are answered, until the process ends. In a process of its own, so that its
// load does not delay what the test measures. Argument: a JSON array of `LoudCaller`, see loud-calls.ts.
import { Agent, request } from 'node:http';

const MIB = 1024 * 1024;
const counts = {};
let sent = 0;

const material = (id, more) => ({ id, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton', ...more });
const ticket = ({ siteId, materialId }, more) => ({
  siteId,
  materials: [material(materialId)],
  inboundFlow: { ticketNumber: 'NUMBER----------', updatedAt: '2026-01-31T08:30:00Z' },
  ...more,
});
const materials = (length, id, more) => Array.from({ length }, () => material(id, more));

/** Bodies of less than 1 MiB, each with the same place for a number. */
const KINDS = {
  small: (caller) => ticket(caller),
  bulk: (caller) => ticket(caller, { bulk: 'x'.repeat(MIB - 2_000) }),
  materials: (caller) => ticket(caller, { materials: materials(1_000, caller.materialId, { name: 'n'.repeat(255) }) }),
  fields: (caller) => ticket(caller, { extra: Array.from({ length: 50_000 }, (_, i) => ({ field: i })) }),
  refused: (caller) => ticket(caller, { materials: materials(9_000, caller.materialId, { quantity: 'x' }) }),
  medium: (caller) => ticket(caller, { materials: materials(100, caller.materialId, { quantity: 'x' }) }),
  unknown: (caller) => ticket(caller, { siteId: caller.materialId, materials: materials(1_000, caller.siteId) }),
  account: () => ({ accountName: 'NUMBER----------', bulk: 'x'.repeat(MIB - 2_000) }),
  read: () => undefined,
};

function start(caller, index) {
  const { url, path, headers, connections, kind, keyed } = caller;
  const { hostname: host, port } = new URL(url);
  const template = Buffer.from(JSON.stringify(KINDS[kind](caller)) ?? '');
  const place = template.indexOf('NUMBER----------');
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const method = kind === 'read' ? 'GET' : 'POST';
  const fixed = { ...headers, ...(method === 'GET' ? {} : { 'content-type': 'application/json' }) };
  const push = () => {
    const body = Buffer.from(template);
    const number = `${process.pid}-${index}-${++sent}`;
    if (place >= 0) body.write(number.padEnd(16, '-').slice(0, 16), place);
    const own = { 'content-length': body.length, ...(keyed ? { 'idempotency-key': number } : {}) };
    const call = request({ agent, host, port, path, method, headers: { ...fixed, ...own } }, (response) => {
      const { statusCode } = response;
      response.resume().once('close', () => {
        counts[statusCode] = (counts[statusCode] ?? 0) + 1;
        // A refused caller waits a little, as a client that honours Retry-After in part.
        setTimeout(push, statusCode === 503 ? 50 : 0);
      });
    });
    call.once('error', () => setTimeout(push, 50));
    call.end(body);
  };
  for (let i = 0; i < connections; i++) push();
}

JSON.parse(process.argv[2]).forEach(start);
process.on('SIGTERM', () => {
  process.stdout.write(`${JSON.stringify(counts)}\n`, () => process.exit(0));
});
process.on('disconnect', () => process.exit(0));
process.stdout.write('ready\n');
