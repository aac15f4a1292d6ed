// A typical hand-written service for accounts: Fastify with a JSON schema, one statement per request through a pool of 10, an
// index of trigrams for a search. No key, no idempotency, no log. Argument: the database's address.
import { setInterval } from 'node:timers';
import fastify from 'fastify';
import pg from 'pg';
import { insertOf } from './accounts-table.mjs';

const text = (maxLength) => ({ type: 'string', maxLength });
const body = {
  type: 'object',
  required: ['accountName'],
  properties: {
    accountName: { type: 'string', minLength: 1, maxLength: 200 },
    billingAddress: {
      type: 'object',
      properties: {
        street: text(100),
        unit: text(20),
        city: text(50),
        state: { type: 'string', pattern: '^[A-Z]{2}$' },
        country: text(50),
        zip: { type: 'string', pattern: '^[0-9]{5}(-[0-9]{4})?$' },
      },
    },
    primaryContact: {
      type: 'object',
      properties: {
        firstName: text(50),
        lastName: text(50),
        email: { type: 'string', format: 'email', maxLength: 100 },
        phone: { type: 'string', pattern: '^\\+?[ ()-]*[0-9][0-9 ()-]*$' },
      },
    },
  },
};
const [, , connectionString] = process.argv;
const pool = new pg.Pool({ connectionString, max: 10 });
const app = fastify({ logger: false });
app.post('/accounts', { schema: { body } }, async (request, reply) => {
  const { rows } = await pool.query(insertOf(request.body));
  if (rows.length === 0) return reply.code(409).send({ success: false });
  const { id, number } = rows[0];
  return { ...request.body, accountId: id, accountNumber: `A-${number}` };
});
process.stdout.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`);
const parent = process.ppid;
setInterval(() => process.ppid !== parent && process.exit(1), 500).unref();
