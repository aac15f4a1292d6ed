// A typical hand-written service: Fastify with a JSON schema, one upsert per request through a pool of 10. No key, no
// rules, no history, no log. Argument: the database's address.
import { randomUUID } from 'node:crypto';
import { setInterval } from 'node:timers';
import fastify from 'fastify';
import pg from 'pg';
import { TICKET_SCHEMA } from './ticket-schema.mjs';
import { upsertOf } from './upsert.mjs';

const [, , connectionString] = process.argv;
const pool = new pg.Pool({ connectionString, max: 10 });
const app = fastify({ logger: false });
app.post('/tickets', { schema: TICKET_SCHEMA }, async (request) => {
  const { rows } = await pool.query(upsertOf(randomUUID(), request.body));
  return { success: true, disposalTicketId: rows[0].id };
});
process.stdout.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`);
const parent = process.ppid;
setInterval(() => process.ppid !== parent && process.exit(1), 500).unref();
