/** What is read of a page at a time, in bytes; a single row may have more. */
export const PIECE_BYTES = 1024 * 1024;

/** What the database holds of a row, without having read it. */
export interface RowSize<Id> {
  readonly id: Id;
  readonly bytes: number;
}

/** Ids of rows that may be read together, in their order. */
export function piecesOf<Id>(sizes: readonly RowSize<Id>[]): Id[][] {
  const pieces: Id[][] = [];
  let room = 0;
  for (const { id, bytes } of sizes) {
    if (pieces.length === 0 || bytes > room) {
      pieces.push([]);
      room = PIECE_BYTES;
    }
    pieces.at(-1)?.push(id);
    room -= bytes;
  }
  return pieces;
}
