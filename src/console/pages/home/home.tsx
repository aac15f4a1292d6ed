import { useHaulers } from '../../client/haulers.js';
import { useLoad } from '../../client/load.js';
import { useSession } from '../../client/session.js';
import { AttentionList } from '../../parts/attention.js';
import { DayCharts } from './day-charts.js';
import { SetupReminder } from '../haulers/hauler-setup.js';
import { NewHauler } from '../haulers/haulers.js';

const LIVE_MS = 10_000;

/** What needs attention, as the service ranks it, with what was looked at; below it the last day in charts. */
export function HomePage() {
  const { hasPlatform, haulers: own } = useSession();
  const { haulers, isLoaded } = useHaulers();
  const overview = useLoad(hasPlatform && own === undefined ? '/overview' : undefined, {}, LIVE_MS);
  return (
    <>
      {isLoaded && haulers.length === 0 && <FirstStep />}
      {haulers.length === 1 && haulers[0] !== undefined && <SetupReminder haulerId={haulers[0].id} />}
      <AttentionList />
      {overview.data !== undefined && <DayCharts overview={overview.data} />}
    </>
  );
}

/** On an empty service. */
function FirstStep() {
  const { may, haulers } = useSession();
  if (!may('admin') || haulers !== undefined)
    return <p class="notice">No hauler yet: an admin creates the first one here.</p>;
  return (
    <>
      <p>
        <strong>Next: create the first hauler.</strong> Its keys, its partners and its trucks follow, step by step.
      </p>
      <NewHauler />
    </>
  );
}
