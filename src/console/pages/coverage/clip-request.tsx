import type { RefObject } from 'preact';
import { open } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { send } from '../../client/api.js';
import { useNow } from '../../client/load.js';
import { ActionButton } from '../../parts/forms.js';
import { formatSeconds } from '../../parts/values.js';
import type { Selection } from './coverage.rules.js';

interface ClipRequestProps {
  readonly connectionId: string;
  readonly truckId: string;
  readonly selection: Selection;
  readonly zone: string;
  readonly onClose: () => void;
  readonly onZoom: (range: readonly [number, number]) => void;
  /** Receives the panel, to which the keyboard goes. */
  readonly panel: RefObject<HTMLDivElement | null>;
}

/** What to do with the selected time: zoom, or ask the partner for its clip. */
export function ClipRequest({ connectionId, truckId, selection, zone, onClose, onZoom, panel }: ClipRequestProps) {
  const { camera, start } = selection;
  const now = useNow(1_000);
  const isFuture = start >= now;
  // Nothing is recorded of what is still to come.
  const end = isFuture
    ? selection.end
    : Math.max(start + 1_000, Math.min(selection.end, Math.floor(now / 1_000) * 1_000));
  const [startTime, endTime] = [start, end].map((time) => new Date(time).toISOString()) as [string, string];
  const text = (time: number) => new Date(time).toLocaleString(undefined, { timeZone: zone });
  // Its page shows how the request fares, until its file can be played.
  const order = async () => {
    const body = { connectionId, truckId, cameraId: camera, startTime, endTime };
    open(linkTo('clips', { id: (await send('POST', '/video-requests', body)).id }));
  };
  return (
    <div
      class="notice"
      role="group"
      aria-label="Clip of the selected range"
      ref={panel}
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
    >
      <p>
        Camera <strong>{camera}</strong>, {text(start)} to {text(end)} ({zone}),{' '}
        {formatSeconds(Math.round((end - start) / 1_000))}
      </p>
      {isFuture && <p role="status">This time is still to come: no camera has recorded it yet.</p>}
      {!isFuture && end < selection.end && (
        <p class="hint">Until now: the rest of the selected time is still to come.</p>
      )}
      <p class="actions">
        <button type="button" onClick={() => onZoom([start, selection.end])}>
          Zoom to this time
        </button>
        {!isFuture && <ActionButton label="Request the clip" kind="primary" work={order} />}
        <button type="button" onClick={onClose}>
          Clear the selection
        </button>
      </p>
    </div>
  );
}
