/** Whether retention has deleted a file of this part of a request. The recording may be gone since. */
export const isRemoved = (part: string): string => `(${part}.rows_dropped_at IS NOT NULL OR EXISTS (
  SELECT FROM recordings AS removed WHERE removed.hauler_id = ${part}.hauler_id AND removed.part_id = ${part}.id
    AND removed.deleted_at IS NOT NULL))`;
