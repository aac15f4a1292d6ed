import type { Exchange } from '../../../contracts/admin/exchange.dto.js';
import { INTERFACES } from '../../../contracts/common/interfaces.values.js';
import { type Change, linkTo, linkWith, open, type PageProps } from '../../client/address.js';
import { useConnectionChoices, useHaulerName } from '../../client/haulers.js';
import { useAll } from '../../client/load.js';
import { useSession } from '../../client/session.js';
import { BY_HAULER, byChoice, byLink, byText, byTime, chosenOf, type Filter } from '../../parts/filters.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Empty, StatusBadge } from '../../parts/states.js';
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
/** Those behind "More filters". */
const FOLDED = ['direction', 'interface', 'status', 'errorCode', 'requestId', 'to', 'connectionId', 'apiKeyId'];

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
  return (
    <>
      <Presets query={query} />
      <ListPage
        path="/exchanges"
        query={query}
        filters={filters}
        folded={!FOLDED.some((name) => query.has(name) && !isOfPreset(query, name))}
        everyMs={query.has('cursor') ? undefined : LIVE_MS}
        pageSize={50}
        hasCsv
        label="Exchanges"
        columns={columnsOf(query, isPartner ? undefined : haulerName)}
        keyOf={({ id }) => id}
        empty={
          <Empty title="No exchange yet.">
            Every call of a partner and every call to a partner appears here. <code>EXCHANGE_LOG=off</code> switches
            this off.
          </Empty>
        }
      >
        {(rows) =>
          !isPartner && (
            <>
              {!namesOne(chosen) && <ReasonCounts filters={chosen} query={query} />}
              {rows.length > 0 && Object.keys(chosen).length > 0 && (
                <div class="actions">
                  <ReplayAll key={JSON.stringify(chosen)} filters={chosen} />
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
