import { useEffect, useState } from 'preact/hooks';
import type { Attention } from '../../../contracts/admin/attention.dto.js';
import { useSession } from '../../client/session.js';
import { pageOfCell } from '../../parts/cells.js';
import { Badge, Card } from '../../parts/states.js';
import { formatCount } from '../../parts/values.js';

const EVERY_MS = 30_000;
const TIMEOUT_MS = 20_000;

/** How many things need attention in each other cell behind the proxy, by the session that the browser has there. */
export function OtherCells() {
  const { otherCells, isPartner } = useSession();
  if (isPartner || otherCells.length === 0) return null;
  return (
    <Card title="Other cells">
      <ul>
        {otherCells.map((cell) => (
          <OtherCell key={cell} cell={cell} />
        ))}
      </ul>
    </Card>
  );
}

/** A number; why it is not known; undefined at first. */
type CellState = number | 'signed-out' | 'unavailable' | undefined;

function OtherCell({ cell }: { cell: string }) {
  const [state, setState] = useState<CellState>();
  useEffect(() => {
    const abort = new AbortController();
    const load = async () => {
      if (document.hidden) return;
      const found = await stateOf(cell, abort.signal);
      if (!abort.signal.aborted) setState(found);
    };
    const again = () => void load().catch(reportError);
    again();
    const timer = setInterval(again, EVERY_MS);
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, [cell]);
  return (
    <li>
      <Badge value={cell} tone={state === 'unavailable' ? 'bad' : 'plain'} />{' '}
      <a href={pageOfCell(cell, '/console/')} target="_self">
        {state === undefined && '…'}
        {state === 'signed-out' && `Sign in to cell ${cell}`}
        {state === 'unavailable' && 'The cell does not answer'}
        {state === 0 && 'Nothing needs attention'}
        {typeof state === 'number' && state > 0 && `${formatCount(state)} need attention`}
      </a>
    </li>
  );
}

async function stateOf(cell: string, aborted: AbortSignal): Promise<CellState> {
  try {
    const signal = AbortSignal.any([aborted, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await fetch(pageOfCell(cell, '/admin/v1/attention'), { signal });
    if (response.status === 401 || response.status === 403) return 'signed-out';
    return response.ok ? ((await response.json()) as Attention).total : 'unavailable';
  } catch {
    return 'unavailable';
  }
}
