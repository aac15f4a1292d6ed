import { useState } from 'preact/hooks';
import type { OrderedVideoRequest } from '../../contracts/admin/video-request.dto.js';
import { linkTo } from '../client/address.js';
import { send } from '../client/api.js';
import { ActionButton } from '../parts/forms.js';
import { Badge } from '../parts/states.js';
import { formatSeconds } from '../parts/values.js';
import type { Selection } from './coverage.rules.js';

interface ClipRequestProps {
  readonly connectionId: string;
  readonly truckId: string;
  readonly selection: Selection;
  readonly zone: string;
  readonly onClose: () => void;
}

/** Asks the partner for the clip of the selected range. */
export function ClipRequest({ connectionId, truckId, selection, zone, onClose }: ClipRequestProps) {
  const [ordered, setOrdered] = useState<OrderedVideoRequest>();
  const { camera, start, end } = selection;
  const text = (time: number) => new Date(time).toLocaleString(undefined, { timeZone: zone });
  const order = async () =>
    setOrdered(
      await send('POST', '/video-requests', {
        connectionId,
        truckId,
        cameraId: camera,
        startTime: new Date(start).toISOString(),
        endTime: new Date(end).toISOString(),
      }),
    );
  return (
    <div class="notice" role="group" aria-label="Clip of the selected range">
      <p>
        Camera <strong>{camera}</strong>, {text(start)} to {text(end)} ({zone}),{' '}
        {formatSeconds(Math.round((end - start) / 1_000))}
      </p>
      {ordered === undefined ? (
        <p class="actions">
          <ActionButton label="Request the clip" kind="primary" work={order} />
          <button type="button" onClick={onClose}>
            Clear the selection
          </button>
        </p>
      ) : (
        <p role="status">
          Requested: <Badge value={ordered.status} /> It appears as a bracket above its lane, and under{' '}
          <a href={linkTo('recordings', { connectionId, truckId, source: 'on-demand' })}>recordings</a> when it is
          stored.
        </p>
      )}
    </div>
  );
}
