import type { TicketRevision } from '../../contracts/admin/ticket.dto.js';
import { change, linkTo } from '../client/address.js';
import { useLoad } from '../client/load.js';
import { pick } from '../parts/filters.js';
import { Difference, Json } from '../parts/json.js';
import { type Column, Listing } from '../parts/listing.js';
import { Badge, Empty } from '../parts/states.js';
import { KeyPrefix, Time } from '../parts/values.js';

/** Every stored push of a ticket. Two of them stand side by side; at first the last two. */
export function Revisions({ id, query }: { id: string; query: URLSearchParams }) {
  const list = useLoad(`/tickets/${encodeURIComponent(id)}/revisions`, {
    ...pick(query, 'page', 'cursor'),
    pageSize: 100,
  });
  const all = list.data?.data ?? [];
  const [before, after] = chosen(all, query);
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
          <Pick name="left" revision={revision} isChosen={before?.revision === revision} />
          <Pick name="right" revision={revision} isChosen={after?.revision === revision} />
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

function chosen(all: readonly TicketRevision[], query: URLSearchParams) {
  const find = (name: string) => all.find(({ revision }) => String(revision) === query.get(name));
  return [find('left') ?? all.at(-2), find('right') ?? all.at(-1)] as const;
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
