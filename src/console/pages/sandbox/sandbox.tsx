import { useState } from 'preact/hooks';
import type { ActiveSandboxScenario, SandboxClock, SandboxScenario } from '../../../contracts/admin/sandbox.routes.js';
import { send } from '../../client/api.js';
import { useLoad, useNow } from '../../client/load.js';
import { ActionButton, Options } from '../../parts/forms.js';
import { formatSeconds, Time } from '../../parts/values.js';
import type { PageProps } from '../../client/address.js';
import { useConnections, useHaulers } from '../../client/haulers.js';
import { useSession } from '../../client/session.js';
import { SelectFilter } from '../../parts/filters.js';
import { Card, Empty, ErrorBox, Loadable, Loading } from '../../parts/states.js';
import { isRunning } from '../../parts/sandbox-banner.js';
import { type Choice, choicesOf } from './sandbox.rules.js';

const BOUNDS = [
  ['times:1', 'the next request'],
  ['times:3', 'the next 3 requests'],
  ['forSeconds:60', '1 minute'],
  ['forSeconds:600', '10 minutes'],
  ['forSeconds:3600', '1 hour'],
] as const;

const labelOf = (bound: string): string => BOUNDS.find(([value]) => value === bound)?.[1] ?? bound;

/** Of the key's own hauler and customer, or of another one. */
type ScenariosPath = '/sandbox/scenarios' | `/sandbox/${string}/${string}/scenarios`;

interface RowProps {
  readonly scenario: SandboxScenario;
  readonly active: ActiveSandboxScenario | undefined;
  /** The path of its calls. */
  readonly path: `${ScenariosPath}/${string}`;
  /** Whose calls it faults: real ones may be among them, so that it is asked first. */
  readonly of: string;
}

/** A scenario with what starts or ends it, and the requests and the time that remain. */
function ScenarioRow({ scenario, active, path, of }: RowProps) {
  const { name } = scenario;
  const [bound, setBound] = useState<string>(BOUNDS[3][0]);
  const [kind = '', count] = bound.split(':');
  return (
    <li class={`scenario card ${active === undefined ? '' : 'on'}`}>
      <strong>{name}</strong> <span class="hint">{scenario.interface.join(', ')}</span>
      <p class="hint">{scenario.description}.</p>
      {active === undefined ? (
        <div class="scenario-options">
          <label class="inline">
            For{' '}
            <select
              aria-label={`For how long: ${name}`}
              value={bound}
              onChange={(event) => setBound(event.currentTarget.value)}
            >
              <Options choices={BOUNDS} />
            </select>
          </label>
          <ActionButton
            key="start"
            label={`Start ${name}`}
            confirm={`${name} faults the calls of ${of} for ${labelOf(bound)}.`}
            work={() => send('PUT', path, { [kind]: Number(count) })}
          />
        </div>
      ) : (
        <div class="scenario-options">
          <Remaining active={active} />
          <ActionButton key="end" label={`End ${name}`} work={() => send('DELETE', path)} />
        </div>
      )}
    </li>
  );
}

function Remaining({ active: { remainingTimes, endsAt } }: { active: ActiveSandboxScenario }) {
  const now = useNow(1_000);
  const parts = [
    ...(remainingTimes === null ? [] : [`${remainingTimes} requests left`]),
    ...(endsAt === null
      ? []
      : [`ends in ${formatSeconds(Math.max(0, Math.round((Date.parse(endsAt) - now) / 1_000)))}`]),
  ];
  return (
    <p class="remaining">
      <strong>On:</strong> {parts.join(', ')}
    </p>
  );
}

const LIVE_MS = 3_000;

type ClockPath = '/sandbox/clock' | `/sandbox/customers/${string}/clock`;

/** Whose calls are faulted, and the paths for them. */
interface Subject {
  /** Within a sentence. */
  readonly name: string;
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
  const own = {
    name: 'your own calls',
    list: '/sandbox',
    scenarios: '/sandbox/scenarios',
    clock: '/sandbox/clock',
  } as const;
  return (
    <>
      <p class="hint">Each scenario simulates a fault for one hauler or customer. It ends by itself.</p>
      <Loadable of={catalogue}>
        {({ data }) =>
          isPartner ? <Switches catalogue={data} subject={own} /> : <AdminScenarios catalogue={data} query={query} />
        }
      </Loadable>
    </>
  );
}

function AdminScenarios({ catalogue, query }: PageProps & { catalogue: readonly SandboxScenario[] }) {
  const { demoHaulerId } = useSession();
  const { haulers, isLoaded } = useHaulers();
  const choices = choicesOf(haulers, useConnections('vision') ?? []);
  const demo = `haulers/${demoHaulerId}`;
  // A real hauler is chosen by a person.
  const value = query.get('for') ?? choices.find((each) => each.value === demo)?.value;
  if (!isLoaded) return <Loading />;
  return (
    <>
      <div class="narrow">
        <SelectFilter
          name="for"
          label="Scenarios of"
          query={query}
          all={value === undefined ? 'Choose …' : null}
          defaultValue={value}
          choices={choices.map((each) => [each.value, each.label] as const)}
        />
      </div>
      {value === undefined ? (
        <Empty title="Choose whose calls are faulted." />
      ) : (
        <Switches catalogue={ofSubject(catalogue, value)} subject={subjectOf(value, choices)} />
      )}
    </>
  );
}

/** Scenarios of Vision belong to a customer, all others to a hauler. */
const ofSubject = (catalogue: readonly SandboxScenario[], value: string): SandboxScenario[] =>
  catalogue.filter((each) => each.interface.some((name) => (name === 'vision') === value.startsWith('customers/')));

function subjectOf(value: string, choices: readonly Choice[]): Subject {
  const path = `/sandbox/${value}` as `/sandbox/${string}/${string}`;
  const { name } = choices.find((each) => each.value === value) ?? { name: value };
  const clock = `${path}/clock` as `/sandbox/customers/${string}/clock`;
  return { name, list: path, scenarios: `${path}/scenarios`, clock: value.startsWith('c') ? clock : undefined };
}

function Switches({ catalogue, subject }: { catalogue: readonly SandboxScenario[]; subject: Subject }) {
  const active = useLoad(subject.list, {}, LIVE_MS);
  const now = useNow(1_000);
  const all: readonly ActiveSandboxScenario[] = active.data?.data ?? [];
  const running = all.filter((each) => isRunning(each, now));
  return (
    <>
      {active.error !== undefined && <ErrorBox error={active.error} onRetry={active.reload} />}
      {subject.clock !== undefined && <Clock path={subject.clock} subject={subject} />}
      <ul class="scenarios">
        {(active.data === undefined ? [] : catalogue).map((scenario) => (
          <ScenarioRow
            key={`${subject.list} ${scenario.name}`}
            scenario={scenario}
            active={running.find(({ name }) => name === scenario.name)}
            path={`${subject.scenarios}/${scenario.name}`}
            of={subject.name}
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
function Clock({ path, subject }: { path: ClockPath; subject: Subject }) {
  const [clock, setClock] = useState<SandboxClock>();
  return (
    <Card title="Clock of the reference partner" label="Clock">
      <p class="hint">It moves forward only, for {subject.name} alone.</p>
      {clock !== undefined && (
        <p role="status">
          It is now <Time value={clock.now} />.
        </p>
      )}
      <div class="actions">
        {STEPS.map(([label, body]) => (
          <ActionButton
            key={label}
            label={'advanceTo' in body ? `Move it until ${label}` : `Move it on by ${label}`}
            confirm={`The clock moves on for ${subject.name}, and never back.`}
            work={async () => setClock(await send('POST', path, body))}
          />
        ))}
      </div>
    </Card>
  );
}
