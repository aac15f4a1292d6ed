import type { Exchange } from '../../contracts/admin/exchange.dto.js';
import { change, linkWith, type PageProps } from '../client/address.js';
import { useConnections, useHaulerName } from '../client/haulers.js';
import { useLoad } from '../client/load.js';
import { useSession } from '../client/session.js';
import { Filters, HaulerFilter, pick, SelectFilter, TextFilter, TimeFilter } from '../parts/filters.js';
import { type Column, NoRows, Table } from '../parts/listing.js';
import { Empty, Loadable, ResponseBadge } from '../parts/states.js';
import { formatCount, KeyPrefix, Time } from '../parts/values.js';
import { ExchangeDetails } from './exchange-details.js';
import { ReplayAll } from './replay.js';

const LIVE_MS = 5_000;
const STATUSES = ['2xx', '4xx', '5xx', ['none', 'no response']] as const;
const INTERFACES = ['scale', 'account', 'site', 'vision'];
const DIRECTIONS = [
  ['inbound', 'to this service'],
  ['outbound', 'of this service'],
] as const;

export function ExchangesPage({ query }: PageProps) {
  const id = query.get('id');
  return id === null ? <ExchangeTable query={query} /> : <ExchangeDetails key={id} id={id} query={query} />;
}

function ExchangeTable({ query }: PageProps) {
  const { isPartner, connectionInterface } = useSession();
  const common = pick(query, 'direction', 'interface', 'status', 'errorCode', 'requestId', 'reference', 'from', 'to');
  const filters = { ...common, ...(isPartner ? {} : pick(query, 'haulerId', 'connectionId', 'apiKeyId')) };
  const cursor = query.get('cursor') ?? undefined;
  const everyMs = cursor === undefined ? LIVE_MS : undefined;
  const list = useLoad('/exchanges', { ...filters, cursor, pageSize: 50 }, everyMs);
  return (
    <>
      <Filters>
        <TextFilter name="reference" label="Reference" query={query} hint="ticketNumber:IN-204817" />
        <SelectFilter name="status" label="Response" query={query} choices={STATUSES} />
        {connectionInterface === undefined && (
          <>
            <SelectFilter name="direction" label="Direction" query={query} choices={DIRECTIONS} />
            <SelectFilter name="interface" label="Interface" query={query} choices={INTERFACES} />
          </>
        )}
        <TextFilter name="errorCode" label="Error code" query={query} hint="such as NOT_FOUND" />
        <TextFilter name="requestId" label="Request id" query={query} />
        <TimeFilter name="from" label="From" query={query} />
        <TimeFilter name="to" label="Until" query={query} />
        {!isPartner && <AdminFilters query={query} />}
      </Filters>
      <Loadable of={list}>
        {({ data, next }) =>
          data.length === 0 ? (
            <NoRows filters={filters} empty={NO_EXCHANGES} />
          ) : (
            <>
              <Table
                label="Exchanges"
                rows={data}
                columns={columnsOf(query)}
                keyOf={({ id }) => id}
                isStale={list.isLoading}
              />
              <div class="actions">
                {cursor !== undefined && (
                  <button type="button" onClick={() => change({ cursor: undefined })}>
                    Newest
                  </button>
                )}
                <button type="button" disabled={next === null} onClick={() => change({ cursor: next ?? undefined })}>
                  Older
                </button>
                {!isPartner && Object.keys(filters).length > 0 && (
                  <ReplayAll key={JSON.stringify(filters)} filters={filters} />
                )}
              </div>
            </>
          )
        }
      </Loadable>
    </>
  );
}

/** Filters that partners do not have. */
function AdminFilters({ query }: PageProps) {
  const connections = useConnections() ?? [];
  const { data: keys } = useLoad('/api-keys', { pageSize: 100 });
  const haulerName = useHaulerName();
  return (
    <>
      <HaulerFilter query={query} />
      <SelectFilter
        name="connectionId"
        label="Connection"
        query={query}
        choices={connections.map(
          ({ id, haulerId, interface: kind }) => [id, `${haulerName(haulerId)}, ${kind}`] as const,
        )}
      />
      <SelectFilter
        name="apiKeyId"
        label="API key"
        query={query}
        choices={(keys?.data ?? []).map(({ id, prefix, name }) => [id, `${prefix}… ${name ?? ''}`] as const)}
      />
    </>
  );
}

const NO_EXCHANGES = (
  <Empty title="No exchange yet.">
    Every call of a partner and every call to a partner appears here. <code>EXCHANGE_LOG=off</code> switches this off.
  </Empty>
);

const columnsOf = (query: URLSearchParams): readonly Column<Exchange>[] => [
  {
    title: 'Call',
    cell: ({ id, method, route, path, direction }) => (
      <>
        <a class="call" href={linkWith('exchanges', query, { id })}>
          {method} {route ?? path.split('?')[0]}
        </a>
        <div class="hint">{direction}</div>
      </>
    ),
  },
  { title: 'Time', cell: ({ at }) => <Time value={at} /> },
  { title: 'Response', cell: (exchange) => <ResponseBadge exchange={exchange} /> },
  { title: 'Key', cell: ({ keyPrefix }) => (keyPrefix === null ? null : <KeyPrefix value={keyPrefix} />) },
  {
    title: 'References',
    cell: ({ references }) =>
      references.length === 0 ? null : (
        <div>
          {references.slice(0, 2).map(({ kind, value }) => (
            <div key={kind + value} class="hint clamp one">
              {kind} {value}
            </div>
          ))}
        </div>
      ),
  },
  { title: 'Duration', isNumber: true, cell: ({ durationMs }) => `${formatCount(Math.round(durationMs))} ms` },
];
