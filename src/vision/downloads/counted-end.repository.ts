import type { Also } from '../../work/run.js';
import { addDaysSql, type CountedRow } from '../recordings/coverage-days.repository.js';
import { dayDeltas } from '../recordings/coverage-days.rules.js';
import type { RecordingState } from '../recordings/recording.rules.js';

/**
 * Counts a stored file in the hour of its download, and the time of a chunk in its new state, by the statement that ends the download.
 * The time of a clip is counted after its part is locked.
 */
export function countedEnd(
  row: CountedRow & { readonly part_id: string | null },
  status: RecordingState,
): Also | undefined {
  if (status === row.status) return undefined;
  const { hauler_id, connection_id, part_id: partId } = row;
  return {
    sql: (value) => `hours AS (
      INSERT INTO stored_hours AS h (hauler_id, connection_id, hour, recordings)
      SELECT hauler_id, connection_id, date_trunc('hour', now(), 'UTC'), 1
        FROM json_to_recordset(${value}::json -> 'stored') AS row (hauler_id uuid, connection_id uuid)
       WHERE EXISTS (SELECT FROM written)
          ON CONFLICT (hour, hauler_id, connection_id) DO UPDATE SET recordings = h.recordings + 1),
      days AS (${addDaysSql(`(${value}::json -> 'days')`, 'EXISTS (SELECT FROM written)')})`,
    value: JSON.stringify({
      stored: status === 'stored' ? [{ hauler_id, connection_id }] : [],
      days: partId === null ? dayDeltas([{ camera: row, before: row, after: { ...row, status } }]) : [],
    }),
  };
}
