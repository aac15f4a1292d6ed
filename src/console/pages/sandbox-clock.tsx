import { useState } from 'preact/hooks';
import type { SandboxClock } from '../../contracts/admin/sandbox.dto.js';
import { send } from '../client/api.js';
import { ActionButton } from '../parts/forms.js';
import { Time } from '../parts/values.js';

const STEPS = [
  ['1 minute', { advanceSeconds: 60 }],
  ['1 hour', { advanceSeconds: 3_600 }],
  ['1 day', { advanceSeconds: 86_400 }],
  ['the next clip is ready', { advanceTo: 'clip-ready' }],
  ['all links have expired', { advanceTo: 'link-expired' }],
  ['the recording window is closed', { advanceTo: 'window-closed' }],
] as const;

/** The time of the reference partner, which only moves forward. */
export function SandboxClockCard({ path }: { path: string }) {
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
            work={async () => setClock(await send<SandboxClock>('POST', path, body))}
          />
        ))}
      </div>
    </section>
  );
}
