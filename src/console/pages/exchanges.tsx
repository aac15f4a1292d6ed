import type { Exchange, ExchangeList } from '../../contracts/admin/exchange.dto.js';
import { change, linkTo, type PageProps } from '../client/address.js';
import { useLoad } from '../client/load.js';
import { useSession } from '../client/session.js';
import { Filters, HaulerFilter, pick, SelectFilter, TextFilter, TimeFilter } from '../parts/filters.js';
import { type Column, NoMatch, Table } from '../parts/listing.js';
import { Empty, ErrorBox, Loading } from '../parts/states.js';
import { Time } from '../parts/values.js';
import { ExchangeDetails } from './exchange-details.js';
import { ResponseBadge } from './response-badge.js';

const LIVE_MS = 5_000;
const plain = (...values: readonly string[]) => values.map((value) => [value, value] as const);
const STATUSES = [...plain('2xx', '4xx', '5xx'), ['none', 'no response'] as const];

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
        {!isPartner && <HaulerFilter query={query} />}
        <SelectFilter
          name="direction"
          label="Direction"
          query={query}
          choices={[
            ['inbound', 'to this service'],
            ['outbound', 'of this service'],
          ]}
        />
        <SelectFilter
          name="interface"
          label="Interface"
          query={query}
          choices={plain('scale', 'account', 'site', 'vision')}
        />
        <SelectFilter name="status" label="Response" query={query} choices={STATUSES} />
        <TextFilter name="errorCode" label="Error code" query={query} hint="such as NOT_FOUND" />
        <TextFilter name="reference" label="Reference" query={query} hint="ticketNumber:IN-204817" />
        <TextFilter name="requestId" label="Request id" query={query} />
        <TimeFilter name="from" label="From" query={query} />
        <TimeFilter name="to" label="Until" query={query} />
      </Filters>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {data === undefined && error === undefined && <Loading />}
      {data?.data.length === 0 && (Object.keys(filters).length > 0 ? <NoMatch /> : <None />)}
      {data !== undefined && data.data.length > 0 && (
        <>
          <Table label="Exchanges" rows={data.data} columns={COLUMNS} keyOf={({ id }) => id} isStale={isLoading} />
          <p class="actions">
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
          </p>
        </>
      )}
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
    cell: ({ id, method, route, path }) => (
      <a href={linkTo('exchanges', { id })}>
        {method} {route ?? path.split('?')[0]}
      </a>
    ),
  },
  { title: 'At', cell: ({ at }) => <Time value={at} /> },
  { title: 'Response', cell: (exchange) => <ResponseBadge exchange={exchange} /> },
  { title: 'Direction', cell: ({ direction }) => direction },
  { title: 'Key', cell: ({ keyPrefix }) => (keyPrefix === null ? '' : <code>{keyPrefix}…</code>) },
  {
    title: 'About',
    cell: ({ references }) =>
      references.slice(0, 2).map(({ kind, value }) => (
        <div key={kind + value} class="hint clamp">
          {kind} {value}
        </div>
      )),
  },
  { title: 'Took', isNumber: true, cell: ({ durationMs }) => `${Math.round(durationMs * 10) / 10} ms` },
];
