import type { AccountQuery } from '../contracts/admin/account.dto.js';
import type { PageRequest } from '../contracts/common/pagination.dto.js';
import { gramsOf, searchTerm } from './account-search.js';

export interface PageStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/**
 * One row: the ids of a page, newest first, and the total. A search is carried out on its own (MATERIALIZED): to find
 * a page of the newest, the planner would otherwise walk through all accounts in their order when few match, or none.
 */
export function pageOfAccounts({ haulerId, search }: AccountQuery, { pageSize, offset }: PageRequest): PageStatement {
  const parameters: unknown[] = [pageSize, offset];
  const conditions: string[] = [];
  const parameter = (value: unknown) => `$${parameters.push(value)}`;
  if (haulerId !== undefined) conditions.push(`hauler_id = ${parameter(haulerId)}`);
  if (search !== undefined) {
    const term = searchTerm(search);
    conditions.push(
      `search_grams @> ${parameter(gramsOf(term))}::int[]`,
      `strpos(search_text, ${parameter(term)}) > 0`,
    );
  }
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const sql = `
    WITH found AS ${search === undefined ? 'NOT MATERIALIZED' : 'MATERIALIZED'} (SELECT id FROM accounts ${where})
    SELECT (SELECT count(*) FROM found)::int AS total,
           ARRAY(SELECT id FROM found ORDER BY id DESC LIMIT $1 OFFSET $2) AS ids`;
  return { sql, parameters };
}
