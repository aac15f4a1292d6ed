import type { QuietSource } from '../../../contracts/admin/overview.dto.js';
import { linkTo } from '../../client/links.js';
import { useHaulerName } from '../../client/haulers.js';
import { Age } from '../../parts/reading.js';
import { Card } from '../../parts/states.js';
import { formatCount } from '../../parts/values.js';

const HOUR_SECONDS = 3_600;

/** The scale houses and cameras that send less than on their usual day. */
export function Quiet({ sources }: { sources: readonly QuietSource[] | undefined }) {
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
