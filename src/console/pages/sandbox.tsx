import { useState } from 'preact/hooks';
import type { SandboxClock, SandboxScenario } from '../../contracts/admin/sandbox.dto.js';
import type { PageProps } from '../client/address.js';
import { send } from '../client/api.js';
import { useConnections, useHaulerName, useHaulers } from '../client/haulers.js';
import { useLoad, useNow } from '../client/load.js';
import { useSession } from '../client/session.js';
import { SelectFilter } from '../parts/filters.js';
import { ActionButton } from '../parts/forms.js';
import { Empty, ErrorBox, Loadable, Loading } from '../parts/states.js';
import { Time } from '../parts/values.js';
import { ScenarioRow, type ScenariosPath } from './scenario-row.js';

const LIVE_MS = 3_000;

type ClockPath = '/sandbox/clock' | `/sandbox/customers/${string}/clock`;

/** The paths of the calls for one hauler or customer. */
interface Subject {
  /** The active scenarios. */
  readonly list: '/sandbox' | `/sandbox/${string}/${string}`;
  readonly scenarios: ScenariosPath;
  readonly clock?: ClockPath | undefined;
}

export function SandboxPage({ query }: PageProps) {
  const { isPartner } = useSession();
  const catalogue = useLoad('/sandbox/scenarios');
  if (catalogue.error?.status === 404) {
    return (
      <Empty title="The sandbox is off.">
        Start the service with <code>SANDBOX=true</code> to simulate faults. It is on with the demo.
      </Empty>
    );
  }
  return (
    <>
      <p>Each switch simulates a fault for one hauler or customer. It ends by itself.</p>
      <Loadable of={catalogue}>
        {({ data }) =>
          isPartner ? (
            <Switches catalogue={data} subject={PARTNER} />
          ) : (
            <AdminScenarios catalogue={data} query={query} />
          )
        }
      </Loadable>
    </>
  );
}

const PARTNER: Subject = { list: '/sandbox', scenarios: '/sandbox/scenarios', clock: '/sandbox/clock' };

const NO_HAULERS = (
  <Empty title="No hauler yet.">
    Create one with <code>POST /admin/v1/haulers</code>.
  </Empty>
);

function AdminScenarios({ catalogue, query }: PageProps & { catalogue: readonly SandboxScenario[] }) {
  const { haulers, isLoaded } = useHaulers();
  const hauler = useHaulerName();
  const connections = useConnections('vision') ?? [];
  const customers = [...new Set(connections.map(({ customerId, haulerId }) => customerId ?? haulerId))];
  const choices = [
    ...haulers.map(({ id, name }) => [`haulers/${id}`, `Hauler ${name}`] as const),
    ...customers.map((id) => [`customers/${encodeURIComponent(id)}`, `Customer ${hauler(id)}`] as const),
  ];
  const chosen = query.get('for') ?? choices[0]?.[0];
  if (chosen === undefined) return isLoaded ? NO_HAULERS : <Loading />;
  const path = `/sandbox/${chosen}` as `/sandbox/${string}/${string}`;
  const isCustomer = chosen.startsWith('customers/');
  const clock = `${path}/clock` as `/sandbox/customers/${string}/clock`;
  const ofSubject = catalogue.filter((each) =>
    [each.interface].flat().some((name) => (name === 'vision') === isCustomer),
  );
  return (
    <>
      <div class="narrow">
        <SelectFilter
          name="for"
          label="Scenarios of"
          query={query}
          all={null}
          defaultValue={chosen}
          choices={choices}
        />
      </div>
      <Switches
        catalogue={ofSubject}
        subject={{ list: path, scenarios: `${path}/scenarios`, clock: isCustomer ? clock : undefined }}
      />
    </>
  );
}

function Switches({ catalogue, subject }: { catalogue: readonly SandboxScenario[]; subject: Subject }) {
  const active = useLoad(subject.list, {}, LIVE_MS);
  const now = useNow(1_000);
  // One that has ended since the last answer is off.
  const running = (active.data?.data ?? []).filter(({ endsAt }) => endsAt === null || Date.parse(endsAt) > now);
  return (
    <>
      {active.error !== undefined && <ErrorBox error={active.error} onRetry={active.reload} />}
      {subject.clock !== undefined && <Clock path={subject.clock} />}
      {running.length > 1 && (
        <p class="actions">
          <ActionButton
            label="End all"
            work={() => Promise.all(running.map(({ name }) => send('DELETE', `${subject.scenarios}/${name}`)))}
          />
        </p>
      )}
      <ul class="scenarios">
        {catalogue.map((scenario) => (
          <ScenarioRow
            key={scenario.name}
            scenario={scenario}
            active={running.find(({ name }) => name === scenario.name)}
            path={`${subject.scenarios}/${scenario.name}`}
          />
        ))}
      </ul>
    </>
  );
}

const STEPS = [
  ['1 minute', { advanceSeconds: 60 }],
  ['1 hour', { advanceSeconds: 3_600 }],
  ['1 day', { advanceSeconds: 86_400 }],
  ['the next clip is ready', { advanceTo: 'clip-ready' }],
  ['all links have expired', { advanceTo: 'link-expired' }],
  ['the recording window is closed', { advanceTo: 'window-closed' }],
] as const;

/** Moves the time of the reference partner forward. */
function Clock({ path }: { path: ClockPath }) {
  const [clock, setClock] = useState<SandboxClock>();
  return (
    <section class="card" aria-label="Clock">
      <h2>Clock of the reference partner</h2>
      <p class="hint">It moves forward only, for this customer alone.</p>
      {clock !== undefined && (
        <p role="status">
          It is now <Time value={clock.now} />.
        </p>
      )}
      <div class="actions">
        {STEPS.map(([label, body]) => (
          <ActionButton
            key={label}
            label={'advanceTo' in body ? `Until ${label}` : `+ ${label}`}
            work={async () => setClock(await send('POST', path, body))}
          />
        ))}
      </div>
    </section>
  );
}
