import { change, type PageProps } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { useConnectionChoices } from '../../client/haulers.js';
import { Filters, HaulerFilter, pick, SelectFilter, ZoneChoice, zoneOf } from '../../parts/filters.js';
import { fieldText, Input, Select } from '../../parts/forms.js';
import { BackLink, Card } from '../../parts/states.js';
import { FleetCoverage } from './fleet-coverage.js';
import { TruckCoverage } from './truck-coverage.js';

const DAYS = [
  ['7', 'Last 7 days'],
  ['14', 'Last 14 days'],
  ['31', 'Last 31 days'],
] as const;

/** The fleet with a square per truck and day, or one truck with a track per camera. */
export function CoveragePage({ query }: PageProps) {
  const truckId = query.get('truckId');
  const connectionId = query.get('connectionId');
  if (truckId === null || connectionId === null) return <FleetPage query={query} />;
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

function FleetPage({ query }: PageProps) {
  return (
    <>
      <Filters>
        <HaulerFilter query={query} />
        <SelectFilter name="days" label="Time" query={query} all={null} defaultValue="7" choices={DAYS} />
        <ZoneChoice query={query} />
      </Filters>
      <FleetCoverage query={query} />
      <Card title="One truck">
        <OneTruck query={query} />
      </Card>
    </>
  );
}

/** Opens a truck when its whole name is typed, and not before. */
function OneTruck({ query }: PageProps) {
  const choices = useConnectionChoices('vision') ?? [];
  const show = (event: SubmitEvent) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    const truckId = fieldText(values, 'truckId');
    if (truckId !== undefined) change({ connectionId: fieldText(values, 'connectionId'), truckId });
  };
  return (
    <form class="filters open" aria-label="One truck" onSubmit={show}>
      <Select name="connectionId" label="Vision connection" choices={choices} />
      <Input name="truckId" label="Truck" value={query.get('truckId') ?? ''} isRequired />
      <button type="submit">Show the truck</button>
    </form>
  );
}
