import { useEffect, useRef, useState } from 'preact/hooks';
import type { List } from '../../contracts/admin/list.dto.js';
import type { Coverage, CoverageInterval, StoredRecording } from '../../contracts/admin/recording.dto.js';
import type { VideoRequest } from '../../contracts/admin/video-request.dto.js';
import { change } from '../client/address.js';
import { get } from '../client/api.js';
import { useLoad } from '../client/load.js';
import { ActionButton } from '../parts/forms.js';
import { ErrorBox, Loading } from '../parts/states.js';
import { ClipRequest } from './clip-request.js';
import { Lanes } from './lanes.js';
import { lanesOf, resolutionOf, type Selection, zoomed } from './lanes.rules.js';
import { missingFootage } from './missing-footage.rules.js';
import { ZoneChoice } from './zone-choice.js';
import { dayOf, rangeText } from './zone.rules.js';

const LIVE_MS = 10_000;

interface TruckCoverageProps {
  readonly truckId: string;
  readonly connectionId: string;
  readonly query: URLSearchParams;
  readonly zone: string;
}

const iso = (time: number): string => new Date(time).toISOString();

/** The cameras of a truck over a range of time, which the user zooms. */
export function TruckCoverage({ truckId, connectionId, query, zone }: TruckCoverageProps) {
  const [from, to] = rangeOf(query, zone);
  const [width, box] = useWidth();
  const [selection, setSelection] = useState<Selection>();
  // Before the width is known, a call would be made that nobody needs.
  const resolution = resolutionOf(from, to, width ?? 1);
  const truck = { connectionId, truckId };
  const range = { ...truck, from: iso(from), to: iso(to) };
  const coverage = useLoad<Coverage>(
    width === undefined ? undefined : '/coverage',
    { ...range, resolution },
    { everyMs: LIVE_MS },
  );
  const requests = useLoad<List<VideoRequest>>('/video-requests', { ...truck, pageSize: 100 }, { everyMs: LIVE_MS });
  const expiring = useLoad<List<StoredRecording>>('/recordings', { ...range, status: 'available', pageSize: 100 });
  const show = ([start, end]: readonly [number, number]) =>
    change({ from: iso(start), to: iso(end) }, { replace: true });
  return (
    <section class="card" aria-label="Truck" ref={box}>
      <div class="head">
        <h2>
          {truckId} <span class="range">{rangeText(from, to, zone)}</span>
        </h2>
        <ZoneChoice query={query} />
      </div>
      <RangeButtons from={from} to={to} zone={zone} onRange={show} />
      {coverage.error !== undefined && <ErrorBox error={coverage.error} onRetry={coverage.reload} />}
      {coverage.data === undefined && coverage.error === undefined && <Loading />}
      {coverage.data !== undefined && width !== undefined && (
        <Lanes
          lanes={lanesOf(coverage.data.data)}
          from={from}
          to={to}
          zone={zone}
          width={width}
          requests={requests.data?.data ?? []}
          expiring={expiring.data?.data ?? []}
          selection={selection}
          onSelect={setSelection}
          onRange={show}
        />
      )}
      {selection !== undefined && (
        <ClipRequest
          key={`${selection.start}`}
          connectionId={connectionId}
          truckId={truckId}
          selection={selection}
          zone={zone}
          onClose={() => setSelection(undefined)}
        />
      )}
      <p class="actions">
        <ActionButton label="Missing footage (CSV)" isRead work={() => download(truckId, range)} />
      </p>
    </section>
  );
}

function rangeOf(query: URLSearchParams, zone: string): readonly [number, number] {
  const [from, to] = ['from', 'to'].map((name) => Date.parse(query.get(name) ?? ''));
  return from !== undefined && to !== undefined && from < to ? [from, to] : dayOf(Date.now(), zone);
}

async function download(truckId: string, range: Readonly<Record<string, string>>): Promise<void> {
  const { data } = await get<Coverage>('/coverage', range);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(
    new Blob([missingFootage(truckId, data as CoverageInterval[])], { type: 'text/csv' }),
  );
  link.download = `missing-footage-${truckId}-${range['from']?.slice(0, 10)}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
}

/** The width inside the padding of an element in pixels, kept current. */
function useWidth() {
  const box = useRef<HTMLElement>(null);
  const [width, setWidth] = useState<number>();
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(([entry]) =>
      setWidth(Math.max(240, Math.floor(entry?.contentRect.width ?? 0))),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [width, box] as const;
}

interface RangeProps {
  readonly from: number;
  readonly to: number;
  readonly zone: string;
  readonly onRange: (range: readonly [number, number]) => void;
}

function RangeButtons({ from, to, zone, onRange }: RangeProps) {
  const shift = (direction: number) => onRange([from + direction * (to - from), to + direction * (to - from)]);
  const middle = (from + to) / 2;
  const end = dayOf(Date.now(), zone)[1];
  return (
    <div class="actions">
      <button type="button" onClick={() => shift(-1)}>
        Earlier
      </button>
      <button type="button" onClick={() => shift(1)}>
        Later
      </button>
      <button type="button" onClick={() => onRange(zoomed(from, to, 0.5, middle))}>
        Zoom in
      </button>
      <button type="button" onClick={() => onRange(zoomed(from, to, 2, middle))}>
        Zoom out
      </button>
      <button type="button" onClick={() => onRange([Date.now() - 3_600_000, Date.now() + 60_000])}>
        Last hour
      </button>
      <button type="button" onClick={() => onRange(dayOf(Date.now(), zone))}>
        Today
      </button>
      <button type="button" onClick={() => onRange([end - 31 * 86_400_000, end])}>
        Month
      </button>
    </div>
  );
}
