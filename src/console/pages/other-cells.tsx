import { useEffect, useState } from 'preact/hooks';
import type { Attention, AttentionItem } from '../../contracts/admin/attention.dto.js';
import { useSession } from '../client/session.js';
import { pageOfCell } from '../parts/cells.js';
import { Badge } from '../parts/states.js';
import { formatCount, Time } from '../parts/values.js';
import { CHECKS, SEVERITY_TONES } from './home.rules.js';

const EVERY_MS = 30_000;
const TIMEOUT_MS = 20_000;
const MAX_ITEMS = 10;

interface CellState {
  readonly cell: string;
  readonly attention?: Attention;
  /** Why its list is not known. */
  readonly reason?: 'signed-out' | 'unavailable';
}

/** What needs attention in the other cells behind the proxy, by the session that the browser has there. */
export function OtherCells() {
  const { otherCells, isPartner } = useSession();
  const [states, setStates] = useState<readonly CellState[]>([]);
  const names = isPartner ? '' : otherCells.join(',');
  useEffect(() => {
    if (names === '') return undefined;
    const abort = new AbortController();
    const load = async () => {
      if (document.hidden) return;
      const found = await Promise.all(names.split(',').map((cell) => stateOf(cell, abort.signal)));
      if (!abort.signal.aborted) setStates(found);
    };
    load().catch(reportError);
    const timer = setInterval(() => void load().catch(reportError), EVERY_MS);
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, [names]);
  if (states.length === 0) return null;
  return (
    <section class="card" aria-label="Other cells">
      <h2>Other cells</h2>
      <ol class="needs">
        {states.flatMap((state) => [
          <Summary key={state.cell} state={state} />,
          ...(state.attention?.data ?? [])
            .slice(0, MAX_ITEMS)
            .map((item, i) => <Item key={`${state.cell} ${i}`} cell={state.cell} item={item} />),
        ])}
      </ol>
    </section>
  );
}

function Summary({ state: { cell, attention, reason } }: { state: CellState }) {
  const home = pageOfCell(cell, '/console/');
  const text =
    reason === 'signed-out' ? (
      <>
        Your session of this cell does not count there.{' '}
        <a href={home} target="_self">
          Sign in to cell {cell}
        </a>{' '}
        to see its list
      </>
    ) : reason === 'unavailable' ? (
      <>The cell does not answer: its list is not known</>
    ) : (
      <a href={home} target="_self">
        {attention?.total === 0 ? 'Nothing needs attention' : `${formatCount(attention?.total ?? 0)} in all`}
      </a>
    );
  return (
    <li>
      <Badge value={cell} tone={reason === 'unavailable' ? 'bad' : 'plain'} />
      <p>{text}</p>
    </li>
  );
}

function Item({ cell, item }: { cell: string; item: AttentionItem }) {
  const { kind, severity, hauler, since, sentence, page } = item;
  return (
    <li class={severity}>
      <Badge value={severity} tone={SEVERITY_TONES[severity]} />
      <div>
        <p class="hint">
          Cell {cell} · {CHECKS[kind]?.title ?? kind}
        </p>
        <p>
          <a href={pageOfCell(cell, page)} target="_self">
            {sentence}
          </a>
        </p>
        <p class="hint">
          {hauler !== undefined && <>{hauler.name} · </>}
          since <Time value={since} />
        </p>
      </div>
    </li>
  );
}

async function stateOf(cell: string, aborted: AbortSignal): Promise<CellState> {
  try {
    const signal = AbortSignal.any([aborted, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await fetch(pageOfCell(cell, '/admin/v1/attention'), { signal });
    if (response.status === 401 || response.status === 403) return { cell, reason: 'signed-out' };
    if (!response.ok) return { cell, reason: 'unavailable' };
    return { cell, attention: (await response.json()) as Attention };
  } catch {
    return { cell, reason: 'unavailable' };
  }
}
