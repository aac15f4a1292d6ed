import type { StoredRecording } from '../../../contracts/admin/recording.dto.js';
import { open } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { get } from '../../client/api.js';
import { overlapsOf } from '../../parts/filters.js';

interface Moment {
  readonly connectionId: string;
  readonly truckId: string;
  /** The track that was clicked. */
  readonly camera: string;
  readonly cameras: readonly string[];
  readonly time: number;
  /** Milliseconds around the click within which the nearest recording is played: tracks of a month show no single one. */
  readonly slack: number;
  readonly zone: string;
}

/**
 * Plays all cameras of the truck at a moment: where the clicked one has a recording, where another one has, or where the
 * clicked one has the nearest. Returns a sentence if nothing is near.
 */
export async function playAt(moment: Moment): Promise<string> {
  const { camera, cameras, time, slack, zone } = moment;
  const found =
    (await recordingsIn(moment, time, time + 1, camera))[0] ??
    (await recordingsIn(moment, time, time + 1))[0] ??
    nearest(await recordingsIn(moment, time - slack, time + slack, camera), time);
  if (found === undefined) return `Nothing of ${camera} is stored near this time.`;
  const start = distanceOf(found, time) > 0 ? Date.parse(found.startTime) : time;
  const shown = [camera, ...cameras.filter((each) => each !== camera)].join(',');
  open(linkTo('recordings', { play: found.id, at: new Date(start).toISOString(), cameras: shown, zone }));
  return '';
}

async function recordingsIn({ connectionId, truckId }: Moment, from: number, to: number, cameraId?: string) {
  const [start, end] = [from, to].map((time) => new Date(time).toISOString());
  const filters = {
    connectionId,
    truckId,
    cameraId,
    status: 'stored',
    overlaps: overlapsOf(start, end),
    pageSize: 100,
  };
  return (await get('/recordings', filters)).data;
}

const distanceOf = ({ startTime, endTime }: StoredRecording, time: number): number =>
  Math.max(Date.parse(startTime) - time, time - Date.parse(endTime) + 1, 0);

const nearest = (recordings: readonly StoredRecording[], time: number): StoredRecording | undefined =>
  recordings.toSorted((one, other) => distanceOf(one, time) - distanceOf(other, time))[0];
