import type { Exchange } from '../../../contracts/admin/exchange.dto.js';
import { INTERFACES } from '../../../contracts/common/interfaces.values.js';
import { change, type PageProps } from '../../client/address.js';
import { linkWith } from '../../client/links.js';
import { useConnectionChoices, useHaulerName } from '../../client/haulers.js';
import { useSession } from '../../client/session.js';
import { BY_HAULER, byChoice, byLink, byText, byTime, chosenOf, type Filter } from '../../parts/filters.js';
import { Chooser } from '../../parts/forms.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Empty, StatusBadge } from '../../parts/states.js';
import { formatCount, KeyPrefix, Prose, Time } from '../../parts/values.js';
import { ExchangeCounts } from './exchange-counts.js';
import { ExchangeDetails } from './exchange-details.js';
import { titleOf } from './exchange-title.rules.js';
import { ReplayAll } from './replay.js';

const LIVE_MS = 5_000;
const STATUSES = ['2xx', '4xx', '5xx', ['none', 'no response']] as const;
const DIRECTIONS = [
  ['inbound', 'to this service'],
  ['outbound', 'of this service'],
] as const;
const FAILED = [
  ['true', 'failed'],
  ['false', 'succeeded'],
] as const;
/** Fields behind "More filters". */
const FOLDED = ['from', 'to', 'direction', 'interface', 'status', 'connectionId', 'rehearsed'];

export function ExchangesPage({ query }: PageProps) {
  const id = query.get('id');
  return id === null ? <ExchangeList query={query} /> : <ExchangeDetails id={id} query={query} />;
}

/** Failures are counted by hour, and not by what each exchange names. */
const namesOne = ({ requestId, reference }: Readonly<Record<string, string>>) => (requestId ?? reference) !== undefined;

function ExchangeList({ query }: PageProps) {
  const { isPartner } = useSession();
  const haulerName = useHaulerName();
  const filters = useFilters();
  const chosen = chosenOf(query, filters);
  const asked = within(query, chosen);
  return (
    <ListPage
      path="/exchanges"
      query={query}
      filters={filters}
      asked={(given) => within(query, given)}
      folded={!FOLDED.some((name) => query.has(name))}
      everyMs={query.has('cursor') ? undefined : LIVE_MS}
      pageSize={50}
      hasCsv
      label="Exchanges"
      columns={columnsOf(query, isPartner ? undefined : haulerName)}
      keyOf={({ id }) => id}
      empty={
        <Empty title={`No exchange in ${PERIODS[periodOf(query)].text}.`}>
          Every call of a partner and every call to a partner appears here. <code>EXCHANGE_LOG=off</code> switches this
          off. <a href={linkWith('exchanges', query, { period: 'all' })}>Show all that are kept</a>
        </Empty>
      }
    >
      {(rows) =>
        !isPartner && (
          <>
            {!namesOne(chosen) && <ExchangeCounts filters={asked} query={query} />}
            {rows.length > 0 && Object.keys(chosen).length > 0 && (
              <ReplayAll key={JSON.stringify(chosen)} filters={asked} />
            )}
          </>
        )
      }
    </ListPage>
  );
}

/** A partner has no choice of haulers, and that of a connection none of its direction and interface. */
function useFilters(): readonly Filter[] {
  const { isPartner, connectionInterface } = useSession();
  const connections = useConnectionChoices() ?? [];
  const ofBothWays = [byChoice('direction', 'Direction', DIRECTIONS), byChoice('interface', 'Interface', INTERFACES)];
  return [
    byText('reference', 'Reference', 'ticketNumber:IN-204817'),
    ...(isPartner ? [] : [BY_HAULER]),
    byChoice('failed', 'Outcome', FAILED),
    BY_PERIOD,
    byTime('from', 'From'),
    byTime('to', 'Until'),
    byChoice('status', 'Response', STATUSES),
    ...(connectionInterface === undefined ? ofBothWays : [byLink('direction'), byLink('interface')]),
    ...(isPartner ? [] : [byChoice('connectionId', 'Connection', connections)]),
    byChoice('rehearsed', 'Rehearsals', [['false', 'Left out']], 'Included'),
    byLink('apiKeyId', 'API key'),
    byLink('errorCode', 'Error code'),
    byLink('requestId', 'Request id'),
    byLink('reason', 'Reason'),
  ];
}

const HOUR_MS = 3_600_000;

/** Whole hours, as they are counted: the current one is the last. */
const PERIODS = {
  day: { title: 'Last 24 hours', text: 'the last 24 hours', hours: 24 },
  week: { title: 'Last 7 days', text: 'the last 7 days', hours: 168 },
  all: { title: 'All that are kept', text: 'the log', hours: undefined },
} as const;
type Period = keyof typeof PERIODS;

/** A search for one thing looks at all that are kept. */
function periodOf(query: URLSearchParams): Period {
  const named = (Object.keys(PERIODS) as Period[]).find((each) => each === query.get('period'));
  return named ?? (query.has('reference') || query.has('requestId') ? 'all' : 'day');
}

/** The filters of a call, with the beginning of the period where no times are chosen. */
function within(query: URLSearchParams, chosen: Readonly<Record<string, string>>): Record<string, string> {
  const { hours } = PERIODS[periodOf(query)];
  if (hours === undefined || chosen['from'] !== undefined || chosen['to'] !== undefined) return chosen;
  const start = (Math.floor(Date.now() / HOUR_MS) + 1 - hours) * HOUR_MS;
  return { ...chosen, from: new Date(start).toISOString() };
}

/** A period in place of the chosen times. */
const BY_PERIOD: Filter = {
  name: 'period',
  label: 'Period',
  isView: true,
  field: (query) => (
    <Chooser
      label="Period"
      value={query.has('from') || query.has('to') ? '' : periodOf(query)}
      choices={[
        ...(query.has('from') || query.has('to') ? [['', 'Own times'] as const] : []),
        ...Object.entries(PERIODS).map(([name, { title }]) => [name, title] as const),
      ]}
      onChoose={(period) => change({ period, from: undefined, to: undefined })}
    />
  ),
};

const columnsOf = (
  query: URLSearchParams,
  haulerName: ((id: string | null) => string) | undefined,
): readonly Column<Exchange>[] => [
  {
    title: 'What happened',
    cell: (exchange) => (
      <>
        <a class="call" href={linkWith('exchanges', query, { id: exchange.id })}>
          {titleOf(exchange)}
        </a>
        {exchange.reasonText !== undefined && (
          <div>
            <Prose text={exchange.reasonText} />
          </div>
        )}
        <div class="hint">
          <code>{exchange.reason ?? exchange.route ?? exchange.method}</code>
          {exchange.haulerId !== null && haulerName !== undefined && ` ${haulerName(exchange.haulerId)}`}
        </div>
      </>
    ),
  },
  { title: 'Time', cell: ({ at }) => <Time value={at} /> },
  {
    title: 'Response',
    cell: ({ status, scenario }) => (
      <>
        <StatusBadge value={status} />
        {scenario !== undefined && <div class="hint">scenario {scenario}</div>}
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
