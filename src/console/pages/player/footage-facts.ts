import type { CoverageInterval } from '../../../contracts/admin/coverage.dto.js';
import { useLoad } from '../../client/load.js';
import { cameraLabel } from '../coverage/coverage-sentence.rules.js';

const LIVE_MS = 30_000;

interface FootageFacts {
  /** The name by which the service knows a camera that has several. */
  readonly nameOf: (cameraId: string) => string;
  readonly labelOf: (camera: string) => string;
  /** Why a camera has nothing stored at a moment; undefined where it has, or where that is not known. */
  readonly causeAt: (camera: string, time: number) => string | undefined;
}

/** The names of a truck's cameras, and the reasons of their gaps. */
export function useFootageFacts(
  range: Readonly<Record<'connectionId' | 'truckId' | 'from' | 'to', string>>,
): FootageFacts {
  const cameras = useLoad('/coverage/summary', range).data?.data ?? [];
  const intervals = (useLoad('/coverage', range, LIVE_MS).data?.data ?? []) as readonly CoverageInterval[];
  const cameraOf = (name: string) => cameras.find(({ names }) => names.includes(name));
  return {
    nameOf: (name) => cameraOf(name)?.cameraId ?? name,
    labelOf: (name) => cameraLabel(name, cameraOf(name)?.names),
    causeAt: (camera, time) =>
      intervals.find(
        ({ cameraId, startTime, endTime, state }) =>
          cameraId === camera && state !== 'stored' && Date.parse(startTime) <= time && time < Date.parse(endTime),
      )?.reason,
  };
}
