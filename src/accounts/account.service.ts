import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ACCOUNT_API, nameTaken } from '../contracts/account/account.api.js';
import type { CreateAccountRequest, CreateAccountResponse } from '../contracts/account/account.dto.js';
import { BATCH_LIMITS, Batcher, type Entry } from '../database/batcher.js';
import type { Session } from '../database/session.js';
import type { Querying } from '../database/sql.js';
import { onConnection } from '../database/transaction.js';
import { LOCK_TIMEOUT_MS, settleBatch } from '../database/settle-batch.js';
import { type AppError, apiError } from '../errors/app-error.js';
import { Outbox } from '../events/outbox.js';
import type { Answer } from '../http/answer.js';
import { answerOncePerKey, keyReused } from '../idempotency/idempotency-key.js';
import { type Claim, nameOfClaim } from '../idempotency/idempotency.repository.js';
import { normaliseName } from './account-name.js';
import { newAccountRow, toAccountDto } from './account-row.js';
import type { AccountEntity } from './account.entity.js';
import { type AccountKey, existingAccounts, insertAccounts, reserveAccountNumbers } from './account.repository.js';

/** Account numbers cost a round trip, so each instance reserves some. A restart leaves a gap, which decision 29 allows. */
const RESERVED_NUMBERS = 200;

interface Creation {
  readonly request: CreateAccountRequest;
  readonly haulerId: string;
  readonly claim: Claim | undefined;
}

/** The key that the caller sent, and the size of the body. */
export interface CreationOrigin {
  readonly keyId?: string | null;
  readonly bodyBytes?: number;
}

type AccountAnswer = Answer<CreateAccountResponse | string>;
type AccountEntry = Entry<Creation, AccountAnswer>;
type Created = Answer<CreateAccountResponse> | AppError;

const LIMITS = { ...BATCH_LIMITS, overload: 'accounts' } as const;

/** The rows for whose locks a creation may wait: those of its name and of its `Idempotency-Key`. */
const rowsOf = ({ request, haulerId, claim }: Creation): string[] => [
  ...(claim === undefined ? [] : [nameOfClaim(claim)]),
  `${haulerId} ${normaliseName(request.accountName)}`,
];

/** Creates the accounts of haulers (sections 2.4, 2.5), many in one statement (docs/adr/0005). */
@Injectable()
export class AccountService {
  private readonly numbers: string[] = [];
  private readonly rows = new WeakMap<Creation, AccountEntity>();
  private readonly batcher = new Batcher<Creation, AccountAnswer>(LIMITS, (entries) => this.createAll(entries), rowsOf);

  /** Apart, because a batch with keys holds locks over several round trips. It uses one connection, however many wait. */
  private readonly keyedBatcher = new Batcher<Creation, AccountAnswer>(
    { ...LIMITS, maxRunning: 1 },
    (entries) => this.createKeyed(entries),
    rowsOf,
  );

  constructor(
    private readonly dataSource: DataSource,
    private readonly outbox: Outbox,
  ) {}

  /** Rejects with `conflict` if the hauler has an account of that name, with its id and number (decisions 27, 28). */
  create(
    request: CreateAccountRequest,
    haulerId: string,
    claim: Claim | undefined,
    { keyId, bodyBytes = 0 }: CreationOrigin = {},
  ): Promise<AccountAnswer> {
    const batcher = claim === undefined ? this.batcher : this.keyedBatcher;
    return batcher.submit({ request, haulerId, claim }, bodyBytes, [haulerId, keyId ?? '']);
  }

  private async createAll(entries: readonly AccountEntry[]): Promise<void> {
    // Prepared, because PostgreSQL parses and plans such a statement once.
    await settleBatch(entries, {
      write: (creations) =>
        onConnection(this.dataSource, (session) => this.insert(session, creations), { prepared: true }),
      find: (creations) => this.find(creations),
    });
  }

  private async createKeyed(entries: readonly AccountEntry[]): Promise<void> {
    const write = (creations: readonly Creation[]) =>
      onConnection(this.dataSource, (session) =>
        session.transaction(
          () =>
            answerOncePerKey(
              session,
              creations,
              () => keyReused(ACCOUNT_API, 'conflict'),
              (claimed) => this.insert(session, claimed),
            ),
          { settings: { lock_timeout: String(LOCK_TIMEOUT_MS) } },
        ),
      );
    let rest = entries;
    while (rest.length > 0) rest = await settleBatch(rest, { write, find: (creations) => this.find(creations) });
  }

  private async insert(session: Session, creations: readonly Creation[]): Promise<Created[]> {
    const rows = await this.rowsOf(session, creations);
    const isAnnounced = await this.outbox.wants(
      ['account.created'],
      rows.map(({ haulerId }) => haulerId),
      session,
    );
    const owners = isAnnounced
      ? await session.transaction(() => this.insertAnnounced(session, rows))
      : await insertAccounts(session, rows);
    return rows.map((row, i) => outcomeOf(row, owners[i]!));
  }

  private async insertAnnounced(session: Session, rows: readonly AccountEntity[]): Promise<AccountKey[]> {
    const owners = await insertAccounts(session, rows);
    const created = rows.filter(({ id }, i) => owners[i]?.id === id);
    const events = created.map(({ haulerId, id: accountId }) => {
      return { topic: 'account.created', haulerId, data: { accountId } } as const;
    });
    await this.outbox.record(session, ...events);
    return owners;
  }

  /** What became of creations whose transaction lost its connection. */
  private async find(creations: readonly Creation[]): Promise<(AccountAnswer | undefined)[]> {
    const rows = creations.map((creation) => this.rows.get(creation));
    const ids = rows.flatMap((row) => row?.id ?? []);
    const found = await onConnection(this.dataSource, (session) => existingAccounts(session, ids));
    return rows.map((row) => (row !== undefined && found.has(row.id) ? createdAnswer(row) : undefined));
  }

  /** A creation keeps its row: one that was inserted before an error is found again. */
  private async rowsOf(database: Querying, creations: readonly Creation[]): Promise<AccountEntity[]> {
    const fresh = creations.filter((creation) => !this.rows.has(creation));
    const numbers = await this.takeNumbers(database, fresh.length);
    fresh.forEach((creation, i) => {
      this.rows.set(creation, newAccountRow(creation.request, creation.haulerId, numbers[i]!));
    });
    return creations.map((creation) => this.rows.get(creation)!);
  }

  private async takeNumbers(database: Querying, count: number): Promise<string[]> {
    while (this.numbers.length < count) {
      this.numbers.push(...(await reserveAccountNumbers(database, RESERVED_NUMBERS)));
    }
    return this.numbers.splice(0, count);
  }
}

const outcomeOf = (row: AccountEntity, owner: AccountKey): Created =>
  owner.id === row.id ? createdAnswer(row) : takenBy(owner);

const createdAnswer = (row: AccountEntity): Answer<CreateAccountResponse> => ({
  status: 200,
  headers: {},
  body: toAccountDto(row),
});

function takenBy({ id, accountNumber }: AccountKey): AppError {
  const { message, details } = nameTaken(id, accountNumber);
  return apiError(ACCOUNT_API, 'conflict', message, { details });
}
