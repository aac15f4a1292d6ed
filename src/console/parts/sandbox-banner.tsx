import type { ActiveSandboxScenario, RunningScenario } from '../../contracts/admin/sandbox.routes.js';
import { linkTo } from '../client/links.js';
import { send } from '../client/api.js';
import { useLoad, useNow } from '../client/load.js';
import { useSession } from '../client/session.js';
import { ActionButton } from './forms.js';
import { formatCount, Time } from './values.js';

const LIVE_MS = 5_000;

/** Of the key of a partner, or of any hauler or customer. */
type Running = ActiveSandboxScenario & Partial<RunningScenario>;

/** Stands on every page while a scenario is on: whoever looks at a fault must know that it is simulated. */
export function SandboxBanner() {
  const { hasSandbox, haulers } = useSession();
  // The list concerns all haulers.
  const { data } = useLoad(hasSandbox && haulers === undefined ? '/sandbox' : undefined, {}, LIVE_MS);
  const now = useNow(1_000);
  const all: readonly Running[] = data?.data ?? [];
  const running = all.filter((each) => isRunning(each, now));
  if (running.length === 0) return null;
  return (
    <section class="notice warn sandbox-banner" aria-label="Simulated faults">
      <p>
        <strong>Faults are simulated.</strong> What fails below may be the sandbox.
      </p>
      <ul>
        {running.map((each) => (
          <BannerItem key={`${each.subject} ${each.subjectId} ${each.name} ${each.routes?.join()}`} scenario={each} />
        ))}
      </ul>
    </section>
  );
}

/** One that has ended since the last answer is off. */
export const isRunning = ({ endsAt }: ActiveSandboxScenario, now: number): boolean =>
  endsAt === null || Date.parse(endsAt) > now;

function BannerItem({ scenario }: { scenario: Running }) {
  const { name, subject, subjectId = '', haulerName, remainingTimes, endsAt } = scenario;
  const whose = subject === undefined ? 'your own calls' : subjectName(subject, subjectId, haulerName);
  return (
    <li>
      <span>
        <a href={linkTo('sandbox', { for: subject && `${subject}/${encodeURIComponent(subjectId)}` })}>{name}</a> for{' '}
        <strong>{whose}</strong>
        {endsAt !== null && ' until '}
        {endsAt !== null && <Time value={endsAt} />}
        {remainingTimes !== null &&
          ` for the next ${remainingTimes === 1 ? 'request' : `${formatCount(remainingTimes)} requests`}`}
      </span>
      <ActionButton label={`End ${name}`} work={() => end(scenario)} />
    </li>
  );
}

function subjectName(subject: string, id: string, haulerName: string | null | undefined): string {
  if (subject === 'haulers') return haulerName ?? `hauler ${id}`;
  return haulerName == null ? `customer ${id}` : `the videos of ${haulerName}`;
}

const end = ({ name, subject, subjectId = '' }: Running) =>
  send(
    'DELETE',
    subject === undefined
      ? `/sandbox/scenarios/${name}`
      : `/sandbox/${subject}/${encodeURIComponent(subjectId)}/scenarios/${name}`,
  );
