// A typical hand-written service for accounts: Fastify with JSON schemas, one statement per request through a pool of 10,
// trigrams for the search. No key, no idempotency, no log. Argument: the database's address.
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
const querystring = {
  type: 'object',
  properties: {
    search: { type: 'string', minLength: 1, maxLength: 200 },
    page: { type: 'integer', minimum: 1, default: 1 },
    pageSize: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
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

const LIST = {
  name: 'list',
  text: `SELECT (SELECT count(*) FROM peer_accounts)::int AS total, id, number, name, address, contact, created_at
           FROM peer_accounts ORDER BY number DESC LIMIT $1 OFFSET $2`,
};
const SEARCH = {
  name: 'search',
  text: `SELECT count(*) OVER ()::int AS total, id, number, name, address, contact, created_at
           FROM peer_accounts WHERE searched LIKE $3 ORDER BY number DESC LIMIT $1 OFFSET $2`,
};
app.get('/accounts', { schema: { querystring } }, async ({ query: { search, page, pageSize } }) => {
  const range = [pageSize, (page - 1) * pageSize];
  const term = () => `%${search.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
  const { rows } = await pool.query(
    search === undefined ? { ...LIST, values: range } : { ...SEARCH, values: [...range, term()] },
  );
  const data = rows.map(({ id, number, name, address, contact, created_at }) => ({
    accountId: id,
    accountNumber: `A-${number}`,
    accountName: name,
    billingAddress: address,
    primaryContact: contact,
    createdAt: created_at,
  }));
  const totalItems = rows[0]?.total ?? 0;
  return { data, pagination: { page, pageSize, totalItems, totalPages: Math.ceil(totalItems / pageSize) } };
});
process.stdout.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`);
const parent = process.ppid;
setInterval(() => process.ppid !== parent && process.exit(1), 500).unref();
