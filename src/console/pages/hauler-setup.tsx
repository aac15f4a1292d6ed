import type { ComponentChildren } from 'preact';
import type { ApiKey } from '../../contracts/admin/api-key.dto.js';
import type { Connection } from '../../contracts/admin/connection.dto.js';
import { linkTo } from '../client/address.js';
import { useLoad, useNow } from '../client/load.js';
import { useSession } from '../client/session.js';
import { Loading } from '../parts/states.js';
import { formatCount, Time } from '../parts/values.js';
import { ConnectionState } from './connection-state.js';
import { keyState } from './home.rules.js';

const LIVE_MS = 5_000;
const ONE = { pageSize: 1 };

interface Step {
  readonly title: string;
  /** What an admin does, and the page for it. */
  readonly action: string;
  readonly href: string;
  /** What exists already; undefined while the step is open. */
  readonly done: ComponentChildren | undefined;
  /** Data has arrived by it. */
  readonly isLive: boolean;
}

/** The way of a hauler from nothing to live; undefined until it is known. Without the platform side it needs only a key. */
function useSteps(haulerId: string): readonly Step[] | undefined {
  const { hasPlatform } = useSession();
  const now = useNow(60_000);
  const keys = useLoad('/api-keys', { haulerId, pageSize: 100 }, LIVE_MS).data?.data;
  const connections = useLoad(hasPlatform ? '/connections' : undefined, { haulerId, pageSize: 100 }, LIVE_MS).data
    ?.data;
  const site = connections?.find((each) => each.interface === 'site');
  const vision = connections?.find((each) => each.interface === 'vision');
  const ofVision = { connectionId: vision?.id, ...ONE };
  const trucks = useLoad(vision && '/video-subscriptions', ofVision, LIVE_MS).data;
  const tickets = useLoad(hasPlatform ? '/tickets' : undefined, { haulerId, ...ONE }, LIVE_MS).data;
  const sites = useLoad(site && '/sites', { haulerId, ...ONE }, LIVE_MS).data;
  const recordings = useLoad(vision && '/recordings', { ...ofVision, status: 'stored' }, LIVE_MS).data;
  if (keys === undefined) return undefined;
  const usable = keys.filter((key) => isUsable(key, now) && (!hasPlatform || key.interfaces.some(isPush)));
  if (!hasPlatform) return [keyStep(haulerId, usable, false)];
  if (connections === undefined || (vision !== undefined && trucks === undefined)) return undefined;
  return [
    keyStep(haulerId, usable, true, tickets),
    siteStep(haulerId, site, sites),
    visionStep(haulerId, vision),
    truckStep(haulerId, vision, trucks, recordings),
  ];
}

/** The keys of a partner who pushes; without the platform side, of one who reads. */
function keyStep(haulerId: string, usable: readonly ApiKey[], isPlatform: boolean, tickets?: Counted): Step {
  const used = usable.find(({ lastUsedAt }) => lastUsedAt !== null);
  return {
    title: isPlatform ? 'Tickets and accounts' : 'Sites and videos',
    action: isPlatform
      ? 'issue a key for the partner who pushes tickets and accounts'
      : 'issue a key for the partner who reads sites and videos',
    href: linkTo('keys', { new: 1, haulerId, interfaces: isPlatform ? 'scale,account' : 'site,vision' }),
    isLive: used !== undefined,
    done:
      usable.length === 0 ? undefined : used === undefined ? (
        'A key is issued, and not used yet: send it to the partner.'
      ) : (
        <>
          Key last used <Time value={used.lastUsedAt} />
          {tickets !== undefined && `, ${countOf(tickets, 'ticket')}`}.
        </>
      ),
  };
}

function siteStep(haulerId: string, site: Connection | undefined, sites: Counted | undefined): Step {
  return {
    title: 'Disposal sites',
    action: 'connect the partner who lists disposal sites (Site)',
    href: linkTo('connections', { new: 1, haulerId, interface: 'site' }),
    isLive: sites !== undefined && sites.pagination.totalItems > 0,
    done: site && <Connected connection={site}>{sites && countOf(sites, 'site')}</Connected>,
  };
}

function visionStep(haulerId: string, vision: Connection | undefined): Step {
  return {
    title: 'Videos',
    action: 'connect the partner who records videos (Vision)',
    href: linkTo('connections', { new: 1, haulerId, interface: 'vision' }),
    isLive: vision?.lastError === null,
    done: vision && <Connected connection={vision} />,
  };
}

function truckStep(
  haulerId: string,
  vision: Connection | undefined,
  trucks: Counted | undefined,
  recordings: Counted | undefined,
): Step {
  const step = { title: 'Trucks', action: 'follow the cameras of a truck' };
  if (vision === undefined) return { ...step, href: visionStep(haulerId, vision).href, isLive: false, done: undefined };
  return {
    ...step,
    href: linkTo('connections', { id: vision.id, follow: 1 }),
    isLive: recordings !== undefined && recordings.pagination.totalItems > 0,
    done:
      trucks === undefined || trucks.pagination.totalItems === 0 ? undefined : (
        <>
          <a href={linkTo('connections', { id: vision.id })}>{countOf(trucks, 'subscription')}</a>
          {recordings !== undefined && `, ${countOf(recordings, 'stored recording')}`}.
        </>
      ),
  };
}

const isUsable = (key: ApiKey, now: number): boolean => ['active', 'expiring'].includes(keyState(key, now));
const isPush = (name: string): boolean => name === 'scale' || name === 'account';

/** The length of a list, as text. */
function countOf({ pagination: { totalItems, more } }: Counted, noun: string): string {
  const count = `${totalItems === 0 ? 'no' : formatCount(totalItems)}${more === true ? '+' : ''}`;
  return `${count} ${noun}${totalItems === 1 ? '' : 's'}`;
}

interface Counted {
  readonly pagination: { readonly totalItems: number; readonly more?: boolean };
}

function Connected({ connection, children }: { connection: Connection; children?: ComponentChildren }) {
  return (
    <>
      <a href={linkTo('connections', { id: connection.id })}>{connection.baseUrl}</a>{' '}
      <ConnectionState connection={connection} /> {children}
    </>
  );
}

/** The steps of a hauler, each with what exists, and the next one as a button. */
export function SetupSteps({ haulerId }: { haulerId: string }) {
  const { canWrite } = useSession();
  const steps = useSteps(haulerId);
  if (steps === undefined) return <Loading />;
  const next = steps.find(({ done }) => done === undefined);
  return (
    <section class="card" aria-label="Set up">
      <h2>{headingOf(steps, next)}</h2>
      <ol class="steps">
        {steps.map((step) => (
          <li key={step.title} class={step.done === undefined ? '' : 'done'}>
            <strong>{step.title}</strong>
            {step.done !== undefined && <div>{step.done}</div>}
            {step.done === undefined && canWrite && (
              <div>
                <a class={`button ${step === next ? 'primary' : ''}`} href={step.href}>
                  {upperFirst(step.action)}
                </a>
              </div>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function headingOf(steps: readonly Step[], next: Step | undefined): string {
  if (next !== undefined) return `Next: ${next.action}`;
  const waiting = steps.filter(({ isLive }) => !isLive).map(({ title }) => lowerFirst(title));
  return waiting.length === 0 ? 'Live' : `Set up, and waiting for the first data: ${waiting.join(', ')}`;
}

/** What to do next for a hauler; nothing but the way to its steps if all is done. */
export function NextStep({ haulerId }: { haulerId: string }) {
  const next = useSteps(haulerId)?.find(({ done }) => done === undefined);
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

/** The steps of the only hauler on the first page, until it has a key and a connection. It reads no more than that. */
export function SetupReminder({ haulerId }: { haulerId: string }) {
  const { hasPlatform } = useSession();
  const keys = useLoad('/api-keys', { haulerId, pageSize: 100 }).data?.data;
  const connections = useLoad(hasPlatform ? '/connections' : undefined, { haulerId, ...ONE }).data?.data;
  if (keys === undefined || (hasPlatform && connections === undefined)) return null;
  const isBegun = keys.some(({ revokedAt }) => revokedAt === null) && connections?.length !== 0;
  return isBegun ? null : <SetupSteps haulerId={haulerId} />;
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
