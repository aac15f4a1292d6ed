import type { PageProps } from '../../client/address.js';
import { useHaulers } from '../../client/haulers.js';
import { useLoad } from '../../client/load.js';
import { useSession } from '../../client/session.js';
import { AttentionList } from '../../parts/attention.js';
import { HaulerFilter, ZoneChoice, zoneOf } from '../../parts/filters.js';
import { Reading } from '../../parts/reading.js';
import { Loadable } from '../../parts/states.js';
import { NewHauler } from '../haulers/haulers.js';
import { Tile } from './days.js';
import { FIGURES } from './home.rules.js';
import { Quiet } from './quiet.js';

const LIVE_MS = 10_000;

/** Four questions at a glance: what needs me, is it running, what came in today, and who is quiet. */
export function HomePage({ query }: PageProps) {
  const { hasPlatform } = useSession();
  const { haulers, isLoaded } = useHaulers();
  return (
    <>
      {isLoaded && haulers.length === 0 && <FirstStep />}
      <AttentionList />
      {hasPlatform && haulers.length > 0 && <Today query={query} />}
    </>
  );
}

function Today({ query }: PageProps) {
  const { haulers } = useHaulers();
  const zone = zoneOf(query);
  const haulerId = query.get('haulerId') ?? undefined;
  const overview = useLoad('/overview/days', { haulerId, timeZone: zone }, LIVE_MS);
  const scope = { haulerId: haulerId ?? (haulers.length === 1 ? haulers[0]?.id : undefined), zone };
  return (
    <section aria-label="Today">
      <div class="day-head">
        <h2>
          Today <Reading of={overview} />
        </h2>
        {haulers.length > 1 && <HaulerFilter query={query} />}
        <ZoneChoice query={query} />
      </div>
      <Loadable of={overview}>
        {({ days, quiet }) => (
          <>
            <div class="figures">
              {FIGURES.map((figure) => (
                <Tile key={figure.title} figure={figure} days={days} scope={scope} />
              ))}
            </div>
            <Quiet sources={quiet} />
          </>
        )}
      </Loadable>
    </section>
  );
}

/** On an empty service. */
function FirstStep() {
  const { may, haulers } = useSession();
  const isAllowed = may('admin') && haulers === undefined;
  return isAllowed ? <NewHauler /> : <p class="notice">No hauler yet: an admin creates the first one here.</p>;
}
