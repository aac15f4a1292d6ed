import type { Env } from '../config/env.js';
import type { CellsView } from '../contracts/admin/session-view.dto.js';

export const toCellsView = ({ CELL, CELLS = [] }: Pick<Env, 'CELL' | 'CELLS'>): CellsView => ({
  cells: [...CELLS],
  ...(CELL === undefined ? {} : { cell: CELL }),
});
