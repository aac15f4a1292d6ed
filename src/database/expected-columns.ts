/**
 * The columns of each table, as the migrations leave them. Made by `npm run generate -- schema`: a service refuses a database
 * that lacks one of them.
 */
export const EXPECTED_COLUMNS: Readonly<Record<string, string>> = {
  accounts:
    'account_name account_number address_id city contact_id country created_at email first_name hauler_id id last_name name_digest phone search_text state street unit updated_at zip',
  actions: 'action actor at changes error id person resource',
  api_keys:
    'activated_at all_customers connection_id created_at customer_id expires_at hash hauler_id id interfaces last_used_at name overlap_seconds prefix replaces_id retires_at revoked_at',
  backup_verifications: 'archive_created_at is_last verified_at',
  cameras: 'camera connection_id first_at hauler_id last_at name truck_id',
  clip_events: 'hauler_id id kind part_id recording_id request_id text',
  connections:
    'attempts base_url created_at customer_id deleted_at due_at enabled first_byte_timeout_seconds hauler_id id interface interval_seconds last_error run_requested_at sealed_key sealed_next_key started_at updated_at',
  console_sessions: 'cookie_hash created_at expires_at haulers id id_token key_id person role token_mac',
  coverage_days: 'camera_id connection_id day expired failed hauler_id stored truck_id',
  erasures:
    'account_id attempts camera_id connection_id created_at created_by due_at end_time erased finished_at hauler_id id last_error reason start_time started_at status truck_id',
  exchange_hours:
    'api_key_id by_sandbox connection_id count direction error_code failure hauler_id hour interface last_id result route status',
  exchanges:
    'api_key_id connection_id direction duration_ms error_code failure hauler_id id ignored_fields in_revision interface key_prefix method path refs replay_of request_body request_bytes request_form request_headers request_id request_sha256 response_body response_bytes response_form response_headers response_sha256 result route scenario status',
  hauler_moves: 'cell exported_at hauler_id since state',
  hauler_retention: 'changed_at changed_by continuous_days hauler_id on_demand_days',
  haulers: 'created_at id name',
  holds:
    'camera_id case_id connection_id created_at created_by end_time hauler_id id reason release_reason released_at released_by start_time truck_id',
  idempotency_keys: 'body created_at fingerprint hauler_id headers key path status',
  kiosks:
    'active connection_id created_at deactivated_at external_id flagged_reason hauler_id id name partner_updated_at site_external_id updated_at',
  lanes: 'kind lane owned_until owner since',
  materials:
    'active connection_id created_at deactivated_at external_id flagged_reason hauler_id id kiosk_ids material_type measure_unit partner_updated_at site_ids updated_at',
  migrations: 'id name timestamp',
  outbound_stop: 'one reason since',
  partner_camera_names: 'connection_id hauler_id requested_name returned_name truck_id',
  recording_shares:
    'created_at expires_at hauler_id id last_viewed_at max_views reason recording_id revoked_at start_time ticket_id token_hash views',
  recordings:
    'attempts camera_id connection_id created_at customer_id deleted_at draft_bytes draft_id draft_total draft_validator due_at duration_seconds end_time expires_at fetch_by gaps hauler_id id last_error link part_id partner_recording_id reason reason_code received_bytes relinks sha256 size_bytes source start_time started_at status stored_at tried_since truck_id updated_at',
  reference_camera_names: 'camera_id customer_id name truck_id',
  reference_clips:
    'camera_id created_at customer_id end_time id recording_id request_id sha256 size_bytes start_time truck_id',
  reference_clocks: 'customer_id offset_ms',
  reference_recordings: 'camera_id created_at customer_id end_time id sha256 size_bytes start_time truck_id',
  reference_site_data: 'body byte_length digest hauler_id updated_at',
  reference_video_requests:
    'attempts camera_id created_at customer_id due_at end_time finished_at id last_error message sandbox start_time started_at status truck_id',
  removed_files: 'erasure_id exchanges hauler_id recording_id size_bytes',
  request_counts: 'ends_at key_id requests',
  sandbox_scenarios: 'created_at ends_at name parameters remaining_times routes subject subject_id',
  schema_version: 'migrated_at oldest_compatible_version one version',
  sites:
    'active city connection_id country created_at deactivated_at external_id flagged_reason hauler_id id line1 name partner_updated_at state updated_at zip_code',
  storage_roots: 'root',
  storing_files: 'id name renewed_at',
  sync_changes: 'after before change external_id hauler_id kind name position run_id',
  sync_holds: 'connection_id external_id hauler_id kind rejected',
  sync_issues: 'hauler_id kind path position raw reason rule run_id severity',
  sync_runs:
    'absent_lists attempts connection_id counts created_at error finished_at guard has_changes hauler_id id note refusals started_at status',
  ticket_footage: 'cameras connection_id hauler_id truck_field updated_at',
  ticket_revisions: 'api_key_id body exchange_id hauler_id received_at request_id result revision ticket_id',
  tickets:
    'contents_version created_at custom_fields hauler_id id inbound_number inbound_updated_at materials outbound_number outbound_updated_at revision site_id updated_at',
  video_polls: 'attempts connection_id customer_id due_at hauler_id last_error started_at',
  video_readings: 'end_time hauler_id read_at start_time subscription_id',
  video_request_parts:
    'attempts camera_id connection_id customer_id deadline_at due_at end_time file_removed_at hauler_id id last_error may_be_taken next_poll_at not_found number partner_request_id polled_individually_at polls reason request_id start_time started_at status submit_attempts submitted_at truck_id',
  video_requests:
    'camera_id connection_id created_at customer_id deadline_at end_time hauler_id id reason start_time status truck_id updated_at',
  video_subscriptions:
    'attempts camera_id connection_id created_at customer_id deferred_at deleted_at due_at enabled hauler_id id interval_seconds last_error last_read_at read_until start_time started_at truck_id updated_at',
  video_windows:
    'attempts connection_id due_at end_time hauler_id id last_error reason reread_day start_time started_at subscription_id',
  vision_findings: 'connection_id digest first_seen_at hauler_id last_seen_at occurrences path raw reason',
  webhook_deliveries:
    'attempts created_at data due_at ended_at endpoint_id hauler_id id last_error reason response_body response_status started_at status topic',
  webhook_endpoints:
    'connection_id created_at disabled_reason dropped enabled failing_since failures format former_secret_until hauler_id id key_id mailed_at paused_until sealed_former_secret sealed_secret topics updated_at url',
  webhook_states: 'endpoint_id subject topic',
  write_probes: 'filler id',
};
