/** A name of a camera in the form in which names are compared. */
const comparable = (name: string): string => `lower(btrim(${name}))`;

/** The other names that the partner has used for a camera of the truck of `row`. */
const otherNames = (camera: string, row: string): string => `(
  SELECT array_agg(DISTINCT CASE WHEN ${comparable('requested_name')} = ${camera} THEN ${comparable('returned_name')}
    ELSE ${comparable('requested_name')} END)
  FROM partner_camera_names AS pair
  WHERE (pair.hauler_id, pair.connection_id, pair.truck_id) = (${row}.hauler_id, ${row}.connection_id, ${row}.truck_id)
    AND ${camera} IN (${comparable('requested_name')}, ${comparable('returned_name')})
    AND ${comparable('requested_name')} <> ${comparable('returned_name')})`;

/**
 * Whether two rows of one truck name the same camera, as `isNameOf` decides it: by letters, or because each name is the only
 * other name of the other. A test compares both.
 */
export const sameCamera = (one: string, other: string): string => {
  const [a, b] = [comparable(`${one}.camera_id`), comparable(`${other}.camera_id`)];
  return `(${a} = ${b} OR ${otherNames(a, one)} = ARRAY[${b}] AND ${otherNames(b, other)} = ARRAY[${a}])`;
};

/**
 * Whether footage overlaps the range of a rule of its truck: a hold, or an erasure. A rule without a camera is about all of
 * them. Both rows have hauler, connection, truck, camera, start and end.
 */
export const isWithin = (footage: string, rule: string): string => `(
  (${rule}.hauler_id, ${rule}.connection_id, ${rule}.truck_id)
    = (${footage}.hauler_id, ${footage}.connection_id, ${footage}.truck_id)
  AND ${rule}.start_time < ${footage}.end_time AND ${rule}.end_time > ${footage}.start_time
  AND (${rule}.camera_id IS NULL OR ${sameCamera(rule, footage)}))`;

/** Whether an active hold keeps this footage. */
export const isHeld = (footage: string): string =>
  `EXISTS (SELECT FROM holds AS hold WHERE hold.released_at IS NULL AND ${isWithin(footage, 'hold')})`;

/** Whether a confirmed erasure has closed the range of this footage: it must not be fetched again. */
export const isErased = (footage: string): string =>
  `EXISTS (SELECT FROM erasures AS erasure WHERE erasure.status IN ('running', 'done') AND ${isWithin(footage, 'erasure')})`;
