/** A name of a camera in the form in which names are compared. */
const comparable = (name: string): string => `lower(btrim(${name}))`;

/**
 * What all names of a row's camera have in common, as `cameraOf` decides it: rows of one truck are of the same camera where it is equal. A
 * name that has never been recorded or paired is a camera of its own.
 */
export const cameraSql = (row: string): string => `coalesce((
  SELECT own.camera FROM cameras AS own
  WHERE (own.hauler_id, own.connection_id, own.truck_id) = (${row}.hauler_id, ${row}.connection_id, ${row}.truck_id)
    AND ${comparable('own.name')} = ${comparable(`${row}.camera_id`)} LIMIT 1), ${comparable(`${row}.camera_id`)})`;
