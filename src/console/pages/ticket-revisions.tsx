import type { TicketRevision } from '../../contracts/admin/ticket.dto.js';
import { change, linkTo } from '../client/address.js';
import { useLoad } from '../client/load.js';
import { Difference, Json } from '../parts/json.js';
import { type Column, Listing } from '../parts/listing.js';
import { Badge, Empty } from '../parts/states.js';
import { KeyPrefix, Time } from '../parts/values.js';

const PUSHES = { page: 'pushPage', cursor: 'pushCursor' } as const;
/** The parts of the address that only the pushes of one ticket have. */
export const NO_PUSHES = { [PUSHES.page]: undefined, [PUSHES.cursor]: undefined, left: undefined, right: undefined };

/** Every stored push of a ticket. Two of them stand side by side; at first the last two. */
export function Revisions({ id, query }: { id: string; query: URLSearchParams }) {
  const list = useLoad(`/tickets/${encodeURIComponent(id)}/revisions`, {
    page: query.get(PUSHES.page) ?? undefined,
    cursor: query.get(PUSHES.cursor) ?? undefined,
    pageSize: 100,
  });
  const newest = list.data?.pagination.totalItems;
  const chosen = {
    left: Number(query.get('left') ?? (newest ?? 0) - 1),
    right: Number(query.get('right') ?? newest ?? 0),
  };
  const before = useRevision(id, chosen.left);
  const after = useRevision(id, chosen.right);
  const columns: readonly Column<TicketRevision>[] = [
    { title: 'Push', cell: ({ revision }) => <span class="prefix">No. {revision}</span> },
    { title: 'Received', cell: ({ receivedAt }) => <Time value={receivedAt} /> },
    { title: 'Result', cell: ({ result }) => <Badge value={result} /> },
    { title: 'Changed', cell: ({ changes }) => changes.join(', ') },
    { title: 'Key', cell: ({ keyPrefix }) => (keyPrefix == null ? '–' : <KeyPrefix value={keyPrefix} />) },
    {
      title: 'Exchange',
      cell: ({ exchangeId }) => (exchangeId == null ? '–' : <a href={linkTo('exchanges', { id: exchangeId })}>open</a>),
    },
    {
      title: 'Compare',
      cell: ({ revision }) => (
        <span class="compare">
          <Pick name="left" revision={revision} isChosen={chosen.left === revision} />
          <Pick name="right" revision={revision} isChosen={chosen.right === revision} />
        </span>
      ),
    },
  ];
  return (
    <section class="card" aria-label="History">
      <h2>Pushes</h2>
      <Listing
        label="Pushes"
        list={list}
        columns={columns}
        keyOf={({ revision }) => String(revision)}
        empty={<Empty title="No push is stored." />}
        place={PUSHES}
      />
      {before !== undefined && after !== undefined && <SideBySide before={before} after={after} />}
      {before === undefined && after !== undefined && <Json value={after.body} label={`Push ${after.revision}`} />}
    </section>
  );
}

function Pick({ name, revision, isChosen }: { name: 'left' | 'right'; revision: number; isChosen: boolean }) {
  return (
    <label>
      <input
        type="radio"
        name={name}
        aria-label={`Show push ${revision} on the ${name}`}
        checked={isChosen}
        onChange={() => change({ [name]: revision }, { replace: true })}
      />
      {name === 'left' ? 'L' : 'R'}
    </label>
  );
}

/** A push, wherever it stands in the list: its number is also its place. */
function useRevision(id: string, number: number) {
  const path = number > 0 ? (`/tickets/${encodeURIComponent(id)}/revisions` as const) : undefined;
  return useLoad(path, { page: number, pageSize: 1 }).data?.data[0];
}

function SideBySide({ before, after }: { before: TicketRevision; after: TicketRevision }) {
  const titles = [`Push ${before.revision}`, `Push ${after.revision}`] as const;
  return (
    <>
      <h3>
        Push {before.revision} and push {after.revision}
      </h3>
      <Difference before={before.body} after={after.body} titles={titles} />
      <div class="two">
        <div>
          <h4>{titles[0]}</h4>
          <Json value={before.body} label={titles[0]} />
        </div>
        <div>
          <h4>{titles[1]}</h4>
          <Json value={after.body} label={titles[1]} />
        </div>
      </div>
    </>
  );
}
