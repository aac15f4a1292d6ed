import type { ComponentChildren } from 'preact';
import type { Connection } from '../../../contracts/admin/connections.routes.js';
import { linkTo } from '../../client/links.js';
import { useAll } from '../../client/load.js';
import { useSession } from '../../client/session.js';
import { HealthState } from '../../parts/health.js';
import { Card, keyState, Loading } from '../../parts/states.js';
import { Time } from '../../parts/values.js';

const LIVE_MS = 5_000;

interface Step {
  readonly title: string;
  /** What an admin does, and the page for it. */
  readonly action: string;
  readonly href: string;
  /** What exists already; nothing while the step is open. */
  readonly done: ComponentChildren;
  /** It is refused to a session that is limited to haulers. */
  readonly isOfAllHaulers?: boolean;
}

/** The steps of a hauler; undefined until they are known. Without the platform side it needs only a key. */
function useSteps(haulerId: string): readonly Step[] | undefined {
  const { hasPlatform } = useSession();
  const keys = useAll('/api-keys', { haulerId }, LIVE_MS).data;
  const connections = useAll(hasPlatform ? '/connections' : undefined, { haulerId }, LIVE_MS).data;
  if (keys === undefined || (hasPlatform && connections === undefined)) return undefined;
  const interfaces = hasPlatform ? (['scale', 'account'] as const) : (['site', 'vision'] as const);
  const usable = keys.filter(
    (each) =>
      ['active', 'expiring'].includes(keyState(each, Date.now())) &&
      interfaces.some((name) => each.interfaces.includes(name)),
  );
  const key = usable.find(({ lastUsedAt }) => lastUsedAt !== null) ?? usable[0];
  const ofKey: Step = {
    title: hasPlatform ? 'Tickets and accounts' : 'Sites and videos',
    action: `issue a key for the partner who ${hasPlatform ? 'pushes tickets and accounts' : 'reads sites and videos'}`,
    href: linkTo('keys', { new: 1, haulerId, interfaces: interfaces.join() }),
    isOfAllHaulers: true,
    done: key && (key.lastUsedAt === null ? 'The key was not used yet.' : <Used at={key.lastUsedAt} />),
  };
  if (!hasPlatform) return [ofKey];
  const stepOf = (kind: Connection['interface'], title: string, action: string): Step => {
    const found = connections?.find((each) => each.interface === kind);
    const href = linkTo('connections', { new: 1, haulerId, interface: kind });
    return { title, action, href, done: found && <Connected connection={found} /> };
  };
  return [
    ofKey,
    stepOf('site', 'Disposal sites', 'connect the partner who lists disposal sites (Site)'),
    stepOf('vision', 'Videos', 'connect the partner who records videos (Vision)'),
  ];
}

const Used = ({ at }: { at: string }) => (
  <>
    Key last used <Time value={at} />.
  </>
);

const Connected = ({ connection }: { connection: Connection }) => (
  <>
    <a href={linkTo('connections', { id: connection.id })}>{connection.baseUrl}</a> <HealthState of={connection} />
  </>
);

/** The steps of a hauler: what exists, and what comes next. */
export function SetupSteps({ haulerId }: { haulerId: string }) {
  const { may, haulers } = useSession();
  const steps = useSteps(haulerId);
  if (steps === undefined) return <Loading />;
  const mayTake = ({ isOfAllHaulers = false }: Step) => may('admin') && !(isOfAllHaulers && haulers !== undefined);
  return (
    <Card title="Set up">
      <ol class="line">
        {steps.map((step) => (
          <li key={step.title} class={step.done === undefined ? '' : 'good'}>
            <strong>{step.title}</strong>
            <div>{step.done ?? (mayTake(step) && <a href={step.href}>Next: {step.action}</a>)}</div>
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** Leads from a new key or connection to what comes next. */
export const NextStep = ({ haulerId }: { haulerId: string }) => (
  <p class="actions">
    <a class="button" href={linkTo('haulers', { id: haulerId })}>
      Next step of this hauler
    </a>
  </p>
);
