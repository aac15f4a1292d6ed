import { useState } from 'preact/hooks';
import type { Exchange, ExchangeSpans } from '../../../contracts/admin/exchanges.routes.js';
import { change, type PageProps } from '../../client/address.js';
import { linkToFilter, linkWith } from '../../client/links.js';
import { useLoad } from '../../client/load.js';
import { BarLegend, Bars } from '../../parts/bars.js';
import { Card, Empty, ErrorBox, StatusBadge } from '../../parts/states.js';
import { formatCount, KeyPrefix, Prose, Time } from '../../parts/values.js';
import { browserZone, DAY_MS, labelOf, wholeTime } from '../../parts/zone.rules.js';
import { INTERFACES } from '../../../contracts/common/interfaces.values.js';
import { useConnectionChoices, useHaulerName } from '../../client/haulers.js';
import { useSession } from '../../client/session.js';
import { BY_HAULER, byChoice, byLink, byText, byTime, chosenOf, type Filter } from '../../parts/filters.js';
import { Chooser } from '../../parts/forms.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { ExchangeDetails, ReplayAll } from './exchange-details.js';
import { titleOf } from './exchange-title.rules.js';

const COUNTS_MS = 15_000;
const TICKS = 6;

/** The classes of the parts, as on Home. */
const SERIES = [
  ['created', 'succeeded', 'succeeded'],
  ['stale', 'refused', '4xx'],
  ['refused', 'failed', '5xx'],
  ['unanswered', 'unanswered', 'no response'],
] as const;

/** How many exchanges a filter has over time. A bar leads to its hours; to drag over several bars chooses their time. */
function ExchangeCounts({ filters, query }: PageProps & { filters: Readonly<Record<string, string>> }) {
  const { data, error, reload } = useLoad('/exchanges/counts', filters, COUNTS_MS);
  const [drag, setDrag] = useState<readonly [number, number]>();
  if (error !== undefined) return <ErrorBox error={error} onRetry={reload} />;
  if (data === undefined) return null;
  const totals = SERIES.map(([, name]) => data.data.reduce((sum, each) => sum + each[name], 0));
  const failed = totals.slice(1).reduce((sum, each) => sum + each, 0);
  const [first, last] = drag === undefined ? [-1, -1] : drag.toSorted((one, other) => one - other);
  const items = itemsOf(data, query).map((item, index) => ({
    ...item,
    kind: index >= (first ?? 0) && index <= (last ?? 0) ? 'dragged' : '',
  }));
  const end = (isChosen: boolean) => {
    setDrag(undefined);
    if (!isChosen || first === undefined || last === undefined || first === last || first < 0) return;
    change({ from: timeAt(data, first), to: timeAt(data, last + 1) });
  };
  const shown = SERIES.map(([name, , title], index) => ({ name, title, total: formatCount(totals[index] ?? 0) }));
  return (
    <Card
      title={
        data.failedOnly
          ? `${formatCount(failed)} failed ${failed === 1 ? 'exchange' : 'exchanges'}`
          : `${formatCount(failed + (totals[0] ?? 0))} exchanges, ${formatCount(failed)} failed`
      }
      label="Exchanges over time"
      kind="spans"
    >
      <div
        onPointerDown={(event) => {
          const index = indexAt(event);
          if (index !== undefined && event.button === 0) setDrag([index, index]);
        }}
        onPointerMove={(event) => {
          const index = drag && indexAt(event);
          if (drag !== undefined && index !== undefined) setDrag([drag[0], index]);
        }}
        onPointerUp={() => end(true)}
        onPointerLeave={() => end(false)}
        onPointerCancel={() => end(false)}
        onDragStart={(event) => event.preventDefault()}
      >
        <Bars items={items} />
      </div>
      <BarLegend entries={data.failedOnly ? shown.slice(1) : shown} />
    </Card>
  );
}

/** The bar below a pointer, which a touch keeps at the first one. */
function indexAt({ clientX, clientY, currentTarget }: PointerEvent): number | undefined {
  const bar = document.elementFromPoint(clientX, clientY)?.closest('li');
  if (bar == null || !(currentTarget instanceof Node) || !currentTarget.contains(bar)) return undefined;
  return [...(bar.parentElement?.children ?? [])].indexOf(bar);
}

const timeAt = ({ from, hours }: ExchangeSpans, index: number): string =>
  new Date(Date.parse(from) + index * hours * HOUR_MS).toISOString();

function itemsOf(spans: ExchangeSpans, query: URLSearchParams) {
  const { data, hours, failedOnly } = spans;
  const series: readonly (typeof SERIES)[number][] = failedOnly ? SERIES.slice(1) : SERIES;
  const sums = data.map((each) => series.reduce((sum: number, [, name]) => sum + each[name], 0));
  const most = Math.max(1, ...sums);
  const step = hours < 24 && data.length * hours <= 24 ? HOUR_MS : DAY_MS;
  const tickEvery = Math.max(1, Math.ceil(data.length / TICKS));
  return data.map((each, index) => {
    const counts = series.filter(([, name]) => each[name] > 0);
    const text = counts.map(([, name, title]) => `${formatCount(each[name])} ${title}`).join(', ');
    return {
      key: each.startTime,
      label: `${wholeTime(each.startTime)}: ${text === '' ? 'none' : text}`,
      href: linkToFilter('exchanges', query, { from: timeAt(spans, index), to: timeAt(spans, index + 1) }),
      parts: counts.map(([name, field]) => ({ name, share: each[field] / most })),
      tick: index % tickEvery === 0 ? labelOf(Date.parse(each.startTime), browserZone(), step) : '',
    };
  });
}

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
  return id === null ? <ExchangeList query={query} /> : <ExchangeDetails id={id} />;
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
