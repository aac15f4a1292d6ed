import { useState } from 'preact/hooks';
import type { AttentionItem, CheckedKind } from '../../contracts/admin/attention.dto.js';
import { send } from '../client/api.js';
import { useHaulers } from '../client/haulers.js';
import type { PathOf } from '../client/contract.js';
import { useLoad } from '../client/load.js';
import { useSession } from '../client/session.js';
import { ActionButton } from '../parts/forms.js';
import { Badge, ErrorBox, Loading } from '../parts/states.js';
import { formatCount, Time } from '../parts/values.js';
import { DayCharts } from './day-charts.js';
import { SetupReminder } from './hauler-setup.js';
import { NewHauler } from './haulers.js';
import { OtherCells } from './other-cells.js';
import { CHECKS, checksInOrder, SEVERITY_TONES, unknownChecks } from './home.rules.js';

const LIVE_MS = 10_000;
const FIRST_ITEMS = 20;
const HOME = '/console/';

/** What needs attention, as the service ranks it, with what was looked at; below it the last day in charts. */
export function HomePage() {
  const { hasPlatform, haulers: own } = useSession();
  const { haulers, isLoaded } = useHaulers();
  const { data: attention, error, reload } = useLoad('/attention', {}, LIVE_MS);
  const overview = useLoad(hasPlatform && own === undefined ? '/overview' : undefined, {}, LIVE_MS);
  return (
    <>
      {isLoaded && haulers.length === 0 && <FirstStep />}
      {haulers.length === 1 && haulers[0] !== undefined && <SetupReminder haulerId={haulers[0].id} />}
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {attention === undefined && error === undefined && <Loading />}
      {attention !== undefined && (
        <>
          {attention.total > 0 && <Items items={attention.data} total={attention.total} />}
          <Unknown checks={unknownChecks(attention)} />
          <InOrder
            checks={checksInOrder(attention)}
            isAll={attention.checked.length === checksInOrder(attention).length}
          />
        </>
      )}
      <OtherCells />
      {overview.data !== undefined && <DayCharts overview={overview.data} />}
    </>
  );
}

/** On an empty service. */
function FirstStep() {
  const { may, haulers } = useSession();
  if (!may('admin') || haulers !== undefined)
    return <p class="notice">No hauler yet: an admin creates the first one here.</p>;
  return (
    <>
      <p>
        <strong>Next: create the first hauler.</strong> Its keys, its partners and its trucks follow, step by step.
      </p>
      <NewHauler />
    </>
  );
}

function Items({ items, total }: { items: readonly AttentionItem[]; total: number }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? items : items.slice(0, FIRST_ITEMS);
  return (
    <section class="card" aria-label="Needs attention">
      <h2>
        Needs attention <Badge value={formatCount(total)} tone="bad" />
      </h2>
      <ol class="needs">
        {shown.map((item) => (
          <Item key={`${item.kind} ${item.connection?.id} ${item.subject} ${item.page}`} item={item} />
        ))}
      </ol>
      {shown.length < items.length && (
        <button type="button" onClick={() => setWhole(true)}>
          Show {formatCount(items.length - shown.length)} more
        </button>
      )}
      {isWhole && total > items.length && (
        <p class="hint">and {formatCount(total - items.length)} of lower rank, which are not listed</p>
      )}
    </section>
  );
}

function Item({ item }: { item: AttentionItem }) {
  const { kind, severity, hauler, connection, since, deadline, sentence, page, action } = item;
  return (
    <li class={severity}>
      <Badge value={severity} tone={SEVERITY_TONES[severity]} />
      <div>
        <p>
          <span class="hint">{CHECKS[kind].title}</span>
        </p>
        <p>{page === HOME ? sentence : <a href={page}>{sentence}</a>}</p>
        <p class="hint">
          {hauler !== undefined && <>{hauler.name} · </>}
          {connection !== undefined && <>{connection.interface} · </>}
          since <Time value={since} />
          {deadline !== undefined && (
            <>
              {' '}
              · until <Time value={deadline} />
            </>
          )}
        </p>
      </div>
      {action !== undefined && (
        <ActionButton
          label={action.title}
          work={() => send(action.method, action.path as PathOf<'POST'>, action.body)}
        />
      )}
    </li>
  );
}

/** A check that could not be made says nothing: neither that all is well, nor that something is wrong. */
function Unknown({ checks }: { checks: readonly CheckedKind[] }) {
  if (checks.length === 0) return null;
  return (
    <section class="card unknown" aria-label="Not known">
      <h2>Not known</h2>
      <ul>
        {checks.map(({ kind, reason }) => (
          <li key={kind}>
            {CHECKS[kind].title}: {reason}
          </li>
        ))}
      </ul>
    </section>
  );
}

function InOrder({ checks, isAll }: { checks: readonly CheckedKind[]; isAll: boolean }) {
  if (checks.length === 0) return null;
  return (
    <section class="card clear" aria-label="In order">
      <h2>{isAll ? 'Nothing needs attention' : 'In order'}</h2>
      <ul>
        {checks.map(({ kind }) => (
          <li key={kind}>{CHECKS[kind].none}</li>
        ))}
      </ul>
    </section>
  );
}
