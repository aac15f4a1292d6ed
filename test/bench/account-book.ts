import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import { AccountEntity } from '../../src/accounts/account.entity.js';
import { newAccountRow } from '../../src/accounts/account-queries.js';
import type { CreateAccountRequest } from '../../src/contracts/account/account.api.js';
import { createDataSourceOptions } from '../../src/core/database/data-source.js';
import { Database } from '../../src/core/database/database.js';
import type { BenchDatabase } from './database.js';
import type { Asked } from './load.js';

const PORTION = 1_000;
const PAGE_SIZE = 20;
const WORDS = 'Lone Star Green Valley River Rock North County Demolition Paving Roofing Builders Supply'.split(' ');

/** The `n`th account of a series: a name of four words that no other one has, an address and a contact. */
export function accountOf(series: string, n: number): CreateAccountRequest {
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
export async function stock({ url, client }: BenchDatabase, haulerId: string, count: number): Promise<void> {
  const database = new Database({ DATABASE_URL: url, DATABASE_POOL: 1 });
  const dataSource = await new DataSource(createDataSourceOptions(database, [AccountEntity])).initialize();
  for (let from = 0; from < count; from += PORTION) {
    const accounts = Array.from({ length: Math.min(PORTION, count - from) }, (_, i) => accountOf('s', from + i));
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
export async function restock(client: pg.Client): Promise<void> {
  await client.query("DELETE FROM accounts WHERE account_number NOT LIKE 'A-S%'");
  await client.query("DELETE FROM peer_accounts WHERE name NOT LIKE '% s%x'");
  await client.query('VACUUM ANALYZE accounts');
  await client.query('VACUUM ANALYZE peer_accounts');
  await client.query('CHECKPOINT');
}

type Requests = () => Asked;

/** New accounts, each under a name of its own. */
export function creations(): Requests {
  const series = `n${randomUUID().slice(0, 8)}`;
  let count = 0;
  return () => {
    const account = accountOf(series, ++count);
    return { name: account.accountName, body: JSON.stringify(account) };
  };
}

interface Page {
  readonly data: readonly { readonly accountName: string }[];
  readonly pagination: { readonly totalItems: number };
}

/** One of the accounts in stock, by a part of its name that no other one has; it alone must be found. */
export function searches(path: string, count: number): Requests {
  let asked = 0;
  return () => {
    const { accountName } = accountOf('s', (++asked * 7919) % count);
    const term = accountName.split(' ').slice(-2).join(' ').toLowerCase();
    return {
      name: accountName,
      path: `${path}?search=${encodeURIComponent(term)}&pageSize=${PAGE_SIZE}`,
      right(body) {
        const { data, pagination } = JSON.parse(body) as Page;
        return pagination.totalItems === 1 && data.length === 1 && data[0]?.accountName === accountName;
      },
    };
  };
}

/** The service counts a list up to this number. */
const COUNTED = 10_000;

/** The first fifty pages of the list, which must know how many there are. */
export function lists(path: string, count: number): Requests {
  let asked = 0;
  return () => ({
    name: 'page',
    path: `${path}?page=${1 + (asked++ % 50)}&pageSize=${PAGE_SIZE}`,
    right(body) {
      const { data, pagination } = JSON.parse(body) as Page;
      const isCounted = [count, COUNTED].includes(pagination.totalItems);
      return isCounted && new Set(data.map(({ accountName }) => accountName)).size === PAGE_SIZE;
    },
  });
}
