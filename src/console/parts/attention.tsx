import { useState } from 'preact/hooks';
import type { AttentionItem, CheckedKind } from '../../contracts/admin/attention.dto.js';
import { send } from '../client/api.js';
import type { PathOf } from '../client/contract.js';
import { useLoad } from '../client/load.js';
import { CHECKS, checksInOrder, SEVERITY_TONES, unknownChecks } from './attention.rules.js';
import { ActionButton } from './forms.js';
import { Badge, Card, Loadable } from './states.js';
import { formatCount, Time } from './values.js';

const LIVE_MS = 10_000;
const FIRST_ITEMS = 20;
const HOME = '/console/';

/** What needs attention, as the service ranks it, with what was looked at: for the admin of a service, or a partner of its connection. */
export function AttentionList() {
  return (
    <Loadable of={useLoad('/attention', {}, LIVE_MS)}>
      {({ data, total, checked }) => {
        const attention = { data, checked };
        const inOrder = checksInOrder(attention);
        return (
          <>
            {total > 0 && <Items items={data} total={total} />}
            <Unknown checks={unknownChecks(attention)} />
            <InOrder checks={inOrder} isAll={checked.length === inOrder.length} />
          </>
        );
      }}
    </Loadable>
  );
}

function Items({ items, total }: { items: readonly AttentionItem[]; total: number }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? items : items.slice(0, FIRST_ITEMS);
  return (
    <Card title="Needs attention" badge={<Badge value={formatCount(total)} tone="bad" />}>
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
    </Card>
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
    <Card title="Not known" kind="unknown">
      <ul>
        {checks.map(({ kind, reason }) => (
          <li key={kind}>
            {CHECKS[kind].title}: {reason}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function InOrder({ checks, isAll }: { checks: readonly CheckedKind[]; isAll: boolean }) {
  if (checks.length === 0) return null;
  return (
    <Card title={isAll ? 'Nothing needs attention' : 'In order'} label="In order" kind="clear">
      <ul>
        {checks.map(({ kind }) => (
          <li key={kind}>{CHECKS[kind].none}</li>
        ))}
      </ul>
    </Card>
  );
}
