import type { Connection } from '../../contracts/admin/connection.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import { linkTo, type PageProps } from '../client/address.js';
import { useLoad } from '../client/load.js';
import { Filters, HaulerFilter, SelectFilter, TextFilter } from '../parts/filters.js';
import { useHaulers } from '../parts/values.js';
import { FleetCoverage } from './fleet-coverage.js';
import { VisionConnectionFilter } from './recordings.js';
import { TruckCoverage } from './truck-coverage.js';
import { BackLink, Loading } from '../parts/states.js';
import { zoneOf } from './zone-choice.js';

/** From the fleet, a square per truck and day, to one truck with a lane per camera. */
export function CoveragePage({ query }: PageProps) {
  const truckId = query.get('truckId');
  const connectionId = query.get('connectionId');
  const haulerId = useShownHauler(query);
  if (truckId !== null && connectionId !== null) {
    return (
      <>
        <BackLink href={linkTo('coverage', { haulerId: query.get('haulerId') ?? undefined })}>The fleet</BackLink>
        <TruckCoverage key={truckId} truckId={truckId} connectionId={connectionId} query={query} zone={zoneOf(query)} />
      </>
    );
  }
  return (
    <>
      <Filters>
        <HaulerFilter query={query} usual={haulerId} />
        <SelectFilter
          name="days"
          label="Time"
          query={query}
          all={null}
          usual="7"
          choices={[
            ['7', 'Last 7 days'],
            ['14', 'Last 14 days'],
            ['31', 'Last 31 days'],
          ]}
        />
      </Filters>
      {haulerId === undefined ? <Loading /> : <FleetCoverage haulerId={haulerId} query={query} />}
      <section class="card">
        <h2>One truck</h2>
        <Filters label="One truck">
          <VisionConnectionFilter query={query} all="Choose a connection" />
          <TextFilter name="truckId" label="Truck" query={query} />
        </Filters>
      </section>
    </>
  );
}

/** The hauler of the newest vision connection, unless another one is chosen. */
function useShownHauler(query: URLSearchParams): string | undefined {
  const connections = useLoad<List<Connection>>('/connections', { interface: 'vision', pageSize: 1 });
  const haulers = useHaulers();
  if (connections.data === undefined) return query.get('haulerId') ?? undefined;
  return query.get('haulerId') ?? connections.data.data[0]?.haulerId ?? haulers.data?.data[0]?.id;
}
