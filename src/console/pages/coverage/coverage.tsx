import type { PageProps } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { pick, zoneOf } from '../../parts/filters.js';
import { BackLink } from '../../parts/states.js';
import { FleetCoverage } from './fleet-coverage.js';
import { TruckCoverage } from './truck-coverage.js';

/** The fleet with a square per truck and day, or one truck with a track per camera. */
export function CoveragePage({ query }: PageProps) {
  const truckId = query.get('truckId');
  const connectionId = query.get('connectionId');
  if (truckId === null || connectionId === null) return <FleetCoverage query={query} />;
  return (
    <>
      <BackLink href={linkTo('coverage', pick(query, 'haulerId', 'zone'))}>The fleet</BackLink>
      <TruckCoverage
        key={`${connectionId} ${truckId}`}
        truckId={truckId}
        connectionId={connectionId}
        query={query}
        zone={zoneOf(query)}
      />
    </>
  );
}
