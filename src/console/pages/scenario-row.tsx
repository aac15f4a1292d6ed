import { useState } from 'preact/hooks';
import type { ActiveSandboxScenario, SandboxScenario } from '../../contracts/admin/sandbox.dto.js';
import { send } from '../client/api.js';
import { useAction, useNow } from '../client/load.js';
import { useSession } from '../client/session.js';
import { Options } from '../parts/forms.js';
import { ErrorBox } from '../parts/states.js';
import { formatSeconds } from '../parts/values.js';

const BOUNDS = [
  ['times:1', 'the next request'],
  ['times:3', 'the next 3 requests'],
  ['forSeconds:60', '1 minute'],
  ['forSeconds:600', '10 minutes'],
  ['forSeconds:3600', '1 hour'],
] as const;

const labelOf = (bound: string): string => BOUNDS.find(([value]) => value === bound)?.[1] ?? bound;

/** Of the key's own hauler and customer, or of another one. */
export type ScenariosPath = '/sandbox/scenarios' | `/sandbox/${string}/${string}/scenarios`;

interface RowProps {
  readonly scenario: SandboxScenario;
  readonly active: ActiveSandboxScenario | undefined;
  /** The service has said which scenarios are on. */
  readonly isKnown: boolean;
  /** The path of its calls. */
  readonly path: `${ScenariosPath}/${string}`;
  /** Whose real calls it faults: asked for before it is switched on. */
  readonly confirmFor: string | undefined;
}

/** A scenario as a switch, with the requests and the time that remain. */
export function ScenarioRow({ scenario, active, isKnown, path, confirmFor }: RowProps) {
  const { canWrite } = useSession();
  const [isAsking, setAsking] = useState(false);
  const [bound, setBound] = useState<string>(BOUNDS[3][0]);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const action = useAction<boolean>(async (isOn) => {
    if (!isOn) return send('DELETE', path);
    const [name = '', count] = bound.split(':');
    const parameters = parametersOf(scenario, values);
    const body = { [name]: Number(count), ...(Object.keys(parameters).length === 0 ? {} : { parameters }) };
    return send('PUT', path, body);
  });
  const isOn = active !== undefined;
  const id = `scenario-${scenario.name}`;
  return (
    <li class={`scenario card ${isOn ? 'on' : ''}`}>
      <div class="scenario-head">
        <button
          type="button"
          role="switch"
          class="switch"
          aria-checked={isOn}
          aria-labelledby={id}
          disabled={!canWrite || !isKnown || action.isRunning}
          onClick={() => {
            if (isOn || confirmFor === undefined) action.run(!isOn).catch(reportError);
            else setAsking(true);
          }}
        />
        <div>
          <strong id={id}>{scenario.name}</strong> <span class="hint">{scenario.interface.join(', ')}</span>
          <p class="hint">{scenario.description}.</p>
        </div>
      </div>
      {isOn ? (
        <Remaining active={active} />
      ) : (
        <ScenarioOptions scenario={scenario} bound={bound} onBound={setBound} values={values} onValues={setValues} />
      )}
      {isAsking && confirmFor !== undefined && (
        <div class="confirm" role="group" aria-label={`Confirm ${scenario.name}`}>
          <span>
            {scenario.name} faults the real calls of <strong>{confirmFor}</strong> for {labelOf(bound)}.
          </span>
          <button
            type="button"
            class="danger"
            onClick={() => {
              setAsking(false);
              action.run(true).catch(reportError);
            }}
          >
            Switch {scenario.name} on for {confirmFor}
          </button>
          <button type="button" onClick={() => setAsking(false)}>
            Cancel
          </button>
        </div>
      )}
      {action.error !== undefined && <ErrorBox error={action.error} />}
    </li>
  );
}

interface OptionsProps {
  readonly scenario: SandboxScenario;
  readonly bound: string;
  readonly onBound: (bound: string) => void;
  readonly values: Readonly<Record<string, string>>;
  readonly onValues: (values: Readonly<Record<string, string>>) => void;
}

function ScenarioOptions({ scenario, bound, onBound, values, onValues }: OptionsProps) {
  return (
    <div class="scenario-options">
      <label class="inline">
        For{' '}
        <select value={bound} onChange={(event) => onBound(event.currentTarget.value)}>
          <Options choices={BOUNDS} />
        </select>
      </label>
      {Object.entries(scenario.parameters).map(([name, parameter]) => (
        <label key={name} class="inline" title={parameter.description}>
          {name}{' '}
          <input
            class="short"
            placeholder={String(parameter.default)}
            value={values[name] ?? ''}
            onInput={(event) => onValues({ ...values, [name]: event.currentTarget.value })}
          />
        </label>
      ))}
    </div>
  );
}

/** Numbers where the catalogue has numbers. */
function parametersOf({ parameters }: SandboxScenario, values: Readonly<Record<string, string>>) {
  const given = Object.entries(values).filter(([, value]) => value.trim() !== '');
  return Object.fromEntries(
    given.map(([name, value]) => [name, typeof parameters[name]?.default === 'number' ? Number(value) : value]),
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
