import type { Exchange } from '../../../contracts/admin/exchange.dto.js';
import { INTERFACES } from '../../../contracts/common/interfaces.values.js';
import { type Change, change, linkTo, linkWith, open, type PageProps } from '../../client/address.js';
import { useConnectionChoices, useHaulerName } from '../../client/haulers.js';
import { useAll, useLoad } from '../../client/load.js';
import { useSession } from '../../client/session.js';
import { CsvButton } from '../../parts/csv-button.js';
import { Filters, HaulerFilter, pick, SelectFilter, TextFilter, TimeFilter } from '../../parts/filters.js';
import { type Column, NoRows, Table } from '../../parts/listing.js';
import { Empty, Loadable, StatusBadge } from '../../parts/states.js';
import { formatCount, KeyPrefix, Prose, Time } from '../../parts/values.js';
import { ExchangeDetails } from './exchange-details.js';
import { ReasonCounts } from './exchange-reasons.js';
import { ReplayAll } from './replay.js';

const LIVE_MS = 5_000;
const STATUSES = ['2xx', '4xx', '5xx', ['none', 'no response']] as const;
const DIRECTIONS = [
  ['inbound', 'to this service'],
  ['outbound', 'of this service'],
] as const;
const FILTERS = ['direction', 'interface', 'status', 'reason', 'failed', 'errorCode', 'requestId', 'reference'];
const ADMIN_FILTERS = ['haulerId', 'connectionId', 'apiKeyId'];
/** Those behind "More filters". */
const FOLDED = ['direction', 'interface', 'status', 'errorCode', 'requestId', 'to', 'connectionId', 'apiKeyId'];

export function ExchangesPage({ query }: PageProps) {
  const id = query.get('id');
  return id === null ? <ExchangeTable query={query} /> : <ExchangeDetails id={id} query={query} />;
}

/** Failures are counted by hour, and not by what each exchange names. */
const namesOne = ({ requestId, reference }: Readonly<Record<string, string>>) => (requestId ?? reference) !== undefined;

function ExchangeTable({ query }: PageProps) {
  const { isPartner, connectionInterface } = useSession();
  const haulerName = useHaulerName();
  const filters = pick(query, ...FILTERS, 'from', 'to', ...(isPartner ? [] : ADMIN_FILTERS));
  const cursor = query.get('cursor') ?? undefined;
  const everyMs = cursor === undefined ? LIVE_MS : undefined;
  const list = useLoad('/exchanges', { ...filters, cursor, pageSize: 50 }, everyMs);
  return (
    <>
      <Presets query={query} />
      <Filters folded={!FOLDED.some((name) => query.has(name) && !isOfPreset(query, name))}>
        <TextFilter name="reference" label="Reference" query={query} hint="ticketNumber:IN-204817" />
        {!isPartner && <HaulerFilter query={query} />}
        <TimeFilter name="from" label="From" query={query} />
        <TimeFilter name="to" label="Until" query={query} />
        <SelectFilter name="status" label="Response" query={query} choices={STATUSES} />
        {connectionInterface === undefined && (
          <>
            <SelectFilter name="direction" label="Direction" query={query} choices={DIRECTIONS} />
            <SelectFilter name="interface" label="Interface" query={query} choices={INTERFACES} />
          </>
        )}
        <TextFilter name="errorCode" label="Error code" query={query} hint="such as NOT_FOUND" />
        <TextFilter name="requestId" label="Request id" query={query} />
        {!isPartner && <AdminFilters query={query} />}
      </Filters>
      <CsvButton path="/exchanges" filters={filters} />
      {!isPartner && !namesOne(filters) && <ReasonCounts filters={filters} query={query} />}
      <Loadable of={list}>
        {({ data, next }) =>
          data.length === 0 ? (
            <NoRows filters={filters} empty={NO_EXCHANGES} />
          ) : (
            <>
              <Table
                label="Exchanges"
                rows={data}
                columns={columnsOf(query, isPartner ? undefined : haulerName)}
                keyOf={({ id }) => id}
                isStale={list.isStale}
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

interface Preset {
  readonly title: string;
  readonly query: () => Change;
  readonly isFor: 'inbound' | 'outbound' | 'both';
}

const HOUR_MS = 3_600_000;

const PRESETS: readonly Preset[] = [
  { title: 'Refused pushes', query: () => ({ direction: 'inbound', failed: 'true' }), isFor: 'inbound' },
  { title: 'Failing calls to partners', query: () => ({ direction: 'outbound', failed: 'true' }), isFor: 'outbound' },
  {
    title: 'Everything of the last hour',
    query: () => ({ from: new Date(Date.now() - HOUR_MS).toISOString() }),
    isFor: 'both',
  },
];

/** A direction is a part of two presets, which do not need the other filters. */
const isOfPreset = (query: URLSearchParams, name: string): boolean =>
  name === 'direction' && (query.has('failed') || query.has('reason'));

/** What people look for most often. */
function Presets({ query }: PageProps) {
  const { isPartner, connectionInterface } = useSession();
  const own = connectionInterface === undefined ? 'inbound' : 'outbound';
  const isPressed = (preset: Change) =>
    Object.entries(preset).every(([name, value]) => (name === 'from' ? false : query.get(name) === value));
  return (
    <p class="actions" role="group" aria-label="Views">
      {PRESETS.filter(({ isFor }) => !isPartner || isFor === own || isFor === 'both').map((preset) => (
        <button
          key={preset.title}
          type="button"
          aria-pressed={isPressed(preset.query())}
          onClick={() => open(linkTo('exchanges', preset.query()))}
        >
          {preset.title}
        </button>
      ))}
      {query.size > 0 && <a href={linkTo('exchanges')}>Show everything</a>}
    </p>
  );
}

/** Filters that partners do not have. */
function AdminFilters({ query }: PageProps) {
  const connections = useConnectionChoices() ?? [];
  const keys = useAll('/api-keys').data ?? [];
  return (
    <>
      <SelectFilter name="connectionId" label="Connection" query={query} choices={connections} />
      <SelectFilter
        name="apiKeyId"
        label="API key"
        query={query}
        choices={keys.map(({ id, prefix, name }) => [id, `${prefix}… ${name ?? ''}`] as const)}
      />
    </>
  );
}

const NO_EXCHANGES = (
  <Empty title="No exchange yet.">
    Every call of a partner and every call to a partner appears here. <code>EXCHANGE_LOG=off</code> switches this off.
  </Empty>
);

const columnsOf = (
  query: URLSearchParams,
  haulerName: ((id: string | null) => string) | undefined,
): readonly Column<Exchange>[] => [
  {
    title: 'Call',
    cell: ({ id, method, route, path, direction, haulerId }) => (
      <>
        <a class="call" href={linkWith('exchanges', query, { id })}>
          {method} {route ?? path.split('?')[0]}
        </a>
        <div class="hint">
          {direction}
          {haulerId !== null && haulerName !== undefined && `, ${haulerName(haulerId)}`}
        </div>
      </>
    ),
  },
  { title: 'Time', cell: ({ at }) => <Time value={at} /> },
  {
    title: 'Response',
    cell: ({ status, reason, result, scenario }) => (
      <>
        <StatusBadge value={status} />
        {reason === undefined && result !== undefined && <span class="hint"> {result}</span>}
        {scenario !== undefined && <div class="hint">scenario {scenario}</div>}
      </>
    ),
  },
  {
    title: 'Reason',
    cell: ({ reason, reasonText }) =>
      reason === undefined ? null : (
        <>
          <code class="reason">{reason}</code>
          {reasonText !== undefined && (
            <div class="hint">
              <Prose text={reasonText} />
            </div>
          )}
        </>
      ),
  },
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
