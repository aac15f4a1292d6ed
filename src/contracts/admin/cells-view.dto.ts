import { TextListField } from '../common/fields/nested-fields.js';
import { TextField } from '../common/fields/scalar-fields.js';

/** The cells that the console switches between. */
export class CellsView {
  @TextField({ description: 'Name of this cell (CELL)', max: 12, optional: true, example: 'a' })
  cell?: string;

  @TextListField({ description: 'All cells behind the proxy (CELLS)', max: 1000, maxLength: 12 })
  cells!: string[];
}
