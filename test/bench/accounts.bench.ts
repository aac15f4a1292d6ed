import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import { AccountEntity } from '../../src/accounts/account.entity.js';
import { newAccountRow } from '../../src/accounts/account-queries.js';
import type { CreateAccountRequest } from '../../src/contracts/account/account.api.js';
import { createDataSourceOptions } from '../../src/core/database/data-source.js';
import { Database } from '../../src/core/database/database.js';
import { compare, type Contender } from './contest.js';
import { type BenchDatabase, startDatabase } from './database.js';
import type { Asked } from './load.js';
import { CREATE_TABLE } from './peers/accounts-table.mjs';
import { startPeer, startService } from './processes.js';

const STOCK = 50_000;
const PORTION = 1_000;
const WORDS = 'Lone Star Green Valley River Rock North County Demolition Paving Roofing Builders Supply'.split(' ');

/**
 * New accounts among 50,000 of them: (a) this service with everything on, (b) a hand-written Fastify + pg. Arguments: rounds (5),
 * seconds of one measurement (2).
 */
export async function run([rounds = '5', seconds = '2']: readonly string[]): Promise<void> {
  const database = await startDatabase();
  const { client, url } = database;
  await client.query(CREATE_TABLE);
  const service = await startService(database);
  const { id: haulerId } = await service.admin<{ id: string }>('POST', '/haulers', { name: 'Bench' });
  await stock(database, haulerId);
  const { key } = await service.admin<{ key: string }>('POST', '/api-keys', { haulerId, interfaces: ['account'] });
  const peer = await startPeer('fastify-accounts.mjs', url);
  const contenders: Contender[] = [
    {
      ...{ name: 'a service', pid: service.pid, url: `${service.url}/platform-api/v1/accounts` },
      ...{ headers: { 'platform-api-key': key }, table: 'accounts', column: 'account_name' },
    },
    {
      ...{ name: 'b Fastify + pg', pid: peer.pid, url: `${peer.url}/accounts` },
      ...{ headers: {}, table: 'peer_accounts', column: 'name' },
    },
  ];
  const contest = {
    name: 'accounts',
    database,
    contenders,
    next: creations(),
    restore: () => restock(client),
    stock: STOCK,
  };
  await compare(contest, Number(rounds), Number(seconds));
}

/** The `n`th account of a series: a name of four words that no other one has, an address and a contact. */
function accountOf(series: string, n: number): CreateAccountRequest {
  const word = (k: number) => WORDS[(n * 7919 * (k + 1) + (n >> (k * 3))) % WORDS.length] ?? '';
  return {
    accountName: `${word(1)} ${word(2)} ${word(3)} ${series}${n}x`,
    billingAddress: { street: `${n} Quarry Road`, city: 'Austin', state: 'TX', country: 'USA', zip: '78701-1234' },
    primaryContact: {
      firstName: 'Dana',
      lastName: word(4),
      email: `dana.${series}${n}@example.com`,
      phone: '+1 (512) 555-0142',
    },
  };
}

/** The accounts that are there from the first, the same on both sides. */
async function stock({ url, client }: BenchDatabase, haulerId: string): Promise<void> {
  const database = new Database({ DATABASE_URL: url, DATABASE_POOL: 1 });
  const dataSource = await new DataSource(createDataSourceOptions(database, [AccountEntity])).initialize();
  for (let from = 0; from < STOCK; from += PORTION) {
    const accounts = Array.from({ length: PORTION }, (_, i) => accountOf('s', from + i));
    const numbered = accounts.map((account, i) => newAccountRow(account, haulerId, `A-S${from + i}`));
    await dataSource.manager.insert(AccountEntity, numbered);
    await client.query(
      `INSERT INTO peer_accounts (name, email, address, contact)
       SELECT a->>'accountName', a->'primaryContact'->>'email', a->'billingAddress', a->'primaryContact'
         FROM jsonb_array_elements($1::jsonb) AS a`,
      [JSON.stringify(accounts)],
    );
  }
  await database.onApplicationShutdown();
}

/** Puts both sides back to their stock. */
async function restock(client: pg.Client): Promise<void> {
  await client.query("DELETE FROM accounts WHERE account_number NOT LIKE 'A-S%'");
  await client.query("DELETE FROM peer_accounts WHERE name NOT LIKE '% s%x'");
  await client.query('VACUUM ANALYZE accounts');
  await client.query('VACUUM ANALYZE peer_accounts');
}

/** New accounts, each under a name of its own. */
function creations(): () => Asked {
  const series = `n${randomUUID().slice(0, 8)}`;
  let count = 0;
  return () => {
    const account = accountOf(series, ++count);
    return { name: account.accountName, body: JSON.stringify(account) };
  };
}
