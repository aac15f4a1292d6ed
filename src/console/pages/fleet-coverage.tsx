import { useState } from 'preact/hooks';
import type { List } from '../../contracts/admin/list.dto.js';
import type { TruckDayCoverage } from '../../contracts/admin/recording.dto.js';
import { linkTo, type PageProps } from '../client/address.js';
import { useLoad } from '../client/load.js';
import { Empty, ErrorBox, Loading } from '../parts/states.js';
import { DAY_MS } from './zone.rules.js';

const MAX_ROWS = 100;

/** Share of the recorded time of each truck and day that is stored. Days are UTC, as the service counts them. */
export function FleetCoverage({ haulerId, query }: PageProps & { haulerId: string }) {
  const [pages, setPages] = useState(3);
  const count = Number(query.get('days') ?? 7) || 7;
  const end = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
  const days = Array.from({ length: count }, (_, index) => end - (count - index) * DAY_MS);
  const perPage = Math.max(1, Math.floor(MAX_ROWS / count)) * count;
  return (
    <section class="card" aria-label="Fleet">
      <h2>Fleet</h2>
      <p class="hint">Stored share of each truck and day (UTC). Choose a square to see its cameras.</p>
      <div class="scroll" role="region" aria-label="Fleet coverage" tabIndex={0}>
        <table class="fleet">
          <thead>
            <tr>
              <th scope="col">Truck</th>
              {days.map((day) => (
                <th key={day} scope="col">
                  {new Date(day).toLocaleDateString(undefined, { timeZone: 'UTC', month: 'numeric', day: 'numeric' })}
                </th>
              ))}
            </tr>
          </thead>
          {Array.from({ length: pages }, (_, index) => (
            <FleetRows key={index} page={index + 1} pageSize={perPage} haulerId={haulerId} days={days} />
          ))}
        </table>
      </div>
      <button type="button" onClick={() => setPages(pages + 3)}>
        More trucks
      </button>
    </section>
  );
}

interface RowsProps {
  readonly page: number;
  readonly pageSize: number;
  readonly haulerId: string;
  readonly days: readonly number[];
}

function FleetRows({ page, pageSize, haulerId, days }: RowsProps) {
  const [from, to] = [days[0] ?? 0, (days.at(-1) ?? 0) + DAY_MS];
  const { data, error, reload } = useLoad<List<TruckDayCoverage>>('/coverage/fleet', {
    haulerId,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    page,
    pageSize,
  });
  const trucks = Map.groupBy(data?.data ?? [], ({ connectionId, truckId }) => JSON.stringify([connectionId, truckId]));
  const isEmpty = page === 1 && data !== undefined && trucks.size === 0;
  return (
    <tbody>
      {(error !== undefined || isEmpty || (page === 1 && data === undefined)) && (
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
  );
}

function FleetRow({ rows, haulerId }: { rows: readonly TruckDayCoverage[]; haulerId: string }) {
  return (
    <tr>
      <th scope="row">{rows[0]?.truckId}</th>
      {rows.map((row) => {
        const start = Date.parse(row.day);
        const address = linkTo('coverage', {
          haulerId,
          connectionId: row.connectionId,
          truckId: row.truckId,
          from: new Date(start).toISOString(),
          to: new Date(start + DAY_MS).toISOString(),
        });
        const total = row.stored + row.available + row.expired + row.missing;
        const share = total === 0 ? 0 : row.stored / total;
        const label = `${row.truckId}, ${row.day}: ${percent(share)} stored, ${percent(row.available / (total || 1))} available, ${percent(row.expired / (total || 1))} expired`;
        return (
          <td key={row.day} data-title={row.day}>
            <a class={`square level-${Math.ceil(share * 5)}`} href={address} title={label} aria-label={label}>
              {row.expired > 0 ? '!' : ''}
              {percent(share)}
            </a>
          </td>
        );
      })}
    </tr>
  );
}

const percent = (share: number): string => `${share > 0 && share < 0.01 ? '<1' : Math.round(share * 100)}%`;
