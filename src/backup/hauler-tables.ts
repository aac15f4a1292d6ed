/**
 * What happens to the rows of a table when a hauler moves to another cell. A test compares the list with the schema: a new table
 * is added here, after the tables that its foreign keys name.
 */
export type TableFate =
  /** Its rows move with the hauler whose id is in the column. `sealed`: columns that SECRETS_KEY encrypts, for `sealKey`. */
  | { readonly table: string; readonly by: string; readonly isText?: true; readonly sealed?: readonly string[] }
  /** Its rows belong to the cell. */
  | { readonly table: string; readonly staysBecause: string };

const OF_THE_INSTALLATION = 'describes the database or the instances of the cell';
const OF_MANY_HAULERS = 'sums over all haulers of the cell; the exchanges themselves move';

/** The id of a customer of the partner side is that of the hauler, unless its key names another. */
const ofCustomer = (table: string): TableFate => ({ table, by: 'customer_id', isText: true });

const ofHauler = (...tables: string[]): TableFate[] => tables.map((table) => ({ table, by: 'hauler_id' }));

/** Parents first. */
export const TABLE_FATES: readonly TableFate[] = [
  { table: 'haulers', by: 'id' },
  { table: 'connections', by: 'hauler_id', sealed: ['sealed_key', 'sealed_next_key'] },
  ...ofHauler(
    'api_keys',
    'accounts',
    'tickets',
    'ticket_revisions',
    'idempotency_keys',
    'exchanges',
    'sites',
    'kiosks',
    'materials',
    'sync_runs',
    'sync_issues',
    'sync_changes',
    'sync_holds',
    'video_requests',
    'video_request_parts',
    'clip_events',
    'video_polls',
    'video_subscriptions',
    'video_windows',
    'video_readings',
    'recordings',
    'coverage_days',
    'partner_camera_names',
    'cameras',
    'vision_findings',
    'ticket_footage',
    'holds',
    'hauler_retention',
    'recording_shares',
    'erasures',
    'reference_site_data',
  ),
  { table: 'webhook_endpoints', by: 'hauler_id', sealed: ['sealed_secret', 'sealed_former_secret'] },
  ofCustomer('reference_camera_names'),
  ofCustomer('reference_recordings'),
  ofCustomer('reference_video_requests'),
  ofCustomer('reference_clips'),
  ofCustomer('reference_clocks'),
  { table: 'actions', staysBecause: 'says what the administrators of the cell have done' },
  { table: 'console_sessions', staysBecause: 'SECRETS_KEY of the cell makes its cookies: people sign in again' },
  { table: 'exchange_hours', staysBecause: OF_MANY_HAULERS },
  { table: 'sandbox_scenarios', staysBecause: 'a scenario lasts for minutes, and may be of a connection or of all' },
  { table: 'hauler_moves', staysBecause: 'says for this cell which haulers come and go' },
  { table: 'webhook_deliveries', staysBecause: 'the cell in which something happened delivers it' },
  { table: 'webhook_states', staysBecause: 'the other cell announces the states that last' },
  { table: 'lanes', staysBecause: OF_THE_INSTALLATION },
  { table: 'storage_roots', staysBecause: OF_THE_INSTALLATION },
  { table: 'storing_files', staysBecause: 'says what the processes of the cell are storing at the moment' },
  { table: 'schema_version', staysBecause: OF_THE_INSTALLATION },
  { table: 'write_probes', staysBecause: OF_THE_INSTALLATION },
  { table: 'backup_verifications', staysBecause: OF_THE_INSTALLATION },
  { table: 'removed_files', staysBecause: 'names files that the storage of the cell still has' },
  { table: 'outbound_stop', staysBecause: OF_THE_INSTALLATION },
  { table: 'migrations', staysBecause: OF_THE_INSTALLATION },
];
