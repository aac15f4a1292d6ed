import { SYNC_KINDS, type SyncKind } from '../../contracts/admin/sync.values.js';
import { type Instant, instantOf, looseTimeMessage, strictTime } from '../../contracts/common/instant.js';
import { MAX_REFUSALS } from '../../contracts/admin/sync-runs.routes.js';
import { isJsonObject } from '../../contracts/common/json.js';
import { fieldPath, type Read, readerOf } from '../../contracts/common/fields/field.js';
import { storableText } from '../../contracts/common/text.js';
import { summarise, type Violation } from '../../contracts/common/violation.js';
import { isWithoutParent, Kiosk, Material, missingParent, Site } from '../../contracts/site/site.api.js';
import type { Session } from '../../core/database/session.js';
import type { Sql } from '../../core/database/sql.js';
import { redactJson, redactText } from '../../core/observability/redaction.js';
import { type AnswerRecord, recordTooLarge } from '../../partner-client/partner-answer.js';
import { FIELD } from './refusals.rules.js';

/** The lists of an answer that contain records. */
export const RECORD_LISTS = SYNC_KINDS.map((kind) => `data.${kind}`);

/** The content of each kind: all columns except the id, `updatedAt` and `active`. A change of `active` has its own name. */
export const CONTENT_COLUMNS = {
  sites: ['name', 'line1', 'city', 'state', 'country', 'zip_code'],
  kiosks: ['site_external_id', 'name'],
  materials: ['site_ids', 'kiosk_ids', 'material_type', 'measure_unit'],
} as const satisfies Record<SyncKind, readonly string[]>;

/** The columns that are copied into the staging table, in the order of `Row`. */
const STAGED_COLUMNS = {
  kind: 'text',
  position: 'integer',
  external_id: 'uuid',
  active: 'boolean',
  partner_updated_at: 'timestamptz',
  fault_path: 'text',
  rule: 'text',
  fault: 'text',
  raw: 'text',
  flagged_reason: 'text',
  name: 'text',
  line1: 'text',
  city: 'text',
  state: 'text',
  country: 'text',
  zip_code: 'text',
  site_external_id: 'uuid',
  site_ids: 'uuid[]',
  kiosk_ids: 'uuid[]',
  material_type: 'text',
  measure_unit: 'text',
} as const;

/** Columns that `mergeMaterials` fills. A merged record is a part of another one. */
const MERGED_COLUMNS = 'merged boolean NOT NULL DEFAULT false, oldest_updated_at timestamptz';

type Cell = string | null | undefined;
type Content = Partial<Record<(typeof CONTENT_COLUMNS)[SyncKind][number], Cell>>;
const CONTENT_NAMES = Object.keys(STAGED_COLUMNS).slice(10) as (keyof Content)[];

/** A clock in another time zone is tolerated; a wrong year would make every later answer stale. */
const FUTURE_TOLERANCE_MS = 24 * 3_600_000;

/** Earlier times are the zero of a clock: year 1 of .NET, 1753 and 1900 of databases, 1970 of Unix, in any zone. */
const EARLIEST: Instant = '1970-01-03T00:00:00.000000Z';

/** A quarantined record is stored up to this length. */
const MAX_RAW_LENGTH = 8_000;

/** Further issues of a run are counted but not stored: this number is enough to understand a systematic fault. */
export const MAX_STORED_ISSUES = 10_000;

/** The parents of each kind: column and field of the id, table, and name in messages. A staged element has at most one of each. */
type Parent = Readonly<Record<'column' | 'field' | 'noun', string>> & { readonly table: SyncKind };

const PARENTS: Readonly<Record<SyncKind, readonly Parent[]>> = {
  sites: [],
  kiosks: [{ column: 'site_external_id', field: 'siteId', table: 'sites', noun: 'site' }],
  materials: [
    { column: 'site_ids[1]', field: 'siteId', table: 'sites', noun: 'site' },
    { column: 'kiosk_ids[1]', field: 'kioskId', table: 'kiosks', noun: 'kiosk' },
  ],
};

type RecordOf<K extends SyncKind> = { sites: Site; kiosks: Kiosk; materials: Material }[K];

const READERS: { readonly [K in SyncKind]: Read<RecordOf<K>> } = {
  sites: readerOf(Site),
  kiosks: readerOf(Kiosk),
  materials: readerOf(Material),
};

/** The parts that a record can be without. A link of a material is none: without it, tickets of a parent would be refused. */
const OPTIONAL: Readonly<Record<SyncKind, ReadonlySet<string>>> = {
  sites: new Set(['address', 'active', 'updatedAt']),
  kiosks: new Set(['active', 'updatedAt']),
  materials: new Set(['active', 'updatedAt']),
};

/** A record of an answer. With violations it cannot be used. */
interface ReadRecord {
  readonly record: Site | Kiosk | Material;
  readonly violations: readonly Violation[];
  /** What was left out, or read in another form. */
  readonly flags: readonly Violation[];
}

const contentOf: { readonly [K in SyncKind]: (record: RecordOf<K>) => Content } = {
  sites: ({ name, address }) => ({
    name,
    line1: address?.line1,
    city: address?.city,
    state: address?.state,
    country: address?.country,
    zip_code: address?.zipCode,
  }),
  kiosks: ({ siteId, name }) => ({ site_external_id: siteId, name }),
  materials: ({ siteId, kioskId, materialType, measureUnit }) => ({
    site_ids: siteId && `{${siteId}}`,
    kiosk_ids: kioskId && `{${kioskId}}`,
    material_type: materialType,
    measure_unit: measureUnit,
  }),
};

/** Validates the records of an answer and writes them in the text format of COPY. */
export class RecordStager {
  private readonly latest: Instant;

  constructor(now: Date) {
    this.latest = instantOf(new Date(now.getTime() + FUTURE_TOLERANCE_MS));
  }

  copyText(records: readonly AnswerRecord[]): string {
    let text = '';
    for (const record of records) text += this.row(record);
    return text;
  }

  private row({ list, index, value, text }: AnswerRecord): string {
    const kind = list.slice('data.'.length) as SyncKind;
    const path = `${kind}[${index}]`;
    if (text === undefined) return copyRow(this.faultyRow(kind, index, undefined, [recordTooLarge(path)], 'null'));
    const { record, violations, flags } = this.read(kind, value, path);
    if (violations.length > 0) return copyRow(this.faultyRow(kind, index, record.id, violations, text));
    const { id, active, updatedAt } = record;
    const content = contentOf[kind](record as Site & Kiosk & Material);
    const [flag] = flags;
    // Of the records that are stored, only these may be flagged, and are then stored with their text.
    const mayBeFlagged = flag !== undefined || (content.site_ids != null && content.kiosk_ids != null);
    const raw = mayBeFlagged ? redactJson(text) : text;
    const reason = flag && redactText(storableText(summarise(flags)));
    const flagPath = flag && redactText(storableText(fieldPath(path, flag.path)));
    const cells: Cell[] = [kind, String(index), id, active === false ? 'f' : 't', updatedAt];
    cells.push(flagPath, flag?.rule, null, raw, reason);
    for (const name of CONTENT_NAMES) cells.push(content[name]);
    return copyRow(cells);
  }

  /**
   * The record, without its optional parts that cannot be read (decision 33), each with a flag. The paths in flags and their messages
   * begin within the record, so that they stay the same from list to list.
   */
  private read(kind: SyncKind, given: unknown, path: string): ReadRecord {
    const whole = this.tryRead(kind, given, path);
    if (whole.violations.length === 0 || !isJsonObject(given)) return { ...whole, flags: [] };
    const flags: Violation[] = [];
    const strict = typeof given['updatedAt'] === 'string' ? strictTime(given['updatedAt']) : undefined;
    const timed = strict === undefined ? given : { ...given, updatedAt: strict };
    if (strict !== undefined)
      flags.push({ path: 'updatedAt', rule: 'isInstant', message: looseTimeMessage('updatedAt') });
    const faults = this.tryRead(kind, timed, '').violations;
    const unread = new Set(faults.map((fault) => /^\w*/.exec(fault.path)?.[0] ?? ''));
    if (![...unread].every((name) => OPTIONAL[kind].has(name))) return { ...whole, flags: [] };
    flags.push(...faults.map((fault) => ({ ...fault, message: `${fault.message}; it was left out` })));
    const rest = Object.fromEntries(Object.entries(timed).filter(([name]) => !unread.has(name)));
    const read = this.tryRead(kind, rest, path);
    return { ...read, flags };
  }

  private tryRead(kind: SyncKind, value: unknown, path: string): Omit<ReadRecord, 'flags'> {
    const violations: Violation[] = [];
    const record = READERS[kind](value, path, violations);
    if (violations.length === 0) violations.push(...this.recordFaults(kind, record, path));
    return { record, violations };
  }

  private faultyRow(
    kind: SyncKind,
    index: number,
    id: string | undefined,
    violations: readonly Violation[],
    raw: string,
  ): Cell[] {
    const fault = redactText(storableText(summarise(violations)));
    const path = redactText(storableText(violations[0]?.path ?? ''));
    return [kind, String(index), id, null, null, path, violations[0]?.rule, fault, redactJson(raw), null];
  }

  private recordFaults(kind: SyncKind, record: Site | Kiosk | Material, path: string): Violation[] {
    if (kind === 'materials' && isWithoutParent(record as Material)) return [missingParent(path)];
    const { updatedAt } = record;
    if (updatedAt === undefined) return [];
    const field = fieldPath(path, 'updatedAt');
    if (updatedAt > this.latest) return [{ path: field, rule: 'isPast', message: `${field} lies in the future` }];
    if (updatedAt >= EARLIEST) return [];
    const message = `${field} is the first day of a calendar, not the time of a change`;
    return [{ path: field, rule: 'isInstant', message }];
  }
}

const WIDTH = Object.keys(STAGED_COLUMNS).length;
const RAW = Object.keys(STAGED_COLUMNS).indexOf('raw');
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function copyRow(cells: readonly Cell[]): string {
  let row = '';
  for (let i = 0; i < WIDTH; i++) {
    if (i > 0) row += '\t';
    const cell = cells[i];
    if (cell == null) row += '\\N';
    else {
      const text = i === RAW && cell.length > MAX_RAW_LENGTH ? cell.slice(0, MAX_RAW_LENGTH) : cell;
      row += /[\\\t\n\r]/.test(text) ? text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? '') : text;
    }
  }
  return `${row}\n`;
}

/** Copies rows of `STAGED_COLUMNS` into a temporary table of the transaction. */
export async function stageRecords(transaction: Session, rows: AsyncIterable<string>): Promise<void> {
  const columns = Object.entries(STAGED_COLUMNS).map(([name, type]) => `${name} ${type}`);
  await transaction.query(`CREATE TEMP TABLE staged (${columns.join(', ')}, ${MERGED_COLUMNS}) ON COMMIT DROP`);
  await transaction.copyIn(`COPY staged (${Object.keys(STAGED_COLUMNS).join(', ')}) FROM STDIN`, rows);
  // The first record with an id counts (decision 33). Materials may have several parents: see `mergeMaterials`.
  await transaction.query(`
    UPDATE staged given SET fault_path = ${pathOf('.id')}, rule = 'isUnique', fault = ${pathOf('.id is the id of an earlier element')}
    FROM (SELECT kind, external_id, min(position) AS first FROM staged WHERE external_id IS NOT NULL AND kind <> 'materials'
      GROUP BY kind, external_id HAVING count(*) > 1) repeated
    WHERE given.kind = repeated.kind AND given.external_id = repeated.external_id AND given.position > repeated.first`);
}

/** Quarantines records whose parent is unknown, and flags materials whose kiosk belongs to another site (decision 32). */
export async function checkParents(transaction: Sql, haulerId: string, kind: SyncKind): Promise<void> {
  for (const { column, field, table, noun } of PARENTS[kind]) {
    await transaction.query(
      `UPDATE staged given SET fault_path = ${pathOf(`.${field}`)}, rule = 'isKnown',
         fault = ${pathOf(`.${field} is not the id of a known ${noun}`)}
       WHERE kind = '${kind}' AND fault IS NULL AND ${column} IS NOT NULL
         AND NOT EXISTS (SELECT FROM ${table} p WHERE p.hauler_id = $1 AND p.external_id = given.${column})`,
      [haulerId],
    );
  }
  if (kind !== 'materials') return;
  await transaction.query(
    `UPDATE staged given SET flagged_reason = concat_ws('; ', given.flagged_reason,
       'the kiosk ' || k.external_id || ' belongs to the site ' || k.site_external_id)
     FROM kiosks k
     WHERE given.kind = 'materials' AND given.fault IS NULL AND k.hauler_id = $1
       AND k.external_id = given.kiosk_ids[1] AND k.site_external_id <> given.site_ids[1]`,
    [haulerId],
  );
}

/** The quarantined and flagged records. One is flagged for an optional part, the form of its time, or a kiosk of another site. */
const ISSUES = `(
  SELECT kind, position, raw, coalesce(fault, flagged_reason) AS reason,
    CASE WHEN fault IS NULL THEN 'flagged' ELSE 'quarantined' END AS severity,
    coalesce(fault_path, given.kind || '[' || given.position || '].kioskId') AS path,
    coalesce(rule, 'kioskOfSite') AS rule
  FROM staged AS given WHERE fault IS NOT NULL OR flagged_reason IS NOT NULL)`;

/** Stores the quarantined and flagged records of a run in the order of the answer, and all of them in numbers, by rule. */
export async function storeIssues(transaction: Sql, haulerId: string, runId: string): Promise<void> {
  await transaction.query(
    `INSERT INTO sync_issues (hauler_id, run_id, position, severity, kind, path, rule, reason, raw)
     SELECT $1, $2, row_number() OVER (ORDER BY array_position($3::text[], kind), position) - 1,
       severity, kind, path, rule, reason, raw
     FROM ${ISSUES} AS issue ORDER BY array_position($3::text[], kind), position LIMIT ${MAX_STORED_ISSUES}`,
    [haulerId, runId, SYNC_KINDS],
  );
  await transaction.query(
    `UPDATE sync_runs SET refusals = (
       SELECT jsonb_agg(to_jsonb(g) ORDER BY g.severity DESC, g.count DESC, g.kind, g.field, g.rule) FROM (
         SELECT severity, kind, ${FIELD} AS field, rule, count(*)::int AS count, left(min(reason), 500) AS example
         FROM ${ISSUES} AS issue GROUP BY 1, 2, 3, 4 ORDER BY count(*) DESC LIMIT ${MAX_REFUSALS}) AS g)
     WHERE hauler_id = $1 AND id = $2`,
    [haulerId, runId],
  );
}

/** SQL of the path of a staged record `given`, as in `sites[3].id`. */
const pathOf = (suffix: string) => `given.kind || '[' || given.position || ']${suffix}'`;
