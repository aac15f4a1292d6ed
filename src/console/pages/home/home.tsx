import type { OverviewDay, QuietSource } from '../../../contracts/admin/overview.dto.js';
import { Bars } from '../../parts/bars.js';
import { formatCount } from '../../parts/values.js';
import { type Figure, FIGURES, scaleOf, type Scope } from './home.rules.js';
import { linkTo } from '../../client/links.js';
import { useHaulerName, useHaulers } from '../../client/haulers.js';
import { Age, Reading } from '../../parts/health.js';
import { Card, Loadable } from '../../parts/states.js';
import type { PageProps } from '../../client/address.js';
import { useLoad } from '../../client/load.js';
import { useSession } from '../../client/session.js';
import { AttentionList } from '../../parts/attention.js';
import { HaulerFilter, ZoneChoice, zoneOf } from '../../parts/filters.js';
import { NewHauler } from '../haulers/haulers.js';

const HEIGHT = 56;

/** A number of today with its list, and the last 14 days. */
function Tile({ figure, days, scope }: { figure: Figure; days: readonly OverviewDay[]; scope: Scope }) {
  const { title, read, unit = '', link, share } = figure;
  const today = days.at(-1);
  if (today === undefined) return null;
  const text = (value: number) => formatCount(Number(value.toFixed(1))) + unit;
  const values = days.map(read);
  const scale = scaleOf(values.flatMap((value) => value ?? []));
  const items = days.map((day, index) => {
    const [value, isToday] = [values[index], day === today];
    const height = Math.max(0, value ?? 0) / (scale || 1);
    return {
      key: day.day,
      label: `${dayText(day, scope.zone)}: ${value === undefined ? 'not known' : text(value)}`,
      href: link(day, scope, isToday),
      parts: height === 0 ? [] : [{ name: isToday ? 'today' : 'past', share: height }],
      tick: index === 0 || isToday ? dayText(day, scope.zone) : '',
      kind: value === undefined ? 'not-known' : '',
    };
  });
  const now = values.at(-1);
  return (
    <figure class="card figure" role="group" aria-label={title}>
      <h3>{title}</h3>
      <p>
        <a href={link(today, scope, true)}>{now === undefined ? '–' : text(now)}</a>{' '}
        <span class="hint">{share?.(today)}</span>
      </p>
      {values.every((value) => value === 0) ? (
        <p class="hint">None in 14 days.</p>
      ) : (
        <Bars items={items} height={HEIGHT} scale={scale === 0 ? '' : text(scale)} />
      )}
    </figure>
  );
}

const dayText = ({ startTime }: OverviewDay, timeZone: string): string =>
  new Date(startTime).toLocaleDateString(undefined, { timeZone, month: 'short', day: 'numeric' });

const HOUR_SECONDS = 3_600;

/** The scale houses and cameras that send less than on their usual day. */
function Quiet({ sources }: { sources: readonly QuietSource[] | undefined }) {
  const haulerName = useHaulerName();
  if (sources === undefined || sources.length === 0) {
    return (
      <p class="hint">
        {sources === undefined
          ? 'Whether a scale house or a camera is quiet is not known yet.'
          : 'No scale house and no camera sends less than half of what is usual by this time of the week.'}
      </p>
    );
  }
  return (
    <Card title="Quiet" kind="quiet">
      <ol class="needs">
        {sources.map((source) => (
          <li key={`${source.haulerId} ${source.siteId ?? source.connectionId} ${source.truckId} ${source.name}`}>
            <div>
              <p>
                <a href={pageOf(source)}>{nameOf(source)}</a>: {amount(source, source.sent)}
                {isToday(source) ? ' so far today' : ' yesterday'}, usually {amount(source, source.usual)}
              </p>
              <p class="hint">
                {source.kind === 'site' ? 'Scale house' : 'Camera'} · {haulerName(source.haulerId)}
              </p>
            </div>
            {source.lastAt !== undefined && (
              <p class="hint age">
                since <Age at={source.lastAt} />
              </p>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}

const nameOf = ({ truckId, name }: QuietSource) => (truckId === undefined ? name : `${truckId}, ${name}`);

/** What is compared today ends within the hour. */
const isToday = ({ to }: QuietSource) => Date.now() - Date.parse(to) < 1.1 * HOUR_SECONDS * 1_000;

const amount = ({ kind }: QuietSource, value: number) =>
  kind === 'site'
    ? `${formatCount(value)} ${value === 1 ? 'ticket' : 'tickets'}`
    : `${formatCount(Number((value / HOUR_SECONDS).toFixed(1)))} h`;

/** Lists what was counted. */
const pageOf = ({ haulerId, siteId, connectionId, truckId, from, to }: QuietSource) =>
  siteId === undefined
    ? linkTo('coverage', { connectionId, truckId, from, to })
    : linkTo('tickets', { haulerId, siteId, from, to });

const LIVE_MS = 10_000;

/** Four questions at a glance: what needs me, is it running, what came in today, and who is quiet. */
export function HomePage({ query }: PageProps) {
  const { hasPlatform } = useSession();
  const { haulers, isLoaded } = useHaulers();
  return (
    <>
      {isLoaded && haulers.length === 0 && <FirstStep />}
      <AttentionList />
      {hasPlatform && haulers.length > 0 && <Today query={query} />}
    </>
  );
}

function Today({ query }: PageProps) {
  const { haulers } = useHaulers();
  const zone = zoneOf(query);
  const haulerId = query.get('haulerId') ?? undefined;
  const overview = useLoad('/overview/days', { haulerId, timeZone: zone }, LIVE_MS);
  const scope = { haulerId: haulerId ?? (haulers.length === 1 ? haulers[0]?.id : undefined), zone };
  return (
    <section aria-label="Today">
      <div class="day-head">
        <h2>
          Today <Reading of={overview} />
        </h2>
        {haulers.length > 1 && <HaulerFilter query={query} />}
        <ZoneChoice query={query} />
      </div>
      <Loadable of={overview}>
        {({ days, quiet }) => (
          <>
            <div class="figures">
              {FIGURES.map((figure) => (
                <Tile key={figure.title} figure={figure} days={days} scope={scope} />
              ))}
            </div>
            <Quiet sources={quiet} />
          </>
        )}
      </Loadable>
    </section>
  );
}

/** On an empty service. */
function FirstStep() {
  const { may, haulers } = useSession();
  const isAllowed = may('admin') && haulers === undefined;
  return isAllowed ? <NewHauler /> : <p class="notice">No hauler yet: an admin creates the first one here.</p>;
}
