import type { ComponentChildren } from 'preact';
import type { ApiKey } from '../../../contracts/admin/api-key.dto.js';
import type { Connection } from '../../../contracts/admin/connection.dto.js';
import type { AdminRole } from '../../../contracts/common/roles.values.js';
import { linkTo } from '../../client/links.js';
import { useLoad, useNow } from '../../client/load.js';
import { useSession } from '../../client/session.js';
import { CallState, Card, Loading, keyState } from '../../parts/states.js';
import { formatCount, Time } from '../../parts/values.js';

const LIVE_MS = 5_000;

interface Step {
  readonly title: string;
  /** What an admin does, and the page for it. */
  readonly action: string;
  readonly href: string;
  /** What exists already; nothing while the step is open. */
  readonly done: ComponentChildren;
  /** The role that the page needs for it; `admin` by default. */
  readonly needs?: AdminRole;
  /** It is refused to a session that is limited to haulers. */
  readonly isOfAllHaulers?: boolean;
}

/** The steps of a hauler; undefined until it is known. Without the platform side it needs only a key. */
function useSteps(haulerId: string): readonly Step[] | undefined {
  const { hasPlatform } = useSession();
  const now = useNow(60_000);
  const keys = useLoad('/api-keys', { haulerId, pageSize: 100 }, LIVE_MS).data?.data;
  const connections = useLoad(hasPlatform ? '/connections' : undefined, { haulerId, pageSize: 100 }, LIVE_MS).data
    ?.data;
  const site = connections?.find((each) => each.interface === 'site');
  const vision = connections?.find((each) => each.interface === 'vision');
  const trucks = useLoad(vision && '/video-subscriptions', { connectionId: vision?.id, pageSize: 1 }, LIVE_MS).data;
  if (keys === undefined) return undefined;
  const usable = keys.filter((key) => isUsable(key, now) && (!hasPlatform || key.interfaces.some(isPush)));
  if (!hasPlatform) return [keyStep(haulerId, usable, false)];
  if (connections === undefined || (vision !== undefined && trucks === undefined)) return undefined;
  const count = trucks?.pagination.totalItems ?? 0;
  const newVision = linkTo('connections', { new: 1, haulerId, interface: 'vision' });
  return [
    keyStep(haulerId, usable, true),
    {
      title: 'Disposal sites',
      action: 'connect the partner who lists disposal sites (Site)',
      href: linkTo('connections', { new: 1, haulerId, interface: 'site' }),
      done: site && <Connected connection={site} />,
    },
    {
      title: 'Videos',
      action: 'connect the partner who records videos (Vision)',
      href: newVision,
      done: vision && <Connected connection={vision} />,
    },
    {
      title: 'Trucks',
      needs: vision === undefined ? 'admin' : 'operator',
      action: 'follow the cameras of a truck',
      href: vision === undefined ? newVision : linkTo('connections', { id: vision.id, follow: 1 }),
      done: vision !== undefined && count > 0 && (
        <a href={linkTo('connections', { id: vision.id })}>
          {formatCount(count)} {count === 1 ? 'subscription' : 'subscriptions'}
        </a>
      ),
    },
  ];
}

/** The keys of a partner who pushes; without the platform side, of one who reads. */
function keyStep(haulerId: string, usable: readonly ApiKey[], isPlatform: boolean): Step {
  const used = usable.find(({ lastUsedAt }) => lastUsedAt !== null);
  return {
    title: isPlatform ? 'Tickets and accounts' : 'Sites and videos',
    action: isPlatform
      ? 'issue a key for the partner who pushes tickets and accounts'
      : 'issue a key for the partner who reads sites and videos',
    href: linkTo('keys', { new: 1, haulerId, interfaces: isPlatform ? 'scale,account' : 'site,vision' }),
    isOfAllHaulers: true,
    done: usable.length > 0 && (
      <>
        {used === undefined ? (
          'A key is issued, and not used yet: send it to the partner.'
        ) : (
          <>
            Key last used <Time value={used.lastUsedAt} />.
          </>
        )}
      </>
    ),
  };
}

const isOpen = ({ done }: Step): boolean => done === undefined || done === false;
/** Whether the session may take a step. */
function useMayTake(): (step: Step) => boolean {
  const { may, haulers } = useSession();
  return ({ needs = 'admin', isOfAllHaulers = false }) => may(needs) && !(isOfAllHaulers && haulers !== undefined);
}

const isUsable = (key: ApiKey, now: number): boolean => ['active', 'expiring'].includes(keyState(key, now));
const isPush = (name: string): boolean => name === 'scale' || name === 'account';

const Connected = ({ connection }: { connection: Connection }) => (
  <>
    <a href={linkTo('connections', { id: connection.id })}>{connection.baseUrl}</a> <CallState of={connection} />
  </>
);

/** The steps of a hauler, each with what exists, and the next one as a button. */
export function SetupSteps({ haulerId }: { haulerId: string }) {
  const mayTake = useMayTake();
  const steps = useSteps(haulerId);
  if (steps === undefined) return <Loading />;
  const next = steps.find((step) => isOpen(step) && mayTake(step));
  return (
    <Card title={next === undefined ? 'Set up' : `Next: ${next.action}`} label="Set up">
      <ol class="steps">
        {steps.map((step) => (
          <li key={step.title} class={isOpen(step) ? '' : 'done'}>
            <strong>{step.title}</strong>
            {!isOpen(step) && <div>{step.done}</div>}
            {isOpen(step) && mayTake(step) && (
              <div>
                <a class={`button ${step === next ? 'primary' : ''}`} href={step.href}>
                  {upperFirst(step.action)}
                </a>
              </div>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** What to do next for a hauler; nothing but the way to its steps if all is done. */
export function NextStep({ haulerId }: { haulerId: string }) {
  const mayTake = useMayTake();
  const next = useSteps(haulerId)?.find((step) => isOpen(step) && mayTake(step));
  return (
    <p class="actions">
      {next !== undefined && (
        <a class="button primary" href={next.href}>
          Next: {next.action}
        </a>
      )}
      <a class="button" href={linkTo('haulers', { id: haulerId })}>
        Show all steps of this hauler
      </a>
    </p>
  );
}

const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
