import { useEffect, useRef } from 'preact/hooks';
import type { AbsentCamera, TruckCoverage } from '../../../contracts/admin/coverage.routes.js';
import type { PageProps } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { BY_HAULER, BY_ZONE, pick, SelectFilter, zoneOf } from '../../parts/filters.js';
import { ListPage } from '../../parts/listing.js';
import { Empty } from '../../parts/states.js';
import { formatCount } from '../../parts/values.js';
import { DAY_MS, dayOf, localTime, momentOf, wholeTime } from '../../parts/zone.rules.js';
import { cameraLabel } from './coverage-sentence.rules.js';
import { DaySquare, greenOf } from './truck-calendar.js';
import { dayStateOf } from './coverage.rules.js';

const [MAX_DAYS, DEFAULT_DAYS] = [31, 7];
const TRUCKS_PER_PAGE = 24;
const LIVE_MS = 30_000;
const FILTERS = [
  BY_HAULER,
  {
    name: 'days',
    label: 'Time',
    isView: true,
    field: (query: URLSearchParams) => (
      <SelectFilter name="days" label="Time" query={query} all={null} defaultValue="7" choices={DAYS} />
    ),
  },
  BY_ZONE,
];

const DAYS = [
  ['7', 'Last 7 days'],
  ['14', 'Last 14 days'],
] as const;

/** Share of what was recorded of each truck on each local day that is stored. The worst truck first. */
export function FleetCoverage({ query }: PageProps) {
  const zone = zoneOf(query);
  const count = Math.min(MAX_DAYS, Math.max(1, Math.floor(Number(query.get('days') ?? DEFAULT_DAYS)) || DEFAULT_DAYS));
  const days = lastDays(count, zone);
  return (
    <ListPage
      path="/coverage/fleet"
      query={query}
      filters={FILTERS}
      fixed={{
        from: new Date(days[0] ?? 0).toISOString(),
        to: new Date(dayOf(Date.now(), zone)[1]).toISOString(),
        zone,
      }}
      pageSize={TRUCKS_PER_PAGE}
      everyMs={LIVE_MS}
      hasCsv
      view={(trucks) => <Fleet trucks={trucks} days={days} query={query} />}
      empty={
        <Empty title="No truck was recorded in this time.">
          Follow the cameras of a truck at its <a href={linkTo('connections', { interface: 'vision' })}>connection</a>.
        </Empty>
      }
    >
      <ScaleLegend zone={zone} />
    </ListPage>
  );
}

interface FleetProps extends PageProps {
  readonly trucks: readonly TruckCoverage[];
  readonly days: readonly number[];
}

function Fleet({ trucks, days, query }: FleetProps) {
  const zone = zoneOf(query);
  const box = useRef<HTMLDivElement>(null);
  // Where not all days fit, it shows the newest ones.
  useEffect(() => void box.current?.scrollTo({ left: box.current.scrollWidth }), [days.length]);
  const name = (day: number) =>
    new Date(day).toLocaleDateString(undefined, { timeZone: zone, weekday: 'short', day: 'numeric', month: 'short' });
  return (
    <div class="scroll" role="region" aria-label="Fleet coverage" tabIndex={0} ref={box}>
      <table class="fleet">
        <thead>
          <tr>
            <th scope="col">Truck</th>
            {days.map((day) => (
              <th key={day} scope="col">
                {name(day)}
              </th>
            ))}
          </tr>
        </thead>
        {trucks.map((truck) => (
          <Truck key={`${truck.connectionId} ${truck.truckId}`} truck={truck} query={query} zone={zone} />
        ))}
      </table>
    </div>
  );
}

/** The starts of the last days that a calendar in the zone has, today included. */
function lastDays(count: number, zone: string): number[] {
  const tomorrow = localTime(dayOf(Date.now(), zone)[1], zone);
  return Array.from({ length: count }, (_, index) => momentOf(tomorrow - (count - index) * DAY_MS, zone));
}

function ScaleLegend({ zone }: { zone: string }) {
  return (
    <p class="hint scale">
      Stored share of what was recorded or requested on each day ({zone}), the worst truck first.{' '}
      <span class="scale-colours" aria-hidden="true">
        0 %
        {[0, 1, 2, 3, 4, 5].map((level) => (
          <span key={level} class={`swatch level-${level}`} style={greenOf(level)} />
        ))}
        100 %
      </span>
      <span aria-hidden="true">
        <span class="swatch level-none" /> not recorded <span class="swatch level-unread" /> list not read{' '}
        <span class="swatch level-0 lost" /> recordings expired or failed
      </span>
    </p>
  );
}

interface TruckProps {
  readonly truck: TruckCoverage;
  readonly query: URLSearchParams;
  readonly zone: string;
}

/** A row of squares, and a sentence for each camera that should have recorded and did not. */
function Truck({ truck, query, zone }: TruckProps) {
  const { haulerId, haulerName, connectionId, truckId, absent, atRisk, days } = truck;
  return (
    <tbody>
      <tr>
        <th scope="row">
          {truckId}
          {!query.has('haulerId') && (
            <span class="hint owner" title={haulerId}>
              {haulerName}
            </span>
          )}
        </th>
        {days.map((day) => (
          <td key={day.startTime}>
            <DaySquare
              state={dayStateOf(day)}
              label={`${truckId}, ${day.day}`}
              href={linkTo('coverage', {
                ...{ ...pick(query, 'haulerId', 'zone'), connectionId, truckId },
                ...{ from: day.startTime, to: day.endTime },
              })}
            />
          </td>
        ))}
      </tr>
      {(atRisk > 0 || absent.length > 0) && (
        <tr class="absent">
          <td colSpan={days.length + 1}>
            <span>
              {atRisk > 0 && (
                <a href={linkTo('recordings', { ...pick(query, 'zone'), connectionId, truckId, status: 'available' })}>
                  {formatCount(atRisk)} {atRisk === 1 ? 'download' : 'downloads'} may be lost
                </a>
              )}{' '}
              {absent.map((camera) => absence(camera, zone)).join(' ')}
            </span>
          </td>
        </tr>
      )}
    </tbody>
  );
}

function absence({ cameraId, lastRecordedAt }: AbsentCamera, zone: string): string {
  if (cameraId === undefined) return 'No camera of this truck has sent a recording yet.';
  const last =
    lastRecordedAt === undefined
      ? 'it has no recording at all'
      : `its last recording began ${wholeTime(lastRecordedAt, zone)}`;
  return `${cameraLabel(cameraId)}: nothing recorded in this time; ${last}.`;
}
