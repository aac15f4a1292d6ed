import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { StartScenarioRequest, Subject } from '../../contracts/admin/sandbox.routes.js';
import type { Instant } from '../../contracts/common/instant.js';
import type { ScenarioName, ScenarioRoute, ScenarioValues } from '../../contracts/sandbox/scenarios.js';
import { Database } from '../../core/database/database.js';
import { deleteInSteps } from '../../core/database/sweep.js';
import { instantSql } from '../../core/database/sql.js';

/** The hauler or customer that a scenario belongs to. */
export interface ScenarioSubject {
  readonly subject: Subject;
  readonly subjectId: string;
}

/** A scenario of the catalogue, and the operations on which the caller may let it act. */
export interface ScopedScenario {
  readonly name: ScenarioName;
  readonly routes: readonly ScenarioRoute[];
}

export interface ActiveScenario extends ScenarioSubject, ScopedScenario {
  readonly parameters: ScenarioValues;
}

export type ScenarioRow = ActiveScenario & { readonly remainingTimes: number | null; readonly endsAt: Instant | null };

const COLUMNS = `subject, subject_id AS "subjectId", name, routes, parameters, remaining_times AS "remainingTimes",
  ${instantSql('ends_at')} AS "endsAt"`;
const IS_ACTIVE = "coalesce(remaining_times, 1) > 0 AND coalesce(ends_at, 'infinity') > now()";

/** Every instance reads a started scenario within this time. The call that starts it returns afterwards. */
export const START_NOTICE_MS = 100;

/** The active scenarios, in one table, so that all instances act and count alike. */
@Injectable()
export class ScenariosRepository {
  constructor(private readonly database: Database) {}

  /** Every active scenario, in the order of their start. */
  async active(): Promise<ActiveScenario[]> {
    return this.database.query<ActiveScenario>(
      `SELECT ${COLUMNS} FROM sandbox_scenarios WHERE ${IS_ACTIVE} ORDER BY created_at, name`,
    );
  }

  /** With the name of the hauler, or of those whose connections name the customer. */
  async running(): Promise<(ScenarioRow & { readonly haulerName: string | null })[]> {
    return this.database.query<ScenarioRow & { readonly haulerName: string | null }>(
      `SELECT ${COLUMNS}, coalesce(
           (SELECT string_agg(DISTINCT haulers.name, ', ') FROM connections
              JOIN haulers ON haulers.id = connections.hauler_id
              WHERE subject = 'customers' AND connections.interface = 'vision' AND connections.customer_id = subject_id),
           (SELECT haulers.name FROM haulers WHERE haulers.id::text = subject_id)) AS "haulerName"
       FROM sandbox_scenarios WHERE ${IS_ACTIVE} ORDER BY created_at, name LIMIT 1000`,
    );
  }

  async list({ subject, subjectId }: ScenarioSubject): Promise<ScenarioRow[]> {
    return this.database.query<ScenarioRow>(
      `SELECT ${COLUMNS} FROM sandbox_scenarios WHERE (subject, subject_id) = ($1, $2) AND ${IS_ACTIVE}
       ORDER BY created_at, name`,
      [subject, subjectId],
    );
  }

  /** Replaces a scenario of the same name and operations, and deletes all that have ended. */
  async put(
    { subject, subjectId }: ScenarioSubject,
    { name, routes }: ScopedScenario,
    { times, forSeconds, parameters = {} }: StartScenarioRequest,
  ): Promise<ScenarioRow> {
    await deleteInSteps(
      this.database,
      `DELETE FROM sandbox_scenarios WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM sandbox_scenarios WHERE NOT (${IS_ACTIVE}) LIMIT $1 FOR UPDATE SKIP LOCKED))`,
    );
    const row = await this.database.only<ScenarioRow>(
      `INSERT INTO sandbox_scenarios (subject, subject_id, name, routes, parameters, remaining_times, ends_at)
       VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7::int))
       ON CONFLICT (subject, subject_id, name, routes) DO UPDATE SET parameters = excluded.parameters,
         remaining_times = excluded.remaining_times, ends_at = excluded.ends_at, created_at = excluded.created_at
       RETURNING ${COLUMNS}`,
      [subject, subjectId, name, routes, JSON.stringify(parameters), times ?? null, forSeconds ?? null],
    );
    await delay(START_NOTICE_MS);
    return row;
  }

  /** Ends a scenario that acts on these operations only. */
  async remove({ subject, subjectId }: ScenarioSubject, { name, routes }: ScopedScenario): Promise<void> {
    await this.database.query(
      'DELETE FROM sandbox_scenarios WHERE (subject, subject_id, name) = ($1, $2, $3) AND routes <@ $4::text[]',
      [subject, subjectId, name, routes],
    );
  }

  /** Counts one use. False if another request, perhaps of another instance, had the last one. */
  async take({ subject, subjectId, name, routes }: ActiveScenario): Promise<boolean> {
    const rows = await this.database.query(
      `WITH taken AS (
         UPDATE sandbox_scenarios SET remaining_times = remaining_times - 1
         WHERE (subject, subject_id, name, routes) = ($1, $2, $3, $4::text[]) AND ${IS_ACTIVE} RETURNING 1)
       SELECT 1 FROM taken`,
      [subject, subjectId, name, routes],
    );
    return rows.length > 0;
  }
}
