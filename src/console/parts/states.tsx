import type { ComponentChildren } from 'preact';
import type { ApiKey } from '../../contracts/admin/api-keys.routes.js';
import type { Exchange } from '../../contracts/admin/exchanges.routes.js';
import type { SyncRun } from '../../contracts/admin/sync-runs.routes.js';
import { useAddress } from '../client/address.js';
import type { CallError } from '../client/api.js';
import { linkTo } from '../client/links.js';
import type { AnswerOf, PathOf } from '../client/contract.js';
import { type Loaded, useLoad } from '../client/load.js';
import { Facts } from './values.js';

export const Loading = () => (
  <p class="loading" role="status">
    Loading …
  </p>
);

/** The link from a record to its list. */
export function BackLink({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <p>
      <a class="back" href={href}>
        <svg width="9" height="14" aria-hidden="true">
          <path d="M7.5 1.5 2 7l5.5 5.5" />
        </svg>
        {children}
      </a>
    </p>
  );
}

interface CardProps {
  readonly title: string;
  /** Its name for a screen reader, where that is another than the title. */
  readonly label?: string;
  /** Stands behind the title. */
  readonly badge?: ComponentChildren;
  readonly kind?: string;
  readonly children: ComponentChildren;
}

/** A part of a page, with its title. */
export const Card = ({ title, label = title, badge, kind = '', children }: CardProps) => (
  <section class={`card ${kind}`} aria-label={label}>
    <h2>
      {title} {badge}
    </h2>
    {children}
  </section>
);

interface DetailHeadProps extends Omit<CardProps, 'kind' | 'children'> {
  /** The two that people look for. */
  readonly facts: Readonly<Record<string, ComponentChildren>>;
  readonly children?: ComponentChildren;
}

/** How the page of a thing begins: its name, its state as the badge, and the two facts that people look for; the rest below. */
export const DetailHead = ({ facts, children, ...card }: DetailHeadProps) => (
  <Card {...card} kind="thing">
    <Facts of={facts} kind="lead" />
    {children}
  </Card>
);

/** Shown in place of an empty list, with advice. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <div class="hint">{children}</div>}
    </div>
  );
}

const ADVICE: Readonly<Record<number, string>> = {
  0: 'The page tries again by itself.',
  404: 'The address may be old, or the record was deleted.',
  429: 'Wait a moment, then try again.',
};

/** The error of a call, with advice. */
export function ErrorBox({ error, onRetry }: { error: CallError; onRetry?: (() => void) | undefined }) {
  const advice = ADVICE[error.status];
  return (
    <div class="notice bad" role="alert">
      <p>{error.message}</p>
      {advice !== undefined && <p class="hint">{advice}</p>}
      {error.requestId !== undefined && error.status >= 500 && (
        <p class="hint">
          Quote the request id when you ask for help: <code>{error.requestId}</code>
        </p>
      )}
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

interface LoadableProps<T> {
  readonly of: Loaded<T>;
  readonly children: (data: T) => ComponentChildren;
}

/** The error of a call, and its data as soon as there is some. */
export function Loadable<T>({ of: { data, error, reload }, children }: LoadableProps<T>) {
  return (
    <>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {data === undefined ? error === undefined && <Loading /> : children(data)}
    </>
  );
}

interface DetailProps<Path extends string> {
  readonly path: Path;
  readonly everyMs?: number;
  /** The name of the list to which it leads back. */
  readonly list: string;
  readonly children: (data: AnswerOf<'GET', Path>) => ComponentChildren;
}

/** The page of one record. Its path is its key: nothing of another record stays, neither data nor what was typed. */
export const Detail = <const Path extends PathOf<'GET'>>(props: DetailProps<Path>) => (
  <Record key={props.path} {...props} />
);

/** What the address has of one record, and not of its list. */
const OF_RECORD = /^(id|run|play|endpoint|erasure|at|cameras|follow|refused|kind|change)$|\./;

function Record<const Path extends PathOf<'GET'>>({ path, everyMs, list, children }: DetailProps<Path>) {
  const { page, query } = useAddress();
  const ofList = [...query].filter(([name]) => !OF_RECORD.test(name));
  const record = useLoad(path, {}, everyMs);
  return (
    <>
      <BackLink href={linkTo(page, Object.fromEntries(ofList))}>{list}</BackLink>
      <Loadable of={record}>{children}</Loadable>
    </>
  );
}

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'plain';

const TONES: Readonly<Record<string, Tone>> = {
  succeeded: 'good',
  stored: 'good',
  ready: 'good',
  active: 'good',
  enabled: 'good',
  delivered: 'good',
  passed: 'good',
  created: 'good',
  restored: 'good',
  yes: 'good',
  updated: 'info',
  running: 'info',
  queued: 'info',
  pending: 'info',
  processing: 'info',
  submitting: 'info',
  downloading: 'info',
  available: 'info',
  held: 'warn',
  rejected: 'warn',
  warning: 'warn',
  flagged: 'warn',
  stale: 'warn',
  expired: 'warn',
  expiring: 'warn',
  deactivated: 'warn',
  inactive: 'warn',
  paused: 'warn',
  'not proven': 'warn',
  failed: 'bad',
  failing: 'bad',
  disabled: 'bad',
  revoked: 'bad',
  refused: 'bad',
  missing: 'bad',
  quarantined: 'bad',
  no: 'bad',
};

/** A state as a word; the colour only repeats it. */
export function Badge({ value, tone }: { value: string; tone?: Tone | undefined }) {
  return <span class={`badge ${tone ?? TONES[value] ?? 'plain'}`}>{value.replace(/_/g, ' ')}</span>;
}

/** A state, and below it why it is so. */
export const State = ({ value, tone, reason }: { value: string; tone?: Tone | undefined; reason?: string | null }) => (
  <>
    <Badge value={value} tone={tone} />
    {reason != null && <div class="hint clamp">{reason}</div>}
  </>
);

/** Of what is called at intervals: enabled, failing or paused. */
export function CallState({ of: { enabled, lastError } }: { of: { enabled: boolean; lastError?: string | null } }) {
  const isFailing = lastError != null;
  const value = enabled ? (isFailing ? 'failing' : 'enabled') : 'paused';
  return <State value={value} tone={isFailing ? 'bad' : undefined} reason={lastError} />;
}

/** The result of a synchronisation. A run that quarantined records is no plain success. */
export const RunBadge = ({ run: { status, attention } }: { run: Pick<SyncRun, 'status' | 'attention'> }) => (
  <Badge value={status} tone={status === 'succeeded' && attention !== undefined ? 'warn' : undefined} />
);

/** The status of a response; null without a response. */
export const StatusBadge = ({ value }: { value: number | null }) => (
  <Badge
    value={value === null ? 'no response' : String(value)}
    tone={value === null || value >= 500 ? 'bad' : value >= 400 ? 'warn' : 'good'}
  />
);

/** The response of an exchange: its status, and what the service decided or why it failed. */
export const ResponseBadge = ({
  exchange: { status, failure, errorCode, result, scenario },
}: {
  exchange: Exchange;
}) => (
  <>
    <StatusBadge value={status} />{' '}
    <span class="hint">
      {failure ?? errorCode ?? result}
      {scenario !== undefined && ` (scenario ${scenario})`}
    </span>
  </>
);

const RENEW_MS = 14 * 86_400_000;

/** An active key that expires soon is expiring. */
export function keyState({ revokedAt, expiresAt }: ApiKey, now: number): 'active' | 'expiring' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  const left = Date.parse(expiresAt) - now;
  return left <= 0 ? 'expired' : left < RENEW_MS ? 'expiring' : 'active';
}
