import type { Exchange } from '../../../contracts/admin/exchange.dto.js';
import { INTERFACES } from '../../../contracts/common/interfaces.values.js';
import { change, open, type PageProps } from '../../client/address.js';
import { type Change, linkTo, linkWith } from '../../client/links.js';
import { useConnectionChoices, useHaulerName } from '../../client/haulers.js';
import { useAll } from '../../client/load.js';
import { useSession } from '../../client/session.js';
import { BY_HAULER, byChoice, byLink, byText, byTime, chosenOf, type Filter } from '../../parts/filters.js';
import { Chooser } from '../../parts/forms.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Empty, StatusBadge } from '../../parts/states.js';
import { formatCount, KeyPrefix, Prose, Time } from '../../parts/values.js';
import { ExchangeCounts } from './exchange-counts.js';
import { ExchangeDetails } from './exchange-details.js';
import { ReasonCounts } from './exchange-reasons.js';
import { titleOf } from './exchange-title.rules.js';
import { ReplayAll } from './replay.js';

const LIVE_MS = 5_000;
const STATUSES = ['2xx', '4xx', '5xx', ['none', 'no response']] as const;
const DIRECTIONS = [
  ['inbound', 'to this service'],
  ['outbound', 'of this service'],
] as const;
/** Those behind "More filters". */
const FOLDED = ['from', 'direction', 'interface', 'status', 'errorCode', 'requestId', 'to', 'connectionId', 'apiKeyId'];

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
    <>
      <Presets query={query} />
      <ListPage
        path="/exchanges"
        query={query}
        filters={filters}
        asked={(given) => within(query, given)}
        folded={!FOLDED.some((name) => query.has(name) && !isOfPreset(query, name))}
        everyMs={query.has('cursor') ? undefined : LIVE_MS}
        pageSize={50}
        hasCsv
        label="Exchanges"
        columns={columnsOf(query, isPartner ? undefined : haulerName)}
        keyOf={({ id }) => id}
        empty={
          <Empty title={`No exchange in ${PERIODS[periodOf(query)].text}.`}>
            Every call of a partner and every call to a partner appears here. <code>EXCHANGE_LOG=off</code> switches
            this off. <a href={linkWith('exchanges', query, { period: 'all' })}>Show all that are kept</a>
          </Empty>
        }
      >
        {(rows) =>
          !isPartner && (
            <>
              {!namesOne(chosen) && <ExchangeCounts filters={asked} query={query} />}
              {!namesOne(chosen) && <ReasonCounts filters={asked} query={query} />}
              {rows.length > 0 && Object.keys(chosen).length > 0 && (
                <div class="actions">
                  <ReplayAll key={JSON.stringify(chosen)} filters={asked} />
                </div>
              )}
            </>
          )
        }
      </ListPage>
    </>
  );
}

/** A partner has no choice of haulers and keys, and that of a connection none of its direction and interface. */
function useFilters(): readonly Filter[] {
  const { isPartner, connectionInterface } = useSession();
  const connections = useConnectionChoices() ?? [];
  const keys = useAll(isPartner ? undefined : '/api-keys').data ?? [];
  const ofBothWays = [byChoice('direction', 'Direction', DIRECTIONS), byChoice('interface', 'Interface', INTERFACES)];
  const ofAdmins = [
    byChoice('connectionId', 'Connection', connections),
    byChoice(
      'apiKeyId',
      'API key',
      keys.map(({ id, prefix, name }) => [id, `${prefix}… ${name ?? ''}`] as const),
    ),
  ];
  return [
    byText('reference', 'Reference', 'ticketNumber:IN-204817'),
    ...(isPartner ? [] : [BY_HAULER]),
    BY_PERIOD,
    byTime('from', 'From'),
    byTime('to', 'Until'),
    byChoice('status', 'Response', STATUSES),
    ...(connectionInterface === undefined ? ofBothWays : [byLink('direction'), byLink('interface')]),
    byText('errorCode', 'Error code', 'such as NOT_FOUND'),
    byText('requestId', 'Request id'),
    ...(isPartner ? [] : ofAdmins),
    byChoice('rehearsed', 'Rehearsals', [['false', 'Left out']], 'Included'),
    byLink('reason'),
    byLink('failed'),
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

interface Preset {
  readonly title: string;
  readonly query: () => Change;
  readonly isFor: 'inbound' | 'outbound';
}

const PRESETS: readonly Preset[] = [
  { title: 'Refused pushes', query: () => ({ direction: 'inbound', failed: 'true' }), isFor: 'inbound' },
  { title: 'Failing calls to partners', query: () => ({ direction: 'outbound', failed: 'true' }), isFor: 'outbound' },
];

/** A direction is a part of two presets, which do not need the other filters. */
const isOfPreset = (query: URLSearchParams, name: string): boolean =>
  name === 'direction' && (query.has('failed') || query.has('reason'));

/** What people look for most often. */
function Presets({ query }: PageProps) {
  const { isPartner, connectionInterface } = useSession();
  const own = connectionInterface === undefined ? 'inbound' : 'outbound';
  const isPressed = (preset: Change) => Object.entries(preset).every(([name, value]) => query.get(name) === value);
  return (
    <p class="actions" role="group" aria-label="Views">
      {PRESETS.filter(({ isFor }) => !isPartner || isFor === own).map((preset) => (
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
