import { beforeAll, describe, expect, test } from '@jest/globals';
import { sampleVideo } from '../../support/sample-video.js';
import { CONTINUOUS, element, inHours, lists, POST, sha256 } from '../../support/scripted-vision.js';
import { VisionScene } from '../support/vision.js';

describe('a requested clip', () => {
  const file = sampleVideo();
  let vision: VisionScene;
  let requestId: string;
  beforeAll(async () => {
    vision = await VisionScene.create();
    vision.prepares(() => [element({ requestId: 'r-1', downloadUrl: vision.partner.link(file) })], {
      requestId: 'r-1',
    });
    requestId = await vision.order();
  });

  test('is sent to the partner with all five fields and stored byte for byte (section 4.4 202; section 2.5a customerId, truckId, cameraId, startTime, endTime)', async () => {
    const { recordingIds } = await vision.becomes(requestId, { status: 'stored', partnerRequestId: 'r-1' });
    expect(recordingIds).toHaveLength(1);
    expect(await vision.recordings()).toMatchObject([
      { status: 'stored', sha256: sha256(file), sizeBytes: file.length },
    ]);
    const [sent] = vision.partner.askedOf(POST);
    expect(sent?.headers['api-key']).toBe('the-key-that-the-partner-issued');
    expect(JSON.parse(sent?.body ?? '')).toEqual({
      customerId: 'customer-1',
      truckId: 'TRUCK-7',
      cameraId: 'front',
      startTime: '2026-01-31T08:30:00Z',
      endTime: '2026-01-31T08:35:00Z',
    });
  });
});

describe('the continuous recordings of a truck', () => {
  test('are listed by the window and downloaded before their links expire (section 4.6 200; decision 48)', async () => {
    const vision = await VisionScene.create();
    const file = sampleVideo();
    const chunk = element({ startTime: inHours(-1), endTime: inHours(-0.9), downloadUrl: vision.partner.link(file) });
    vision.partner.on(
      CONTINUOUS,
      lists('recordings', () => [chunk]),
    );
    await vision.follow({ startTime: inHours(-2) });
    const [stored] = await vision.recordingsBecome([{ status: 'stored', sha256: sha256(file) }]);
    expect(stored).toMatchObject({ truckId: 'TRUCK-7', cameraId: 'front' });
    const [asked] = vision.partner.askedOf(CONTINUOUS);
    expect(Object.fromEntries(asked?.query ?? [])).toMatchObject({ customerId: 'customer-1', truckId: 'TRUCK-7' });
  });
});
