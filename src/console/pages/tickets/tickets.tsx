import type { Ticket } from '../../../contracts/admin/tickets.routes.js';
import type { PageProps } from '../../client/address.js';
import { linkTo, linkWith } from '../../client/links.js';
import { useHaulerName } from '../../client/haulers.js';
import { useLoad } from '../../client/load.js';
import { BY_HAULER, byText, byTime } from '../../parts/filters.js';
import { type Column, ListPage, Table } from '../../parts/listing.js';
import { Badge, Detail, DetailHead, Empty } from '../../parts/states.js';
import { Facts, formatCount, Id, Time } from '../../parts/values.js';
import { TicketFootageView } from './ticket-footage.js';
import { amountsOf } from './ticket-line.rules.js';
import { amountsText, Story } from './ticket-story.js';

const LIVE_MS = 10_000;
const FILTERS = [
  byText('search', 'Ticket number', 'a part is enough'),
  byText('material', 'Material', 'a part of its name'),
  BY_HAULER,
  byText('siteId', 'Site id of the partner'),
  byTime('from', 'Received from'),
  byTime('to', 'Received until'),
];

export function TicketsPage({ query }: PageProps) {
  const id = query.get('id');
  return id === null ? <TicketList query={query} /> : <TicketDetails id={id} query={query} />;
}

function TicketList({ query }: PageProps) {
  const haulerName = useHaulerName();
  const columns: readonly Column<Ticket>[] = [
    {
      title: 'Ticket',
      cell: (ticket) => (
        <a href={linkWith('tickets', query, { id: ticket.id })}>
          <span>{numbersOf(ticket)}</span>
        </a>
      ),
    },
    { title: 'Received', cell: ({ updatedAt }) => <Time value={updatedAt} /> },
    { title: 'Material', cell: ({ materials }) => <span>{namesOf(materials)}</span> },
    { title: 'Quantity', isNumber: true, cell: ({ materials }) => amountsText(amountsOf(materials)) },
    { title: 'Hauler', cell: ({ haulerId }) => haulerName(haulerId) },
  ];
  return (
    <ListPage
      path="/tickets"
      query={query}
      filters={FILTERS}
      folded
      everyMs={LIVE_MS}
      hasCsv
      label="Tickets"
      columns={columns}
      empty={
        <Empty title="No ticket yet.">
          A partner pushes tickets with <code>POST /platform-api/v1/tickets</code>. Issue a key for it under{' '}
          <a href={linkTo('keys')}>API keys</a>.
        </Empty>
      }
    />
  );
}

/** The ticket numbers of both flows; a ticket without a flow has none. */
function numbersOf({ inboundFlow, outboundFlow }: Pick<Ticket, 'inboundFlow' | 'outboundFlow'>): string {
  const numbers = [inboundFlow?.ticketNumber, outboundFlow?.ticketNumber].filter((each) => each !== undefined);
  return numbers.length === 0 ? 'without a number' : numbers.join(' / ');
}

function namesOf(materials: Ticket['materials']): string {
  const names = [...new Set(materials.map(({ name }) => name))];
  return names.slice(0, 2).join(', ') + (names.length > 2 ? ` and ${names.length - 2} more` : '');
}

/** One ticket: its contents, and its story. */
function TicketDetails({ id, query }: { id: string; query: URLSearchParams }) {
  return (
    <Detail path={`/tickets/${encodeURIComponent(id)}`} everyMs={LIVE_MS} list="All tickets">
      {(data) => (
        <>
          <Contents ticket={data} />
          <TicketFootageView id={id} haulerId={data.haulerId} query={query} />
          <Story ticket={data} query={query} />
        </>
      )}
    </Detail>
  );
}

function Contents({ ticket }: { ticket: Ticket }) {
  const haulerName = useHaulerName();
  const { data: sites } = useLoad('/sites', { haulerId: ticket.haulerId, siteId: ticket.siteId });
  const { inboundFlow, outboundFlow, customFields = {} } = ticket;
  const site = (
    <>
      {sites?.data[0]?.name ?? 'unknown site'} <code class="muted">{ticket.siteId}</code>
    </>
  );
  return (
    <DetailHead
      title={numbersOf(ticket)}
      label="Contents"
      badge={
        <Badge
          {...(ticket.createdAt === ticket.updatedAt ? { value: 'as received' } : { value: 'changed', tone: 'info' })}
        />
      }
      facts={{ Quantity: amountsText(amountsOf(ticket.materials)), 'Last received': <Time value={ticket.updatedAt} /> }}
    >
      <Facts
        of={{
          Site: site,
          Hauler: haulerName(ticket.haulerId),
          Inbound: inboundFlow !== undefined && <Flow flow={inboundFlow} />,
          Outbound: outboundFlow !== undefined && <Flow flow={outboundFlow} />,
          'First received': <Time value={ticket.createdAt} />,
          Id: <Id value={ticket.id} />,
        }}
      />
      {Object.keys(customFields).length > 0 && <Facts of={customFields} />}
      <Materials materials={ticket.materials} />
    </DetailHead>
  );
}

function Flow({ flow: { ticketNumber, updatedAt } }: { flow: NonNullable<Ticket['inboundFlow']> }) {
  return (
    <>
      {ticketNumber}, changed <Time value={updatedAt} />
    </>
  );
}

function Materials({ materials }: Pick<Ticket, 'materials'>) {
  const rows = materials.map((material, index) => ({ ...material, index }));
  const price = (cents: number) =>
    (cents / 100).toLocaleString('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 6 });
  const columns: readonly Column<(typeof rows)[number]>[] = [
    {
      title: 'Material',
      cell: ({ name, id }) => (
        <>
          {name} <code class="muted">{id}</code>
        </>
      ),
    },
    {
      title: 'Quantity',
      isNumber: true,
      cell: ({ quantity, unitOfMeasure }) => `${formatCount(quantity)} ${unitOfMeasure}`,
    },
    {
      title: 'Unit price',
      isNumber: true,
      cell: ({ unitPriceCents }) => (unitPriceCents === undefined ? '–' : price(unitPriceCents)),
    },
  ];
  return <Table label="Materials" rows={rows} columns={columns} keyOf={({ index }) => String(index)} />;
}
