// A typical hand-written service: Fastify with a JSON schema, one upsert per request through a pool of 10. No key, no
// rules, no history, no log. Argument: the database's address.
import { randomUUID } from 'node:crypto';
import { setInterval } from 'node:timers';
import fastify from 'fastify';
import pg from 'pg';
import { upsertOf } from './upsert.mjs';

const uuid = { type: 'string', format: 'uuid' };
const flow = {
  type: 'object',
  required: ['ticketNumber', 'updatedAt'],
  properties: {
    ticketNumber: { type: 'string', minLength: 1, maxLength: 255 },
    updatedAt: { type: 'string', format: 'date-time' },
  },
};
const material = {
  type: 'object',
  required: ['id', 'name', 'quantity', 'unitOfMeasure'],
  properties: {
    id: uuid,
    name: { type: 'string', maxLength: 255 },
    quantity: { type: 'number' },
    unitPriceCents: { type: 'number' },
    unitOfMeasure: { enum: ['Ton', 'Gallon', 'Pound', 'Kilogram', 'Cubic Yard', 'Cubic Meter', 'Item'] },
  },
};
const body = {
  type: 'object',
  required: ['siteId', 'materials', 'inboundFlow'],
  properties: {
    siteId: uuid,
    materials: { type: 'array', minItems: 1, maxItems: 1000, items: material },
    inboundFlow: flow,
    outboundFlow: flow,
    customFields: { type: 'object', maxProperties: 100, additionalProperties: { type: 'string', maxLength: 4000 } },
  },
};
const response = {
  200: { type: 'object', properties: { success: { type: 'boolean' }, disposalTicketId: { type: 'string' } } },
};

const [, , connectionString] = process.argv;
const pool = new pg.Pool({ connectionString, max: 10 });
const app = fastify({ logger: false });
app.post('/tickets', { schema: { body, response } }, async (request) => {
  const { rows } = await pool.query(upsertOf(randomUUID(), request.body));
  return { success: true, disposalTicketId: rows[0].id };
});
process.stdout.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`);
const parent = process.ppid;
setInterval(() => process.ppid !== parent && process.exit(1), 500).unref();
