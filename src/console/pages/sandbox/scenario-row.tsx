import { useState } from 'preact/hooks';
import type { ActiveSandboxScenario, SandboxScenario } from '../../../contracts/admin/sandbox.dto.js';
import { send } from '../../client/api.js';
import { useNow } from '../../client/load.js';
import { ActionButton, Options } from '../../parts/forms.js';
import { formatSeconds } from '../../parts/values.js';

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
  /** The path of its calls. */
  readonly path: `${ScenariosPath}/${string}`;
  /** Whose calls it faults: real ones may be among them, so that it is asked first. */
  readonly of: string;
}

/** A scenario with what starts or ends it, and the requests and the time that remain. */
export function ScenarioRow({ scenario, active, path, of }: RowProps) {
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
            <select value={bound} onChange={(event) => setBound(event.currentTarget.value)}>
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
