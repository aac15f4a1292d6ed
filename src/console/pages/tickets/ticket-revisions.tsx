import type { TicketRevision } from '../../../contracts/admin/ticket.dto.js';
import { open, type PageProps } from '../../client/address.js';
import { linkWith } from '../../client/links.js';
import { useLoad } from '../../client/load.js';
import { Difference, Json } from '../../parts/json.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Badge, Card, Empty } from '../../parts/states.js';
import { Time } from '../../parts/values.js';

/** The parts of the address that only the pushes of one ticket have. */
export const NO_PUSHES = { 'pushes.page': undefined, 'pushes.cursor': undefined, left: undefined, right: undefined };

/** Every stored push of a ticket. Two of them stand side by side; at first the last two. */
export function Revisions({ id, query }: { id: string; query: URLSearchParams }) {
  const path = `/tickets/${encodeURIComponent(id)}/revisions` as const;
  const newest = useLoad(path, { pageSize: 1 }).data?.pagination.totalItems;
  const chosen = {
    left: Number(query.get('left') ?? (newest ?? 0) - 1),
    right: Number(query.get('right') ?? newest ?? 0),
  };
  const before = useRevision(path, chosen.left);
  const after = useRevision(path, chosen.right);
  const columns: readonly Column<TicketRevision>[] = [
    { title: 'Push', cell: ({ revision }) => <span class="prefix">No. {revision}</span> },
    { title: 'Received', cell: ({ receivedAt }) => <Time value={receivedAt} /> },
    { title: 'Result', cell: ({ result }) => <Badge value={result} /> },
    {
      title: 'Compare',
      cell: ({ revision }) => (
        <span class="compare">
          <Pick name="left" revision={revision} isChosen={chosen.left === revision} query={query} />
          <Pick name="right" revision={revision} isChosen={chosen.right === revision} query={query} />
        </span>
      ),
    },
  ];
  return (
    <Card title="Pushes" label="History">
      <ListPage
        path={path}
        query={query}
        name="pushes"
        pageSize={100}
        label="Pushes"
        columns={columns}
        keyOf={({ revision }) => String(revision)}
        empty={<Empty title="No push is stored." />}
      />
      {before !== undefined && after !== undefined && <SideBySide before={before} after={after} />}
      {before === undefined && after !== undefined && <Json value={after.body} label={`Push ${after.revision}`} />}
    </Card>
  );
}

interface PickProps extends PageProps {
  readonly name: 'left' | 'right';
  readonly revision: number;
  readonly isChosen: boolean;
}

/** No filter: the list stays where it is. */
function Pick({ name, revision, isChosen, query }: PickProps) {
  return (
    <label>
      <input
        type="radio"
        name={name}
        aria-label={`Show push ${revision} on the ${name}`}
        checked={isChosen}
        onChange={() => open(linkWith('tickets', query, { [name]: revision }), { replace: true })}
      />
      {name === 'left' ? 'L' : 'R'}
    </label>
  );
}

/** A push, wherever it stands in the list: its number is also its place. */
function useRevision(path: `/tickets/${string}/revisions`, number: number) {
  return useLoad(number > 0 ? path : undefined, { page: number, pageSize: 1 }).data?.data[0];
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
