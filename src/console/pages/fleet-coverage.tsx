import { useEffect, useRef, useState } from 'preact/hooks';
import type { List } from '../../contracts/admin/list.dto.js';
import type { TruckDayCoverage } from '../../contracts/admin/coverage.dto.js';
import { type Change, linkTo, type PageProps } from '../client/address.js';
import { useLoad } from '../client/load.js';
import { PageButtons } from '../parts/listing.js';
import { Empty, ErrorBox, Loading } from '../parts/states.js';
import { formatCount } from '../parts/values.js';
import { DAY_MS } from '../parts/zone.rules.js';

/** Of the last call, and the number of trucks that it returned. */
type Position = List<unknown>['pagination'] & { readonly shown: number };

/** Rows of a response; each row is one day of a truck. */
const MAX_ROWS = 100;
const MAX_DAYS = 31;
const TRUCKS_PER_PAGE = 24;
/** With this number of days or more, a square has no text. */
const COMPACT_DAYS = 14;

/** Share of the recorded time of each truck and day that is stored. Days are UTC, as the service counts them. */
export function FleetCoverage({ haulerId, query }: PageProps & { haulerId: string }) {
  const count = Math.min(MAX_DAYS, Math.max(1, Math.floor(Number(query.get('days') ?? 7)) || 7));
  const page = Math.max(1, Number(query.get('page') ?? 1) || 1);
  const tomorrow = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
  const days = Array.from({ length: count }, (_, index) => tomorrow - (count - index) * DAY_MS);
  const trucksPerCall = Math.floor(MAX_ROWS / count);
  const calls = Math.ceil(TRUCKS_PER_PAGE / trucksPerCall);
  const cursor = query.get('cursor');
  const start = cursor === null ? { page: (page - 1) * calls + 1 } : { cursor };
  const [end, setEnd] = useState<Position>();
  const box = useRef<HTMLDivElement>(null);
  // Where not all days fit, it shows the newest ones.
  useEffect(() => void box.current?.scrollTo({ left: box.current.scrollWidth }), [count]);
  return (
    <section class="card" aria-label="Fleet">
      <h2>Fleet</h2>
      <ScaleLegend />
      <div class="scroll" role="region" aria-label="Fleet coverage" tabIndex={0} ref={box}>
        <table class={`fleet ${count >= COMPACT_DAYS ? 'compact' : ''}`}>
          <thead>
            <tr>
              <th scope="col">Truck</th>
              {days.map((day, index) => (
                <th key={day} scope="col">
                  <DayName day={day} isFirst={index === 0} isCompact={count >= COMPACT_DAYS} />
                </th>
              ))}
            </tr>
          </thead>
          <FleetRows
            key={JSON.stringify([count, haulerId, start])}
            start={start}
            calls={calls}
            pageSize={trucksPerCall * count}
            haulerId={haulerId}
            days={days}
            onEnd={setEnd}
          />
        </table>
      </div>
      {end !== undefined && <FleetPager {...end} calls={calls} trucksPerCall={trucksPerCall} days={count} />}
    </section>
  );
}

/** A compact name is the day of the month, with the month at its first day. */
function DayName({ day, isFirst, isCompact }: { day: number; isFirst: boolean; isCompact: boolean }) {
  const date = new Date(day);
  const text = (options: Intl.DateTimeFormatOptions) =>
    date.toLocaleDateString(undefined, { timeZone: 'UTC', ...options });
  if (!isCompact) return <>{text({ weekday: 'short', day: 'numeric', month: 'short' })}</>;
  const hasMonth = isFirst || date.getUTCDate() === 1;
  return (
    <>
      <span class="month">{hasMonth ? text({ month: 'short' }) : ''}</span>
      {date.getUTCDate()}
    </>
  );
}

function ScaleLegend() {
  return (
    <p class="hint scale">
      Stored share of what was recorded on each day (UTC). Choose a square to see the cameras.{' '}
      <span class="scale-colours" aria-hidden="true">
        0 %
        {[0, 1, 2, 3, 4, 5].map((level) => (
          <span key={level} class={`swatch level-${level}`} />
        ))}
        100 %
      </span>
      <span aria-hidden="true">
        <span class="swatch level-none" /> not recorded <span class="swatch level-0 lost" /> recordings expired or
        failed
      </span>
    </p>
  );
}

interface RangeProps {
  readonly haulerId: string;
  readonly days: readonly number[];
}

const rangeOf = ({ haulerId, days }: RangeProps) => ({
  haulerId,
  from: new Date(days[0] ?? 0).toISOString(),
  to: new Date((days.at(-1) ?? 0) + DAY_MS).toISOString(),
});

interface RowsProps extends RangeProps {
  /** The page or the cursor of the first call. */
  readonly start: Change;
  /** Calls that are left, each for the trucks after those of the one before. */
  readonly calls: number;
  readonly pageSize: number;
  /** Receives the position of the last call. */
  readonly onEnd: (position: Position) => void;
}

function FleetRows(props: RowsProps) {
  const { start, calls, pageSize, haulerId, days, onEnd } = props;
  const { data, error, reload } = useLoad('/coverage/fleet', {
    ...rangeOf({ haulerId, days }),
    ...start,
    pageSize,
  });
  const next = data?.pagination.next ?? null;
  const isLast = calls === 1 || next === null;
  useEffect(() => {
    if (isLast && data !== undefined) onEnd({ ...data.pagination, shown: data.data.length / days.length });
  }, [isLast, data]);
  const trucks = Map.groupBy(data?.data ?? [], ({ connectionId, truckId }) => JSON.stringify([connectionId, truckId]));
  const isEmpty = start['page'] === 1 && data !== undefined && trucks.size === 0;
  return (
    <>
      <tbody>
        {(error !== undefined || isEmpty || data === undefined) && (
          <tr>
            <td colSpan={days.length + 1}>
              {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
              {error === undefined && data === undefined && <Loading />}
              {isEmpty && (
                <Empty title="No truck of this hauler was recorded in this time.">
                  Subscribe to a truck with <code>POST /admin/v1/video-subscriptions</code>, or choose another hauler.
                </Empty>
              )}
            </td>
          </tr>
        )}
        {[...trucks.values()].map((rows) => (
          <FleetRow key={`${rows[0]?.connectionId} ${rows[0]?.truckId}`} rows={rows} haulerId={haulerId} />
        ))}
      </tbody>
      {!isLast && <FleetRows {...props} start={{ cursor: next }} calls={calls - 1} />}
    </>
  );
}

interface FleetPagerProps extends Position {
  readonly calls: number;
  readonly trucksPerCall: number;
  readonly days: number;
}

/** Shown if the trucks need more than one page. */
function FleetPager({ calls, trucksPerCall, days, shown, ...position }: FleetPagerProps) {
  const { page: call, totalItems, totalPages, more, next } = position;
  const page = Math.ceil(call / calls);
  const to = (call - 1) * trucksPerCall + shown;
  const trucks = Math.max(to, Math.floor(totalItems / days));
  if (page === 1 && next === null) return null;
  return (
    <PageButtons page={page} last={Math.ceil(totalPages / calls)} next={next}>
      Trucks {formatCount((page - 1) * calls * trucksPerCall + 1)} to {formatCount(to)} of {formatCount(trucks)}
      {more && '+'}
    </PageButtons>
  );
}

function FleetRow({ rows, haulerId }: { rows: readonly TruckDayCoverage[]; haulerId: string }) {
  return (
    <tr>
      <th scope="row">{rows[0]?.truckId}</th>
      {rows.map((row) => (
        <td key={row.day}>
          <Square row={row} haulerId={haulerId} />
        </td>
      ))}
    </tr>
  );
}

/** A day of a truck. A day without recordings looks different from one whose recordings are not stored. */
function Square({ row, haulerId }: { row: TruckDayCoverage; haulerId: string }) {
  const start = Date.parse(row.day);
  const address = linkTo('coverage', {
    haulerId,
    connectionId: row.connectionId,
    truckId: row.truckId,
    from: new Date(start).toISOString(),
    to: new Date(start + DAY_MS).toISOString(),
  });
  // Of what was recorded: a truck that drives half a day is complete with half a day.
  const recorded = row.stored + row.available + row.expired + row.failed;
  const share = recorded === 0 ? 0 : row.stored / recorded;
  const part = (seconds: number) => percent(seconds / (recorded || 1));
  const label =
    recorded === 0
      ? `${row.truckId}, ${row.day}: not recorded, 0% stored`
      : `${row.truckId}, ${row.day}: ${percent(share)} stored, ${part(row.available)} available, ${part(row.expired)} expired, ${part(row.failed)} failed`;
  const level = recorded === 0 ? 'none' : Math.ceil(share * 5);
  return (
    <a
      class={`square level-${level} ${row.expired + row.failed > 0 ? 'lost' : ''}`}
      href={address}
      title={label}
      aria-label={label}
    >
      <span>{recorded === 0 ? '–' : percent(share)}</span>
    </a>
  );
}

const percent = (share: number): string => `${share > 0 && share < 0.01 ? '<1' : Math.round(share * 100)}%`;
