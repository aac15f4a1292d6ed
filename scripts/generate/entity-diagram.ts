import type { Sql } from '../../src/core/database/sql.js';

export interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly isPrimary: boolean;
  readonly isNullable: boolean;
  /** The table that a foreign key of this column leads to; of a tenant's composite key, only the last column has it. */
  readonly foreignTable: string | null;
}

/** The tables of each diagram. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  tenants: ['haulers', 'api_keys', 'accounts', 'tickets', 'ticket_revisions', 'idempotency_keys'],
  sites: ['connections', 'sites', 'kiosks', 'materials', 'sync_runs', 'sync_issues', 'sync_changes', 'sync_holds'],
  video: [
    'video_requests',
    'video_request_parts',
    'clip_events',
    'video_polls',
    'video_subscriptions',
    'video_windows',
    'video_readings',
    'recordings',
    'removed_files',
    'coverage_days',
    'partner_camera_names',
    'cameras',
    'ticket_footage',
    'recording_shares',
    'vision_findings',
    'holds',
    'hauler_retention',
    'erasures',
  ],
  operation: [
    'exchanges',
    'exchange_hours',
    'connection_hours',
    'actions',
    'console_sessions',
    'lanes',
    'storage_roots',
    'storing_files',
    'schema_version',
    'write_probes',
    'outbound_stop',
    'webhook_endpoints',
    'webhook_deliveries',
    'webhook_states',
  ],
  reference: [
    'reference_site_data',
    'reference_camera_names',
    'reference_recordings',
    'reference_video_requests',
    'reference_clips',
    'reference_clocks',
    'sandbox_scenarios',
  ],
};

/** The parent of a column that has no foreign key. `request_id` depends on the table. */
const PARENTS: Readonly<Record<string, string>> = {
  hauler_id: 'haulers',
  connection_id: 'connections',
  api_key_id: 'api_keys',
  ticket_id: 'tickets',
  run_id: 'sync_runs',
  part_id: 'video_request_parts',
  subscription_id: 'video_subscriptions',
  recording_id: 'recordings',
  exchange_id: 'exchanges',
  // By the ids of the partner.
  site_id: 'sites',
  site_external_id: 'sites',
  site_ids: 'sites',
  kiosk_ids: 'kiosks',
};
const REQUESTS: Readonly<Record<string, string>> = {
  video_request_parts: 'video_requests',
  clip_events: 'video_requests',
  reference_clips: 'reference_video_requests',
};

/** The columns of all tables but those of TypeORM and of partitions. */
export function readColumns(database: Sql): Promise<Column[]> {
  return database.query<Column>(
    `SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, NULL) AS type,
       EXISTS (SELECT FROM pg_constraint p WHERE p.conrelid = c.oid AND p.contype = 'p' AND a.attnum = ANY (p.conkey)) AS "isPrimary",
       NOT a.attnotnull AS "isNullable",
       (SELECT f.confrelid::regclass::text FROM pg_constraint f
        WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.conkey[cardinality(f.conkey)] = a.attnum LIMIT 1) AS "foreignTable"
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND c.relname <> 'migrations' AND a.attnum > 0 AND NOT a.attisdropped
     ORDER BY c.relname, a.attnum`,
  );
}

interface Reference {
  readonly column: Column;
  readonly parent: string;
  readonly isForeignKey: boolean;
}

/** The lines of a Mermaid diagram of these tables; their parents in other diagrams have no columns. */
export function entityDiagram(columns: readonly Column[], tables: readonly string[]): string[] {
  const shown = columns.filter(({ table }) => tables.includes(table));
  const references = shown.flatMap(referenceOf);
  // A table that has another parent belongs to a hauler through it.
  const hasOther = ({ column: { table } }: Reference) =>
    references.some(({ column, parent }) => column.table === table && parent !== 'haulers' && !column.isNullable);
  const drawn = references.filter((each) => each.parent !== 'haulers' || !hasOther(each));
  return [
    'erDiagram',
    ...drawn.map(
      ({ column, parent, isForeignKey }) =>
        `  ${parent} ${column.isNullable ? '|o' : '||'}${isForeignKey ? '--' : '..'}o{ ${column.table} : ${column.name}`,
    ),
    ...tables.flatMap((table) => entity(shown, table, references)),
  ];
}

function referenceOf(column: Column): Reference[] {
  const parent =
    column.foreignTable ?? (column.name === 'request_id' ? REQUESTS[column.table] : PARENTS[column.name]) ?? undefined;
  // The partner side shares no table with the platform side.
  const isOwn = /^(reference|sandbox)_/.test(column.table);
  if (parent === undefined || parent === column.table || (isOwn && !parent.startsWith('reference_'))) return [];
  return [{ column, parent, isForeignKey: column.foreignTable !== null }];
}

function entity(columns: readonly Column[], table: string, references: readonly Reference[]): string[] {
  const lines = columns
    .filter((column) => column.table === table)
    .flatMap((column) => {
      const isReference = references.some((each) => each.column === column);
      if (!column.isPrimary && !isReference && column.name !== 'status') return [];
      const keys = [...(column.isPrimary ? ['PK'] : []), ...(isReference ? ['FK'] : [])].join(', ');
      return [
        `    ${column.type.replace('[]', '_array').replaceAll(' ', '_')} ${column.name}${keys === '' ? '' : ` ${keys}`}`,
      ];
    });
  return lines.length === 0 ? [`  ${table}`] : [`  ${table} {`, ...lines, '  }'];
}
