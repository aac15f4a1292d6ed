import type { StoredRecording } from '../../contracts/admin/recording.dto.js';
import { linkTo, open } from '../client/address.js';
import { get } from '../client/api.js';

/** Around a click, where a picture may begin: chunks are minutes long, and lanes of a month show no single one. */
const NEAR_MS = 15 * 60_000;

interface Moment {
  readonly connectionId: string;
  readonly truckId: string;
  /** The lane that was clicked. */
  readonly camera: string;
  readonly cameras: readonly string[];
  readonly time: number;
  /** Milliseconds that a few pixels are. */
  readonly slack: number;
  readonly zone: string;
}

/**
 * Plays all cameras of the truck at a moment: where the clicked one has a recording, where another one has, or where the
 * clicked one has the nearest. Returns a sentence if nothing is near.
 */
export async function playAt(moment: Moment): Promise<string> {
  const { camera, cameras, time, slack, zone } = moment;
  const own = await recordingsAround(moment, NEAR_MS, camera);
  const found =
    at(own, time) ??
    at(await recordingsAround(moment, NEAR_MS), time) ??
    nearest(own, time) ??
    nearest(await recordingsAround(moment, Math.max(NEAR_MS, slack), camera), time);
  if (found === undefined) return `Nothing of ${camera} is stored near this time.`;
  const start = at([found], time) === undefined ? Date.parse(found.startTime) : time;
  const shown = [camera, ...cameras.filter((each) => each !== camera)].join(',');
  open(linkTo('recordings', { play: found.id, at: new Date(start).toISOString(), cameras: shown, zone }));
  return '';
}

async function recordingsAround({ connectionId, truckId, time }: Moment, distance: number, cameraId?: string) {
  const { data } = await get('/recordings', {
    ...{ connectionId, truckId, cameraId, status: 'stored', pageSize: 100 },
    from: new Date(time - distance).toISOString(),
    // Of all cameras only those that may contain the moment count, and a page has the newest ones.
    to: new Date(cameraId === undefined ? time + 1 : time + distance).toISOString(),
  });
  return data;
}

const distanceOf = ({ startTime, endTime }: StoredRecording, time: number): number =>
  Math.max(Date.parse(startTime) - time, time - Date.parse(endTime) + 1, 0);

const at = (recordings: readonly StoredRecording[], time: number): StoredRecording | undefined =>
  recordings.find((each) => distanceOf(each, time) === 0);

const nearest = (recordings: readonly StoredRecording[], time: number): StoredRecording | undefined =>
  recordings.toSorted((one, other) => distanceOf(one, time) - distanceOf(other, time))[0];
