/** A proxy finds the cell of a link by the beginning of its path, and passes the path on as it is. */
export const cellPath = (cell: string | undefined): string => (cell === undefined ? '' : `/cells/${cell}`);
