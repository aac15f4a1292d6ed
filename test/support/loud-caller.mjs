// Calls on many connections, as fast as they are answered, until the process ends. In a process of its own, so that its
// load does not delay what the test measures. Argument: a JSON array of `LoudCaller`, see nightly/loud-hauler.
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
  materials: (caller) => ticket(caller, { materials: materials(1_000, caller.materialId, { name: 'n'.repeat(255) }) }),
  refused: (caller) => ticket(caller, { materials: materials(9_000, caller.materialId, { quantity: 'x' }) }),
  account: () => ({ accountName: 'NUMBER----------', bulk: 'x'.repeat(MIB - 2_000) }),
};

function start(caller, index) {
  const { url, path, headers, connections, kind, keyed } = caller;
  const { hostname: host, port } = new URL(url);
  const template = Buffer.from(JSON.stringify(KINDS[kind](caller)));
  const place = template.indexOf('NUMBER----------');
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const fixed = { ...headers, 'content-type': 'application/json' };
  const push = () => {
    const body = Buffer.from(template);
    const number = `${process.pid}-${index}-${++sent}`;
    body.write(number.padEnd(16, '-').slice(0, 16), place);
    const own = { 'content-length': body.length, ...(keyed ? { 'idempotency-key': number } : {}) };
    const call = request({ agent, host, port, path, method: 'POST', headers: { ...fixed, ...own } }, (response) => {
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
