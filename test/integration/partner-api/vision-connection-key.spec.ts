import { beforeEach, expect, test } from '@jest/globals';
import type { Action } from '../../../src/contracts/admin/actions.routes.js';
import type { StoredRecording } from '../../../src/contracts/admin/recordings.routes.js';
import { issueConnectionKey, type TestKey } from '../../support/api-keys.js';
import { eventually } from '../../support/eventually.js';
import { failRecording } from '../../support/rows.js';
import { sampleVideo } from '../../support/sample-video.js';
import { element, inHours } from '../../support/scripted-vision.js';
import { useVision } from '../../support/vision-scene.js';

const vision = useVision();

let own: TestKey;
let foreign: TestKey;
let connectionId: string;
beforeEach(async () => {
  foreign = await issueConnectionKey(vision.app, await vision.connect());
  connectionId = await vision.connect();
  own = await issueConnectionKey(vision.app, connectionId);
});

const call = <T = Record<string, never>>(method: string, path: string, { key }: TestKey = own) =>
  vision.app.call<T>(method, `/partner/v1${path}`, { headers: { 'PLATFORM-API-KEY': key } });
const list = async <T>(path: string, key?: TestKey) => (await call<{ data: T[] }>('GET', path, key)).body.data;
const follow = (truckId: string) =>
  vision.app.admin('POST', '/video-subscriptions', { connectionId, truckId, startTime: inHours(-4) });
/** All work is due at once until it succeeds. */
const until = (work: () => Promise<void>) =>
  eventually(async () => {
    await vision.hurry();
    await work();
  });

test('a recording that failed shows why, and its partner has it fetched again', async () => {
  const times = { startTime: inHours(-2), endTime: inHours(-1.9) };
  let isListed = true;
  const listed = element({ ...times, downloadUrl: vision.partner.link(sampleVideo()) });
  let emptyLists = 0;
  vision.listRecordings(() => {
    if (!isListed) emptyLists += 1;
    return isListed ? [listed] : [];
  });
  await follow('TRUCK-7');
  await until(async () => expect(await list('/recordings?status=stored')).toHaveLength(1));
  const [{ id } = { id: '' }] = await list<StoredRecording>('/recordings?truckId=TRUCK-7');
  expect((await call('POST', `/recordings/${id}/retry`)).status).toBe(409);
  // Listed again, also by a reading under way, it would be fetched again without the partner.
  isListed = false;
  await until(() => Promise.resolve(expect(emptyLists).toBeGreaterThan(0)));
  await failRecording(vision.app, id);
  expect(await list('/recordings?status=failed')).toMatchObject([
    { id, connectionId, reason: 'The file is not a valid MP4.', reasonCode: 'invalidFile' },
  ]);
  expect(await list('/recordings?truckId=TRUCK-8')).toEqual([]);

  expect(await list('/recordings', foreign)).toEqual([]);
  expect((await call('GET', `/recordings/${id}`, foreign)).status).toBe(404);
  expect((await call('POST', `/recordings/${id}/retry`, foreign)).status).toBe(404);
  expect((await call('GET', `/recordings/${id}`)).body).toMatchObject({ status: 'failed' });

  isListed = true;
  expect((await call('POST', `/recordings/${id}/retry`)).status).toBe(202);
  await until(async () => expect((await call('GET', `/recordings/${id}`)).body).toMatchObject({ status: 'stored' }));
  const { body } = await vision.app.admin<{ data: Action[] }>('GET', `/actions?resource=recording:${id}`);
  expect(body.data).toMatchObject([{ actor: `partner:${own.prefix}`, action: 'retryOwnRecording' }]);
});
