import { Text, TextList } from '../common/fields/decorators.js';
import { example, optional } from '../common/fields/options.js';

/** The cells that the console switches between. */
export class CellsView {
  @Text('Name of this cell (CELL)', optional, example('a')) cell?: string;
  @TextList('All cells behind the proxy (CELLS)') cells!: string[];
}
