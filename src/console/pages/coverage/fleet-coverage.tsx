import { useEffect, useRef } from 'preact/hooks';
import type { AbsentCamera, TruckCoverage, TruckDay } from '../../../contracts/admin/coverage.dto.js';
import type { PageProps } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { useLoad } from '../../client/load.js';
import { CsvButton } from '../../parts/csv-button.js';
import { pick, zoneOf } from '../../parts/filters.js';
import { PageButtons } from '../../parts/listing.js';
import { Card, Empty, Loadable } from '../../parts/states.js';
import { formatCount } from '../../parts/values.js';
import { DAY_MS, dayOf, localTime, momentOf } from '../../parts/zone.rules.js';
import { cameraLabel } from './coverage-sentence.rules.js';
import { dayStateOf } from './truck-days.rules.js';

const MAX_DAYS = 31;
const TRUCKS_PER_PAGE = 24;
const LIVE_MS = 30_000;
/** With this number of days or more, a square has no text. */
const COMPACT_DAYS = 14;

/** Share of what was recorded of each truck on each local day that is stored. The worst truck first. */
export function FleetCoverage({ query }: PageProps) {
  const zone = zoneOf(query);
  const count = Math.min(MAX_DAYS, Math.max(1, Math.floor(Number(query.get('days') ?? 7)) || 7));
  const days = lastDays(count, zone);
  const filters = {
    ...pick(query, 'haulerId', 'page', 'cursor'),
    from: new Date(days[0] ?? 0).toISOString(),
    to: new Date(dayOf(Date.now(), zone)[1]).toISOString(),
    zone,
    pageSize: TRUCKS_PER_PAGE,
  };
  const fleet = useLoad('/coverage/fleet', filters, LIVE_MS);
  const box = useRef<HTMLDivElement>(null);
  const hasRows = fleet.data !== undefined;
  // Where not all days fit, it shows the newest ones.
  useEffect(() => void box.current?.scrollTo({ left: box.current.scrollWidth }), [count, hasRows]);
  return (
    <Card title="Fleet">
      <ScaleLegend zone={zone} />
      <CsvButton path="/coverage/fleet" filters={filters} />
      <Loadable of={fleet}>
        {({ data, pagination }) =>
          data.length === 0 ? (
            <Empty title="No truck was recorded in this time.">
              Subscribe to a truck with <code>POST /admin/v1/video-subscriptions</code>, or choose another hauler.
            </Empty>
          ) : (
            <>
              <div class="scroll" role="region" aria-label="Fleet coverage" tabIndex={0} ref={box}>
                <table
                  class={`fleet ${count >= COMPACT_DAYS ? 'compact' : ''} ${fleet.isStale ? 'stale' : ''}`}
                  aria-busy={fleet.isStale}
                >
                  <Head days={days} zone={zone} isCompact={count >= COMPACT_DAYS} />
                  {data.map((truck) => (
                    <Truck key={`${truck.connectionId} ${truck.truckId}`} truck={truck} query={query} zone={zone} />
                  ))}
                </table>
              </div>
              {pagination.totalPages > 1 && (
                <PageButtons page={pagination.page} last={pagination.totalPages} next={pagination.next}>
                  Trucks {formatCount((pagination.page - 1) * TRUCKS_PER_PAGE + 1)} to{' '}
                  {formatCount((pagination.page - 1) * TRUCKS_PER_PAGE + data.length)} of{' '}
                  {formatCount(pagination.totalItems)}, the worst first
                </PageButtons>
              )}
            </>
          )
        }
      </Loadable>
    </Card>
  );
}

/** The starts of the last days that a calendar in the zone has, today included. */
function lastDays(count: number, zone: string): number[] {
  const tomorrow = localTime(dayOf(Date.now(), zone)[1], zone);
  return Array.from({ length: count }, (_, index) => momentOf(tomorrow - (count - index) * DAY_MS, zone));
}

function Head({ days, zone, isCompact }: { days: readonly number[]; zone: string; isCompact: boolean }) {
  return (
    <thead>
      <tr>
        <th scope="col">Truck</th>
        {days.map((day, index) => (
          <th key={day} scope="col">
            <DayName day={day} zone={zone} isFirst={index === 0} isCompact={isCompact} />
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface DayNameProps {
  readonly day: number;
  readonly zone: string;
  readonly isFirst: boolean;
  readonly isCompact: boolean;
}

/** A compact name is the day of the month, with the month at its first day. */
function DayName({ day, zone, isFirst, isCompact }: DayNameProps) {
  const text = (options: Intl.DateTimeFormatOptions) =>
    new Date(day).toLocaleDateString(undefined, { timeZone: zone, ...options });
  if (!isCompact) return <>{text({ weekday: 'short', day: 'numeric', month: 'short' })}</>;
  const date = new Date(localTime(day, zone)).getUTCDate();
  return (
    <>
      <span class="month">{isFirst || date === 1 ? text({ month: 'short' }) : ''}</span>
      {date}
    </>
  );
}

function ScaleLegend({ zone }: { zone: string }) {
  return (
    <p class="hint scale">
      Stored share of what was recorded or requested on each day ({zone}). Choose a square to see the cameras.{' '}
      <span class="scale-colours" aria-hidden="true">
        0 %
        {[0, 1, 2, 3, 4, 5].map((level) => (
          <span key={level} class={`swatch level-${level}`} />
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
            <Square truck={truck} day={day} query={query} />
          </td>
        ))}
      </tr>
      {atRisk > 0 && (
        <tr class="absent">
          <td colSpan={days.length + 1}>
            <span>
              <a href={linkTo('recordings', { ...pick(query, 'zone'), connectionId, truckId, status: 'available' })}>
                {formatCount(atRisk)} {atRisk === 1 ? 'download' : 'downloads'} may be lost
              </a>
            </span>
          </td>
        </tr>
      )}
      {absent.map((camera) => (
        <tr key={camera.cameraId ?? ''} class="absent">
          <td colSpan={days.length + 1}>
            <span>{absence(camera, zone)}</span>
          </td>
        </tr>
      ))}
    </tbody>
  );
}

function absence({ cameraId, lastRecordedAt }: AbsentCamera, zone: string): string {
  if (cameraId === undefined) return 'No camera of this truck has sent a recording yet.';
  const last =
    lastRecordedAt === undefined
      ? 'it has no recording at all'
      : `its last recording began ${new Date(lastRecordedAt).toLocaleString(undefined, { timeZone: zone, dateStyle: 'medium', timeStyle: 'short' })}`;
  return `${cameraLabel(cameraId)}: nothing recorded in this time; ${last}.`;
}

/** A day of a truck. */
function Square({
  truck: { connectionId, truckId },
  day,
  query,
}: {
  truck: TruckCoverage;
  day: TruckDay;
  query: URLSearchParams;
}) {
  const { startTime: from, endTime: to } = day;
  const place = { haulerId: query.get('haulerId') ?? undefined, zone: query.get('zone') ?? undefined };
  const { level, sign, text, isLost } = dayStateOf(day);
  const label = `${truckId}, ${day.day}: ${text}`;
  return (
    <a
      class={`square level-${level} ${isLost ? 'lost' : ''}`}
      href={linkTo('coverage', { ...place, connectionId, truckId, from, to })}
      title={label}
      aria-label={label}
    >
      <span translate={false}>{sign}</span>
    </a>
  );
}
