import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Action, type ActionPerson, type ActionQuery } from '../contracts/admin/actions.routes.js';
import type { List } from '../contracts/admin/list.dto.js';
import { present } from '../contracts/common/present.js';
import { Database } from '../core/database/database.js';
import { deleteInSteps, Sweep } from '../core/database/sweep.js';
import { listPage, type SqlList } from '../core/database/list-page.js';
import type { Sql } from '../core/database/sql.js';
import { uuidv7 } from '../core/database/uuid.js';
import { unavailable } from '../core/errors/app-error.js';
import { redactText } from '../core/observability/redaction.js';

const RETENTION = '400 days';
/** Requests of one caller for one thing within this time are one view. */
const ONE_VIEW = '10 minutes';
const RETENTION_INTERVAL_MS = 3_600_000;

/** An action before its things have names. */
export type StoredAction = Omit<Action, 'sentence' | 'subject'>;
export type NewAction = Omit<StoredAction, 'id' | 'at'>;

interface ActionRow extends Omit<StoredAction, 'at' | 'changes' | 'error' | 'person'> {
  readonly at: Date;
  readonly changes: string | null;
  readonly error: string | null;
  readonly person: ActionPerson | null;
}

/** The action log: each change by a call of the admin API, the console or the partner API, and what people looked at. */
@Injectable()
export class ActionLog implements BeforeApplicationShutdown {
  private readonly logger = new Logger(ActionLog.name);
  private readonly retention = new Sweep((stopping) => this.deleteOldActions(stopping));

  constructor(private readonly database: Database) {}

  /** The action has been done: if it cannot be stored, the service log keeps it, and the call succeeds. */
  async record(entry: NewAction): Promise<void> {
    try {
      await insertAction(this.database, entry);
    } catch (err) {
      this.logger.error({ err, ...entry }, 'an action could not be stored');
    }
  }

  /** An action that has not been done yet, and must not be without a trace: throws `unavailable` if it cannot be stored. */
  async require(entry: NewAction): Promise<void> {
    try {
      await insertAction(this.database, entry);
    } catch (cause) {
      throw untraced(cause);
    }
  }

  /** The same for a view: the requests of a player, or of a page that polls, are one action in ten minutes, with the same `changes`. */
  async requireView(entry: NewAction): Promise<void> {
    try {
      if (!(await isStoredLately(this.database, entry))) await insertOnce(this.database, entry);
    } catch (cause) {
      throw untraced(cause);
    }
  }

  /** Newest first. */
  async list(query: ActionQuery): Promise<List<StoredAction>> {
    const { rows, pagination } = await listPage<ActionRow>(this.database, actions(query), query);
    return { data: rows.map(toActionDto), pagination };
  }

  /** The newest action of everybody who has done something. */
  async newestOfEach(): Promise<StoredAction[]> {
    return (await this.database.query<ActionRow>(ACTORS)).map(toActionDto);
  }

  @Interval('actions', RETENTION_INTERVAL_MS)
  deleteOld(): Promise<void> {
    return this.retention.run();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.retention.stop();
  }

  private deleteOldActions(stopping: AbortSignal): Promise<void> {
    return deleteInSteps(
      this.database,
      `DELETE FROM actions WHERE id = ANY (ARRAY(
         SELECT id FROM actions WHERE at < now() - interval '${RETENTION}' ORDER BY at LIMIT $1))`,
      [],
      stopping,
    );
  }
}

async function insertAction(database: Sql, entry: NewAction): Promise<void> {
  const { actor, action, changes, person } = entry;
  const resource = redactText(entry.resource);
  const error = entry.error === undefined ? null : redactText(entry.error);
  await database.query(
    'INSERT INTO actions (id, actor, action, resource, changes, error, person) VALUES ($1, $2, $3, $4, $5, $6, $7)',
    [uuidv7(), actor, action, resource, jsonOf(changes), error, jsonOf(person)],
  );
}

/** The first requests of a player arrive together, also at several instances. */
async function insertOnce(database: Database, entry: NewAction): Promise<void> {
  await database.transaction(async (transaction) => {
    const key = `${entry.actor} ${entry.action} ${entry.resource} ${jsonOf(entry.changes)}`;
    await transaction.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [key]);
    if (!(await isStoredLately(transaction, entry))) await insertAction(transaction, entry);
  });
}

/** By the index of a resource. */
async function isStoredLately(database: Sql, { actor, action, resource, changes }: NewAction): Promise<boolean> {
  const row = await database.only<{ stored: boolean }>(
    `SELECT EXISTS (SELECT FROM actions WHERE resource = $1 AND actor = $2 AND action = $3 AND changes IS NOT DISTINCT FROM $4
       AND at > now() - interval '${ONE_VIEW}') AS stored`,
    [resource, actor, action, jsonOf(changes)],
  );
  return row.stored;
}

const untraced = (cause: unknown) =>
  unavailable('the action log cannot be written, and this must not be shown without it; try again shortly', { cause });

/** One step of the index for each, with the newest action. */
const ACTORS = `
  WITH RECURSIVE actors (actor) AS (
    (SELECT actor FROM actions ORDER BY actor LIMIT 1)
    UNION ALL
    SELECT (SELECT a.actor FROM actions AS a WHERE a.actor > known.actor ORDER BY a.actor LIMIT 1)
    FROM actors AS known WHERE known.actor IS NOT NULL)
  SELECT newest.* FROM actors, LATERAL (SELECT id, at, actor, action, resource, changes, error, person
    FROM actions AS a WHERE a.actor = actors.actor ORDER BY a.at DESC, a.id DESC LIMIT 1) AS newest
  LIMIT 200`;

const actions = ({ resource, actor, kind, from, to }: ActionQuery): SqlList => ({
  name: 'actions',
  sql: `SELECT id, at, actor, action, resource, changes, error, person FROM actions
    WHERE ($1::text IS NULL OR resource = $1)
      AND ($2::timestamptz IS NULL OR at >= $2) AND ($3::timestamptz IS NULL OR at < $3)
      AND ($4::text IS NULL OR actor = $4) AND ($5::text IS NULL OR split_part(resource, ':', 1) = $5)`,
  parameters: [resource ?? null, from ?? null, to ?? null, actor ?? null, kind ?? null],
  key: ['at', 'id'],
  order: 'DESC',
});

const jsonOf = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

const toActionDto = ({ changes, ...row }: ActionRow): StoredAction =>
  present<StoredAction>(Action, { ...row, changes: changes === null ? undefined : (JSON.parse(changes) as object) });
