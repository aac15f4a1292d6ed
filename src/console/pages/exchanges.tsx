import type { ApiKey } from '../../contracts/admin/api-key.dto.js';
import type { Connection } from '../../contracts/admin/connection.dto.js';
import type { Exchange, ExchangeList } from '../../contracts/admin/exchange.dto.js';
import type { List as ListOf } from '../../contracts/admin/list.dto.js';
import { change, linkTo, type PageProps } from '../client/address.js';
import { useLoad } from '../client/load.js';
import { useSession } from '../client/session.js';
import { Filters, HaulerFilter, pick, SelectFilter, TextFilter, TimeFilter } from '../parts/filters.js';
import { type Column, NoMatch, Table } from '../parts/listing.js';
import { Empty, ErrorBox, Loading } from '../parts/states.js';
import { formatCount, KeyPrefix, Time, useHaulerName } from '../parts/values.js';
import { ExchangeDetails } from './exchange-details.js';
import { ReplayAll } from './replay-all.js';
import { ResponseBadge } from './response-badge.js';

const LIVE_MS = 5_000;
const plain = (...values: readonly string[]) => values.map((value) => [value, value] as const);
const STATUSES = [...plain('2xx', '4xx', '5xx'), ['none', 'no response'] as const];
const DIRECTIONS = [
  ['inbound', 'to this service'],
  ['outbound', 'of this service'],
] as const;

export function ExchangesPage({ query }: PageProps) {
  const id = query.get('id');
  return id === null ? <List query={query} /> : <ExchangeDetails key={id} id={id} />;
}

function List({ query }: PageProps) {
  const isPartner = useSession().session.kind === 'partner';
  const common = pick(query, 'direction', 'interface', 'status', 'errorCode', 'requestId', 'reference', 'from', 'to');
  const filters = { ...common, ...(isPartner ? {} : pick(query, 'haulerId', 'connectionId', 'apiKeyId')) };
  const cursor = query.get('cursor') ?? undefined;
  const everyMs = cursor === undefined ? LIVE_MS : undefined;
  const list = useLoad<ExchangeList>('/exchanges', { ...filters, cursor, pageSize: 50 }, { everyMs });
  const { data, error, isLoading, reload } = list;
  return (
    <>
      <Filters>
        <TextFilter name="reference" label="Reference" query={query} hint="ticketNumber:IN-204817" />
        <SelectFilter name="status" label="Response" query={query} choices={STATUSES} />
        <SelectFilter name="direction" label="Direction" query={query} choices={DIRECTIONS} />
        <SelectFilter
          name="interface"
          label="Interface"
          query={query}
          choices={plain('scale', 'account', 'site', 'vision')}
        />
        <TextFilter name="errorCode" label="Error code" query={query} hint="such as NOT_FOUND" />
        <TextFilter name="requestId" label="Request id" query={query} />
        <TimeFilter name="from" label="From" query={query} />
        <TimeFilter name="to" label="Until" query={query} />
        {!isPartner && <AdminFilters query={query} />}
      </Filters>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {data === undefined && error === undefined && <Loading />}
      {data?.data.length === 0 && (Object.keys(filters).length > 0 ? <NoMatch /> : <None />)}
      {data !== undefined && data.data.length > 0 && (
        <>
          <Table label="Exchanges" rows={data.data} columns={COLUMNS} keyOf={({ id }) => id} isStale={isLoading} />
          <div class="actions">
            {cursor !== undefined && (
              <button type="button" onClick={() => change({ cursor: undefined })}>
                Newest
              </button>
            )}
            <button
              type="button"
              disabled={data.next === null}
              onClick={() => change({ cursor: data.next ?? undefined })}
            >
              Older
            </button>
            {!isPartner && Object.keys(filters).length > 0 && (
              <ReplayAll key={JSON.stringify(filters)} filters={filters} />
            )}
          </div>
        </>
      )}
    </>
  );
}

/** Filters by what only an admin sees. */
function AdminFilters({ query }: PageProps) {
  const { data: connections } = useLoad<ListOf<Connection>>('/connections', { pageSize: 100 });
  const { data: keys } = useLoad<ListOf<ApiKey>>('/api-keys', { pageSize: 100 });
  const haulerName = useHaulerName();
  return (
    <>
      <HaulerFilter query={query} />
      <SelectFilter
        name="connectionId"
        label="Connection"
        query={query}
        choices={(connections?.data ?? []).map(
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

const None = () => (
  <Empty title="No exchange yet.">
    Every call of a partner and every call to a partner appears here. <code>EXCHANGE_LOG=off</code> switches this off.
  </Empty>
);

const COLUMNS: readonly Column<Exchange>[] = [
  {
    title: 'Call',
    cell: ({ id, method, route, path, direction }) => (
      <>
        <a class="call" href={linkTo('exchanges', { id })}>
          {method} {route ?? path.split('?')[0]}
        </a>
        <div class="hint">{direction}</div>
      </>
    ),
  },
  { title: 'At', cell: ({ at }) => <Time value={at} /> },
  { title: 'Response', cell: (exchange) => <ResponseBadge exchange={exchange} /> },
  { title: 'Key', cell: ({ keyPrefix }) => (keyPrefix === null ? null : <KeyPrefix value={keyPrefix} />) },
  {
    title: 'About',
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
  { title: 'Took', isNumber: true, cell: ({ durationMs }) => `${formatCount(Math.round(durationMs))} ms` },
];
