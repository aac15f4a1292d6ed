import { eventually, timeOf } from './calls.js';
import { DEMO, DEMO_ALIASES, DEMO_CAMERAS, type DemoCamera, demoHour, SECOND_TRUCK } from './demo-data.js';
import { filmedDay, hourOf } from './pushes.rules.js';
import { type DemoScene, uploadRecording } from './seed.js';

/** The cameras record from 6:00 to 17:00. */
const HOURS = [6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16] as const;
/** Of the rear camera of the first truck nothing was recorded in this hour. */
const GAP_HOUR = 11;
/** Of the second truck: the partner lists it with a link that has expired, and later without the rear camera. */
const EXPIRED_HOUR = HOURS[0];
/** Of the second truck: the partner lists it when it is asked again. */
const LATE_HOUR = 13;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

type Hour = (typeof HOURS)[number];

const customerId = DEMO.haulerId;
const SUBJECT = { subject: 'customers', subjectId: customerId } as const;

/** One hour of a camera on the partner side; false if it is there already. */
function upload({ admin }: DemoScene, truckId: string, cameraId: DemoCamera, day: Date, hour: Hour): Promise<boolean> {
  const [startTime, endTime] = [hourOf(day, hour), hourOf(day, hour + 1)].map(timeOf) as [string, string];
  const query = { customerId, truckId, cameraId, startTime, endTime };
  return uploadRecording(admin, query, demoHour(truckId, cameraId, hour));
}

/** The filmed day of a truck. Returns the start of the first hour that the partner side did not have. */
async function uploadDay(
  scene: DemoScene,
  truckId: string,
  without: readonly Hour[] = [],
): Promise<number | undefined> {
  const day = filmedDay(scene.now);
  const added = await Promise.all(
    HOURS.filter((hour) => !without.includes(hour)).map(async (hour) => {
      const isGap = truckId === DEMO.truckId && hour === GAP_HOUR;
      const cameras = DEMO_CAMERAS.filter((camera) => camera === 'front' || !isGap);
      const isNew = await Promise.all(cameras.map((camera) => upload(scene, truckId, camera, day, hour)));
      return isNew.includes(true) ? [hourOf(day, hour)] : [];
    }),
  );
  return added.flat()[0];
}

/** A day that is new at a later start is listed again at once. */
export async function filmFirstTruck(scene: DemoScene): Promise<void> {
  await readAgain(scene, DEMO.truckId, await uploadDay(scene, DEMO.truckId));
}

async function readAgain(scene: DemoScene, truckId: string, from: number | undefined): Promise<void> {
  const subscription = await subscriptionOf(scene, truckId);
  if (from === undefined || subscription === undefined) return;
  const body = { from: timeOf(from), to: timeOf(scene.now) };
  await scene.admin.call('readVideoSubscriptionAgain', { params: { id: subscription }, body });
}

async function subscriptionOf({ admin, connections }: DemoScene, truckId: string): Promise<string | undefined> {
  const query = { connectionId: connections.vision, truckId };
  return (await admin.call('listVideoSubscriptions', { query })).data[0]?.id;
}

/**
 * The second truck. At the first time its first hour is listed with links that have expired. Asked for new ones, the partner no
 * longer lists the rear camera: that hour is lost until the partner lists it again. All other hours are listed afterwards.
 */
export async function filmSecondTruck(scene: DemoScene): Promise<void> {
  const { admin } = scene;
  const truckId = SECOND_TRUCK;
  for (const cameraId of DEMO_CAMERAS) {
    await admin.call('setHostedCamera', { body: { customerId, truckId, cameraId, aliases: DEMO_ALIASES[cameraId] } });
  }
  const isFirst = (await subscriptionOf(scene, truckId)) === undefined;
  // A reading of the first truck would meet the scenarios too.
  if (isFirst) await eventually(scene.signal, () => isRead(scene));
  if (isFirst) await loseFirstHour(scene, filmedDay(scene.now));
  await readAgain(scene, truckId, await uploadDay(scene, truckId, isFirst ? [EXPIRED_HOUR, LATE_HOUR] : []));
}

async function isRead({ admin, connections, now }: DemoScene): Promise<boolean> {
  const query = { connectionId: connections.vision, truckId: DEMO.truckId };
  const { data } = await admin.call('listVideoSubscriptions', { query });
  return data.some(({ watermark }) => Date.parse(watermark) > now - 5 * MINUTE_MS);
}

async function loseFirstHour(scene: DemoScene, day: Date): Promise<void> {
  const { admin } = scene;
  const truck = { connectionId: scene.connections.vision, truckId: SECOND_TRUCK };
  // In this order: the partner lists what has one start by the order of the uploads, and leaves out every second element.
  for (const cameraId of DEMO_CAMERAS) await upload(scene, SECOND_TRUCK, cameraId, day, EXPIRED_HOUR);
  const start = async (name: string, body: object) => {
    await admin.call('startScenario', { params: { ...SUBJECT, name }, body });
  };
  await start('link-expired-at-birth', { times: 1, forSeconds: 20, parameters: { route: 'listContinuous' } });
  await start('late-chunks', { times: 30, forSeconds: 20 });
  try {
    const body = { ...truck, startTime: timeOf(hourOf(day, EXPIRED_HOUR)), intervalSeconds: 300 };
    await admin.call('createVideoSubscription', { body });
    const query = { ...truck, status: 'expired' };
    await eventually(scene.signal, async () => (await admin.call('listRecordings', { query })).data.length > 0);
  } finally {
    for (const name of ['link-expired-at-birth', 'late-chunks']) {
      await admin.call('endScenario', { params: { ...SUBJECT, name } });
    }
  }
}

/** The hour that was missing is there when somebody asks again. `admin` is a person. */
export async function askForLateHour(scene: DemoScene, admin: DemoScene['admin']): Promise<void> {
  const day = filmedDay(scene.now);
  for (const camera of DEMO_CAMERAS) await upload(scene, SECOND_TRUCK, camera, day, LATE_HOUR);
  const id = await subscriptionOf(scene, SECOND_TRUCK);
  if (id === undefined) return;
  const body = { from: timeOf(hourOf(day, LATE_HOUR)), to: timeOf(hourOf(day, LATE_HOUR + 1)) };
  await admin.call('readVideoSubscriptionAgain', { params: { id }, body });
}

/** The hour of the first truck that a case is about: its rear camera has a gap. */
export function disputedTime(now: number): { readonly from: string; readonly to: string } {
  const start = hourOf(filmedDay(now), GAP_HOUR);
  return { from: timeOf(start - HOUR_MS), to: timeOf(start + HOUR_MS) };
}
