import { cameraSql } from '../camera.sql.js';

/**
 * Whether footage overlaps the range of a rule of its truck: a hold, or an erasure. A rule without a camera is about all of
 * them. Both rows have hauler, connection, truck, camera, start and end.
 */
export const isWithin = (footage: string, rule: string): string => `(
  (${rule}.hauler_id, ${rule}.connection_id, ${rule}.truck_id)
    = (${footage}.hauler_id, ${footage}.connection_id, ${footage}.truck_id)
  AND ${rule}.start_time < ${footage}.end_time AND ${rule}.end_time > ${footage}.start_time
  AND (${rule}.camera_id IS NULL OR ${cameraSql(rule)} = ${cameraSql(footage)}))`;

/** Whether an active hold keeps the recording `r`. */
export const IS_HELD = `EXISTS (SELECT FROM holds AS hold WHERE hold.released_at IS NULL AND ${isWithin('r', 'hold')})`;

/** Whether a confirmed erasure has closed the range of this footage: it must not be fetched again. */
export const isErased = (footage: string): string =>
  `EXISTS (SELECT FROM erasures AS erasure WHERE erasure.status IN ('running', 'done') AND ${isWithin(footage, 'erasure')})`;
