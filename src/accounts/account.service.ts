import { Injectable } from '@nestjs/common';
import {
  ACCOUNT_API,
  type CreateAccountRequest,
  type CreateAccountResponse,
  nameTaken,
} from '../contracts/account/account.api.js';
import { Batcher } from '../core/database/batcher.js';
import { Database } from '../core/database/database.js';
import type { Session } from '../core/database/session.js';
import { LOCK_TIMEOUT_MS, withLockTimeout } from '../core/database/settle-batch.js';
import type { Sql } from '../core/database/sql.js';
import { apiError, AppError } from '../core/errors/app-error.js';
import { Outbox } from '../webhooks/events/outbox.js';
import type { HappenedEvent } from '../webhooks/events/outbox.repository.js';
import type { Answer } from '../core/http/answer.js';
import { answerOncePerKey, keyReused } from '../core/idempotency/idempotency-key.js';
import { type Claim, nameOfClaim } from '../core/idempotency/idempotency.repository.js';
import { normaliseName } from './account-name.js';
import { newAccountRow, toAccountDto } from './account-queries.js';
import type { AccountEntity } from './account.entity.js';
import { type AccountKey, insertAccounts, reserveAccountNumbers } from './account.repository.js';

/** Account numbers cost a round trip, so each instance reserves some. A restart leaves a gap, which decision 29 allows. */
const RESERVED_NUMBERS = 200;

interface Creation {
  readonly request: CreateAccountRequest;
  readonly haulerId: string;
  readonly claim: Claim | undefined;
}

/** The key that the caller sent, and the size of the body. */
interface CreationOrigin {
  readonly keyId: string | null;
  readonly bodyBytes: number;
}

type AccountAnswer = Answer<CreateAccountResponse | string>;
type Created = Answer<CreateAccountResponse> | AppError;
type Outcomes = (AccountAnswer | AppError | undefined)[];

/** The rows for whose locks a creation may wait: those of its name and of its `Idempotency-Key`. */
const locksOf = ({ request, haulerId, claim }: Creation): string[] => [
  `${haulerId} ${normaliseName(request.accountName)}`,
  ...(claim === undefined ? [] : [nameOfClaim(claim)]),
];

const OPTIONS = { overload: 'accounts', lockNamesOf: locksOf } as const;

/** Creates the accounts of haulers (sections 2.4, 2.5), many in one statement (docs/adr/0005). */
@Injectable()
export class AccountService {
  private readonly numbers: string[] = [];
  private readonly batcher = new Batcher<Creation, AccountAnswer>({ ...OPTIONS, maxRunning: 2 }, [
    (creations, lockTimeoutMs) => this.createAll(creations, lockTimeoutMs),
  ]);

  /** Apart, because a batch with keys holds locks over several round trips. It uses one connection, however many wait. */
  private readonly keyedBatcher = new Batcher<Creation, AccountAnswer>({ ...OPTIONS, maxRunning: 1 }, [
    (creations, lockTimeoutMs) => this.createKeyed(creations, lockTimeoutMs),
  ]);

  constructor(
    private readonly database: Database,
    private readonly outbox: Outbox,
  ) {}

  /** Rejects with `conflict` if the hauler has an account of that name, with its id and number (decisions 27, 28). */
  create(
    request: CreateAccountRequest,
    haulerId: string,
    claim: Claim | undefined,
    { keyId, bodyBytes }: CreationOrigin,
  ): Promise<AccountAnswer> {
    const batcher = claim === undefined ? this.batcher : this.keyedBatcher;
    return batcher.submit({ request, haulerId, claim }, bodyBytes, [haulerId, keyId ?? '']);
  }

  private createAll(creations: readonly Creation[], lockTimeoutMs?: number): Promise<Created[]> {
    return this.outbox.announce(
      (isAnnounced) =>
        withLockTimeout(this.database.hot, lockTimeoutMs, (session) => this.insert(session, creations, isAnnounced)),
      (outcomes) => eventsOf(outcomes, creations),
    );
  }

  private createKeyed(creations: readonly Creation[], lockTimeoutMs = LOCK_TIMEOUT_MS): Promise<Outcomes> {
    return this.outbox.announce(
      (isAnnounced) =>
        withLockTimeout(this.database.hot, lockTimeoutMs, (session) =>
          answerOncePerKey(
            session,
            creations,
            () => keyReused(ACCOUNT_API, 'conflict'),
            (claimed) => this.insert(session, claimed, isAnnounced),
          ),
        ),
      (outcomes) => eventsOf(outcomes, creations),
    );
  }

  private async insert(session: Session, creations: readonly Creation[], isAnnounced: boolean): Promise<Created[]> {
    const numbers = await this.takeNumbers(session, creations.length);
    const rows = creations.map(({ request, haulerId }, i) => newAccountRow(request, haulerId, numbers[i]!));
    const owners = await insertAccounts(session, rows, isAnnounced);
    return rows.map((row, i) => outcomeOf(row, owners[i]!));
  }

  private async takeNumbers(database: Sql, count: number): Promise<string[]> {
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

/** Of the accounts that were created now; a replayed answer was so before. */
function eventsOf(outcomes: Outcomes, creations: readonly Creation[]): HappenedEvent[] {
  return outcomes.flatMap((outcome, i) => {
    if (outcome === undefined || outcome instanceof AppError || typeof outcome.body === 'string') return [];
    const { accountId } = outcome.body;
    return [{ topic: 'account.created', haulerId: creations[i]?.haulerId ?? '', data: { accountId } }];
  });
}
