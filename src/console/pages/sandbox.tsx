import { useState } from 'preact/hooks';
import type { Connection } from '../../contracts/admin/connection.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import type {
  ActiveSandboxScenario,
  ActiveSandboxScenarios,
  SandboxCatalogue,
  SandboxScenario,
} from '../../contracts/admin/sandbox.dto.js';
import { change, type PageProps } from '../client/address.js';
import { send } from '../client/api.js';
import { useLoad } from '../client/load.js';
import { useSession } from '../client/session.js';
import { ActionButton } from '../parts/forms.js';
import { Empty, ErrorBox, Loading } from '../parts/states.js';
import { useHaulers } from '../parts/values.js';
import { SandboxClockCard } from './sandbox-clock.js';
import { ScenarioRow } from './scenario-row.js';

const LIVE_MS = 3_000;

/** Where the scenarios of a hauler or customer are switched. */
interface Subject {
  /** Absent for a partner, whose API has no such list: the page then shows what it started itself. */
  readonly list?: string;
  readonly scenarios: string;
  readonly clock?: string | undefined;
}

export function SandboxPage({ query }: PageProps) {
  const { session } = useSession();
  const catalogue = useLoad<SandboxCatalogue>('/sandbox/scenarios');
  const isOff = catalogue.error?.status === 404;
  if (isOff) {
    return (
      <Empty title="The sandbox is off.">
        Start the service with <code>SANDBOX=true</code> to rehearse faults. It is on with the demo.
      </Empty>
    );
  }
  return (
    <>
      <p>Each switch rehearses a fault for one hauler or customer. It ends by itself.</p>
      {catalogue.error !== undefined && <ErrorBox error={catalogue.error} onRetry={catalogue.reload} />}
      {catalogue.data === undefined && catalogue.error === undefined && <Loading />}
      {catalogue.data !== undefined &&
        (session.kind === 'partner' ? (
          <PartnerScenarios catalogue={catalogue.data} />
        ) : (
          <AdminScenarios catalogue={catalogue.data} query={query} />
        ))}
    </>
  );
}

function PartnerScenarios({ catalogue }: { catalogue: SandboxCatalogue }) {
  return <Switches catalogue={catalogue.data} subject={{ scenarios: '/sandbox/scenarios', clock: '/sandbox/clock' }} />;
}

function AdminScenarios({ catalogue, query }: PageProps & { catalogue: SandboxCatalogue }) {
  const { data: haulers } = useHaulers();
  const { data: connections } = useLoad<List<Connection>>('/connections', { interface: 'vision', pageSize: 100 });
  const customers = [...new Set((connections?.data ?? []).map(({ customerId, haulerId }) => customerId ?? haulerId))];
  const choices = [
    ...(haulers?.data ?? []).map(({ id, name }) => [`haulers/${id}`, `Hauler ${name}`] as const),
    ...customers.map(
      (id) => [`customers/${encodeURIComponent(id)}`, `Customer ${nameOf(id, haulers?.data ?? [])}`] as const,
    ),
  ];
  const chosen = query.get('for') ?? choices[0]?.[0];
  if (chosen === undefined) return <Loading />;
  const path = `/sandbox/${chosen}`;
  const isCustomer = chosen.startsWith('customers/');
  const ofSubject = catalogue.data.filter((each) =>
    [each.interface].flat().some((name) => (name === 'vision') === isCustomer),
  );
  return (
    <>
      <label class="field narrow">
        <span>Scenarios of</span>
        <select value={chosen} onChange={(event) => change({ for: event.currentTarget.value })}>
          {choices.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <Switches
        catalogue={ofSubject}
        subject={{ list: path, scenarios: `${path}/scenarios`, clock: isCustomer ? `${path}/clock` : undefined }}
      />
    </>
  );
}

const nameOf = (id: string, haulers: readonly { id: string; name: string }[]): string =>
  haulers.find((each) => each.id === id)?.name ?? id;

function Switches({ catalogue, subject }: { catalogue: readonly SandboxScenario[]; subject: Subject }) {
  const active = useLoad<ActiveSandboxScenarios>(subject.list, {}, { everyMs: LIVE_MS });
  const [started, setStarted] = useState<readonly ActiveSandboxScenario[]>([]);
  const running = subject.list === undefined ? started : (active.data?.data ?? []);
  const note = (name: string, one: ActiveSandboxScenario | undefined) =>
    setStarted((all) => [...all.filter((each) => each.name !== name), ...(one === undefined ? [] : [one])]);
  return (
    <>
      {active.error !== undefined && <ErrorBox error={active.error} onRetry={active.reload} />}
      {subject.clock !== undefined && <SandboxClockCard path={subject.clock} />}
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
            onChange={(one) => note(scenario.name, one)}
          />
        ))}
      </ul>
    </>
  );
}
