import { inCell } from '../client/api.js';
import type { Session } from '../client/session.js';

/** The same page of another cell. The cell leads the browser on to the address that all cells share. */
export const pageOfCell = (cell: string, address: string): string => inCell(address, cell);

/** Switches between the cells behind one proxy. */
export function CellSwitch({ cell, cells, page }: Pick<Session, 'cell' | 'cells'> & { page: string }) {
  if (cells.length < 2) return null;
  return (
    <nav class="cells" aria-label="Cells">
      <span class="hint">Cell</span>
      <ul>
        {cells.map((name) => (
          <li key={name}>
            {/* Another service answers there: the whole document is loaded. */}
            <a
              href={pageOfCell(name, `/console/${page}`)}
              target="_self"
              aria-current={name === cell ? 'true' : undefined}
            >
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
