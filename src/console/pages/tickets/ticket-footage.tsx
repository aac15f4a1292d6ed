import { useState } from 'preact/hooks';
import type { FootageFlow, TicketFootage } from '../../../contracts/admin/footage.dto.js';
import type { StoredRecording } from '../../../contracts/admin/recordings.routes.js';
import { linkTo } from '../../client/links.js';
import { send } from '../../client/api.js';
import { useLoad } from '../../client/load.js';
import { pick, zoneOf } from '../../parts/filters.js';
import { ActionButton } from '../../parts/forms.js';
import { Badge, Card, Loadable } from '../../parts/states.js';
import { CameraSentences } from '../coverage/truck-coverage.js';
import { canRequest, momentsOf, recordingAt } from '../coverage/coverage.rules.js';
import { Player } from '../player/player.js';
import { formatCount } from '../../parts/values.js';
import { wholeTime } from '../../parts/zone.rules.js';
import { Shares } from '../recordings/shares.js';

const LIVE_MS = 3_000;

/** The footage around the weighings of a ticket: what is stored is played, what is missing is requested, and a link shares it. */
export function TicketFootageView({ id, haulerId, query }: { id: string; haulerId: string; query: URLSearchParams }) {
  const footage = useLoad(`/tickets/${encodeURIComponent(id)}/footage`, {}, LIVE_MS);
  return (
    <Loadable of={footage}>{(data) => <Footage id={id} haulerId={haulerId} footage={data} query={query} />}</Loadable>
  );
}

interface FootageProps {
  readonly id: string;
  readonly haulerId: string;
  readonly footage: TicketFootage;
  readonly query: URLSearchParams;
}

function Footage({ id, haulerId, footage, query }: FootageProps) {
  const { reason, reasonCode, ranges, recordings, requests, truckId, connectionId } = footage;
  const stored = recordings.filter(({ status }) => status === 'stored');
  const moments = momentsOf(ranges, stored);
  const [chosen, setChosen] = useState<string>();
  const moment = chosen ?? query.get('at') ?? moments[0]?.time;
  const playing = moment === undefined ? undefined : recordingAt(stored, moment);
  const zone = zoneOf(query);
  return (
    <>
      <Card title={truckId === null ? 'Footage' : `Footage of ${truckId}`} label="Footage">
        {reason !== undefined && (
          <p class="notice" role="status">
            {reason}{' '}
            {(reasonCode === 'notSetUp' || reasonCode === 'noCamera') && (
              <a href={linkTo('haulers', { id: haulerId })}>Set it up</a>
            )}
          </p>
        )}
        {truckId !== null &&
          connectionId !== null &&
          ranges.map(({ flows, startTime: from, endTime: to }) => (
            <div key={from} class="footage-range">
              <h3>
                {flows.map((flow) => weighingText(flow, zone)).join(', ')}{' '}
                <a class="hint" href={linkTo('coverage', { ...pick(query, 'zone'), truckId, connectionId, from, to })}>
                  coverage of this time
                </a>
              </h3>
              <CameraSentences range={{ connectionId, truckId, from, to }} zone={zone} />
            </div>
          ))}
        <p class="actions">
          {/* With only one the player is there already. */}
          {moments.length > 1 &&
            moments.map(({ flow, ticketNumber, time }) => (
              <button key={flow} type="button" onClick={() => setChosen(time)}>
                Go to the {flow} weighing {ticketNumber}
              </button>
            ))}
          {canRequest(footage) && (
            <ActionButton
              label="Request the missing clips"
              kind="primary"
              work={() => send('POST', `/tickets/${id}/footage`)}
            />
          )}
        </p>
        {requests.length > 0 && (
          <p>
            {formatCount(requests.length)} clip {requests.length === 1 ? 'request' : 'requests'}:{' '}
            {requests.map(({ id: clip, cameraId, status, reason }) => (
              <a key={clip} href={linkTo('clips', { id: clip })} title={reason}>
                {cameraId} <Badge value={status} />{' '}
              </a>
            ))}
          </p>
        )}
      </Card>
      {playing !== undefined && (
        <Player
          key={chosen ?? ''}
          recording={playing}
          query={playerQuery(query, moment, stored, chosen !== undefined)}
        />
      )}
      {stored.length > 0 && <Shares recordings={stored} ticketId={id} first={playing?.id} />}
    </>
  );
}

const weighingText = ({ flow, ticketNumber, time }: FootageFlow, zone: string): string =>
  `${flow === 'inbound' ? 'Inbound' : 'Outbound'} ${ticketNumber} at ${wholeTime(time, zone)}`;

/** All cameras, at the weighing. The address of the page may name another moment and other cameras. */
function playerQuery(
  query: URLSearchParams,
  moment: string | undefined,
  stored: readonly StoredRecording[],
  isChosen: boolean,
): URLSearchParams {
  const result = new URLSearchParams(query);
  if (moment !== undefined && (isChosen || !query.has('at'))) result.set('at', moment);
  if (!query.has('cameras')) result.set('cameras', [...new Set(stored.map(({ cameraId }) => cameraId))].join(','));
  return result;
}
