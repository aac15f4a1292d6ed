// A hand-written Fastify that keeps the promises of this service in the plainest way: key by hash, site and materials
// checked, upsert, history with the raw body, log of the exchange, all in one transaction. A pool of 10, one statement after
// the other. Argument: the database's address.
import { createHash, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setInterval } from 'node:timers';
import fastify from 'fastify';
import pg from 'pg';
import { FIND_KEY, FIND_RECORDS, INSERT_EXCHANGE, INSERT_REVISION, UPSERT } from './promises.mjs';
import { TICKET_SCHEMA } from './ticket-schema.mjs';
import { valuesOf } from './upsert.mjs';

const [, , connectionString] = process.argv;
const pool = new pg.Pool({ connectionString, max: 10 });
const app = fastify({ logger: false });

app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
  request.text = text;
  try {
    done(null, JSON.parse(text));
  } catch (error) {
    error.statusCode = 400;
    done(error);
  }
});

app.post('/tickets', { schema: TICKET_SCHEMA }, async (request, reply) => {
  const started = performance.now();
  const client = await pool.connect();
  const run = async (name, text, values) => (await client.query({ name, text, values })).rows;
  try {
    await client.query('BEGIN');
    const { hauler, status, body } = await answer(request, run);
    await run('exchange', INSERT_EXCHANGE, [
      randomUUID(),
      hauler ?? null,
      request.id,
      status,
      performance.now() - started,
      JSON.stringify({ ...request.headers, 'platform-api-key': '***' }),
      request.text,
      JSON.stringify(body),
    ]);
    await client.query('COMMIT');
    return await reply.code(status).send(body);
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
});

async function answer({ headers, body, text, id: requestId }, run) {
  const key = createHash('sha256').update(String(headers['platform-api-key'])).digest();
  const [owner] = await run('key', FIND_KEY, [key]);
  if (owner === undefined) return refused(401, 'UNAUTHORIZED');
  const hauler = owner.hauler_id;
  const materials = [...new Set(body.materials.map(({ id }) => id))];
  const [found] = await run('records', FIND_RECORDS, [hauler, body.siteId, materials]);
  if (!found.site || found.materials !== materials.length) return { hauler, ...refused(422, 'VALIDATION_ERROR') };
  const [ticket] = await run('upsert', UPSERT, [hauler, ...valuesOf(randomUUID(), body)]);
  await run('revision', INSERT_REVISION, [hauler, ticket.id, ticket.revision, text, requestId]);
  return { hauler, status: 200, body: { success: true, disposalTicketId: ticket.id } };
}

const refused = (status, code) => ({ status, body: { success: false, error: { code } } });

process.stdout.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`);
const parent = process.ppid;
setInterval(() => process.ppid !== parent && process.exit(1), 500).unref();
