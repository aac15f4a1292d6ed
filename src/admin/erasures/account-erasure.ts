import type { ErasureCounts } from '../../contracts/admin/erasures.routes.js';
import type { Sql } from '../../core/database/sql.js';
import {
  type AccountValues,
  deleteAccount,
  eraseInTickets,
  findPushes,
  findTickets,
  type KeptPush,
  storePush,
} from './account-erasure.repository.js';
import { changesWithoutValues, withoutValues } from './erasure.rules.js';
import { countByReference, redactByReference } from './footage-erasure.repository.js';

const BATCH = 500;

interface Erased {
  readonly haulerId: string;
  readonly account: AccountValues;
  /** Only counts: nothing is changed or locked. */
  readonly dryRun: boolean;
  readonly signal?: AbortSignal;
}

/**
 * What an account left, by exact values in its own hauler (decision 68), in one transaction. Tickets are searched before any is
 * changed, so that a push of one waits for no search.
 */
export async function eraseAccount(
  transaction: Sql,
  { haulerId, account, dryRun, signal }: Erased,
): Promise<Partial<ErasureCounts>> {
  const { id, account_number: number, account_name: name, email, phone } = account;
  const values = [id, number, name, email, phone].filter((value): value is string => value !== null && value !== '');
  const references = [`accountId:${id}`, `accountName:${name}`];
  const revisions = await erasePushes(transaction, haulerId, values, { dryRun, signal });
  const tickets = await findTickets(transaction, haulerId, values);
  if (dryRun)
    return {
      accounts: 1,
      revisions,
      tickets: tickets.length,
      exchanges: await countByReference(transaction, haulerId, references),
    };
  await eraseInTickets(transaction, haulerId, values, tickets);
  const exchanges = await redactByReference(transaction, haulerId, references);
  return { revisions, tickets: tickets.length, exchanges, accounts: await deleteAccount(transaction, haulerId, id) };
}

/** Returns how many have one of the values. */
async function erasePushes(
  transaction: Sql,
  haulerId: string,
  values: readonly string[],
  { dryRun, signal }: Pick<Erased, 'dryRun'> & { readonly signal: AbortSignal | undefined },
): Promise<number> {
  const sought = new Set(values.map((value) => value.toLowerCase()));
  const next = (after?: KeptPush) => findPushes(transaction, haulerId, values, after, BATCH);
  let erased = 0;
  for (let batch = await next(); batch.length > 0; batch = await next(batch.at(-1))) {
    signal?.throwIfAborted();
    for (const push of batch) {
      const body = withoutValues(push.body, sought);
      const changes = push.changes === null ? undefined : changesWithoutValues(push.changes, sought);
      if (body === undefined && changes === undefined) continue;
      erased += 1;
      if (!dryRun)
        await storePush(transaction, haulerId, { ...push, body: body ?? push.body, changes: changes ?? push.changes });
    }
  }
  return erased;
}
