import { createHash } from 'node:crypto';
import { compare } from './contest.js';
import { startDatabase } from './database.js';
import { CREATE_PROMISE_TABLES } from './peers/promises.mjs';
import { CREATE_TABLE } from './peers/upsert.mjs';
import { type Service, startPeer, startService } from './processes.js';
import { openScaleHouse } from './scale-house.js';

const TRUNCATE = `TRUNCATE tickets, ticket_revisions, peer_tickets, peer_kept_tickets, peer_revisions, peer_exchanges`;

/** Counts tickets without their history, or the reverse, of the contenders that promise one. */
const HISTORY_FAULTS = {
  tickets: `
    SELECT count(*) AS wrong FROM tickets t FULL JOIN ticket_revisions r ON r.ticket_id = t.id
     WHERE t.id IS NULL OR r.result IS DISTINCT FROM 'created' OR r.body NOT LIKE '%' || t.inbound_number || '%'`,
  peer_kept_tickets: `
    SELECT count(*) AS wrong FROM peer_kept_tickets t FULL JOIN peer_revisions r ON r.ticket_id = t.id
      FULL JOIN peer_exchanges e ON e.request_id = r.request_id AND e.status = 200
     WHERE t.id IS NULL OR e.id IS NULL OR r.body NOT LIKE '%' || t.inbound_number || '%'`,
};

/**
 * New tickets a second: (a) this service with everything on, (b) a hand-written Fastify with one upsert a request, (c) a
 * hand-written Fastify that keeps the promises of this service, and (a) once more without the exchange log. Arguments: rounds (5),
 * seconds of one measurement (3).
 */
export async function run([rounds = '5', seconds = '3']: readonly string[]): Promise<void> {
  const database = await startDatabase();
  const { client, url } = database;
  await client.query(CREATE_TABLE);
  await client.query(CREATE_PROMISE_TABLES);
  const service = await startService(database);
  const { next, headers, haulerId } = await openScaleHouse(service, database);
  const hash = createHash('sha256').update(String(headers['platform-api-key'])).digest();
  await client.query('INSERT INTO peer_keys (hash, hauler_id) VALUES ($1, $2)', [hash, haulerId]);
  const shared = { headers, column: 'inbound_number' };
  const ours = (name: string, { pid, url: own }: Service) => ({
    ...shared,
    ...{ name, pid, url: `${own}/platform-api/v1/tickets`, table: 'tickets' },
  });
  const peer = async (name: string, file: string, table: string) => {
    const { pid, url: own } = await startPeer(file, url);
    return { ...shared, name, pid, url: `${own}/tickets`, table };
  };
  const contenders = [
    ours('a service', service),
    await peer('b Fastify + pg', 'fastify-pg.mjs', 'peer_tickets'),
    await peer('c with the same promises', 'fastify-promises.mjs', 'peer_kept_tickets'),
    ours('a without the exchange log', await startService(database, { EXCHANGE_LOG: 'off' })),
  ];
  const restore = () => client.query(TRUNCATE);
  const contest = { name: 'tickets', database, contenders, next, restore, stock: 0, faults: HISTORY_FAULTS };
  await compare(contest, Number(rounds), Number(seconds));
}
