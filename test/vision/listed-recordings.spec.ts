import { describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { sampleVideo } from '../support/sample-video.js';
import { json, refuses } from '../support/scripted-partner.js';
import { CONTINUOUS, inHours, sha256, type Element } from '../support/vision-partner.js';
import { Subscriptions } from '../support/subscriptions.js';
import { useVision } from '../support/vision-scene.js';

const vision = useVision();
const subscriptions = new Subscriptions(vision);

describe('a list that breaks the contract', () => {
  const three = () => [subscriptions.chunk(2), subscriptions.chunk(2.1), subscriptions.chunk(2.2)];

  test.each<[string, (chunks: Element[], page: number) => unknown]>([
    ['items under another name', (items) => ({ items })],
    ['totals that are too low', (chunks, page) => listOf(chunks, page, { totalItems: 1, totalPages: 1 })],
    ['totals that are too high', (chunks, page) => listOf(chunks, page, { totalItems: 250, totalPages: 3 })],
    [
      'an element without a start, and one without a link',
      ([first, ...others]) => ({
        recordings: [{ ...first, startTime: undefined }, first, ...others, { ...first, downloadUrl: undefined }],
      }),
    ],
  ])('with %s: every readable recording is stored', async (_, data) => {
    const chunks = three();
    vision.partner.on(CONTINUOUS, (response, request) => {
      const page = Number(request.query.get('page'));
      json({ success: true, data: data(chunks, page) })(response, request);
    });
    await subscriptions.reachesNow(await subscriptions.follow(await vision.connect()));
    await eventually(async () =>
      expect((await subscriptions.recordings()).map(({ status }) => status)).toEqual(['stored', 'stored', 'stored']),
    );
  });

  test.each([404, 400])('without totals, and with %i past the end, which is reported', async (status) => {
    const chunks = three();
    const past = refuses(status, 'NOT_FOUND', 'Invalid page.');
    const all = json({ success: true, data: { recordings: chunks } });
    vision.partner.on(CONTINUOUS, (response, request) =>
      (request.query.get('page') === '1' ? all : past)(response, request),
    );
    await subscriptions.reachesNow(await subscriptions.follow(await vision.connect()));
    expect(await subscriptions.recordings()).toHaveLength(3);
    const { body } = await vision.app.admin<{ data: object[] }>(
      'GET',
      `/vision-findings?connectionId=${vision.connectionId}`,
    );
    expect(body.data).toMatchObject([{ path: 'page', reason: expect.stringContaining(`status ${status}`) }]);
  });

  test('without totals, and with new ids in each list', async () => {
    const chunks = three();
    let listing = 0;
    vision.partner.on(CONTINUOUS, (response, request) => {
      listing++;
      const renamed = chunks.map((item, i) => ({ ...item, id: `listing-${listing}-${i}` }));
      json({ success: true, data: { recordings: request.query.get('page') === '1' ? renamed : [] } })(
        response,
        request,
      );
    });
    await subscriptions.reachesNow(await subscriptions.follow(await vision.connect()));
    expect(await subscriptions.recordings()).toHaveLength(3);
  });

  const listOf = (chunks: Element[], page: number, totals: object) => ({
    recordings: page === 1 ? chunks : [],
    pagination: { page, pageSize: 100, ...totals },
  });
});

describe('a recording that is listed again', () => {
  let following = '';
  const readTwice = async (chunks: Element[]) => {
    vision.listRecordings(() => chunks);
    following = await subscriptions.follow(await vision.connect());
    await subscriptions.reachesNow(following);
    return readOnceMore();
  };
  const readOnceMore = async () => {
    await subscriptions.readAgain(following);
    return subscriptions.recordings();
  };

  test('is another one for another camera, with its own file', async () => {
    const [front, rear] = [sampleVideo(200), sampleVideo(300)];
    const one = subscriptions.chunk(2, { id: 'shared', downloadUrl: vision.partner.link(front) });
    const other = { ...one, cameraId: 'rear', downloadUrl: vision.partner.link(rear) };
    await readTwice([one, other]);
    await eventually(async () =>
      expect((await subscriptions.recordings()).map(({ status }) => status)).toEqual(['stored', 'stored']),
    );
    const sums = (await subscriptions.recordings()).map(({ cameraId, sha256: sum }) => `${cameraId} ${sum}`).sort();
    expect(sums).toEqual([`front ${sha256(front)}`, `rear ${sha256(rear)}`]);
  });

  test('does not replace a waiting one with the same id and another camera', async () => {
    const busy = vision.partner.link(sampleVideo(), (_, res) => res.writeHead(503, { 'Retry-After': '600' }).end());
    const chunks = [subscriptions.chunk(2, { id: 'shared', downloadUrl: busy })];
    await readTwice(chunks);
    await eventually(async () => expect(await subscriptions.recordings()).toMatchObject([{ status: 'available' }]));
    const rear = sampleVideo(300);
    chunks.push({ ...chunks[0], cameraId: 'rear', downloadUrl: vision.partner.link(rear) });
    await readOnceMore();
    await eventually(async () => {
      const found = (await subscriptions.recordings()).sort((a, b) => (a.cameraId < b.cameraId ? -1 : 1));
      expect(found).toMatchObject([
        { cameraId: 'front', status: 'available' },
        { cameraId: 'rear', status: 'stored', sha256: sha256(rear) },
      ]);
    });
  });

  test('is the same one under another name of its camera', async () => {
    const one = subscriptions.chunk(2, { id: 'two names' });
    expect(await readTwice([one])).toHaveLength(1);
    vision.listRecordings(() => [{ ...one, cameraId: '1' }]);
    expect(await readOnceMore()).toHaveLength(1);
  });

  test('takes the new range if its end moves before it was fetched', async () => {
    const chunks = [
      subscriptions.chunk(2, {
        id: 'grows',
        downloadUrl: vision.partner.link(sampleVideo(), (_, res) => res.writeHead(503).end()),
      }),
    ];
    await readTwice(chunks);
    await eventually(async () => expect(await subscriptions.recordings()).toMatchObject([{ status: 'available' }]));
    const endTime = inHours(-1.8);
    chunks[0] = { ...chunks[0], endTime, durationSeconds: 720, downloadUrl: vision.partner.link(sampleVideo()) };
    await eventually(async () => {
      await vision.hurry();
      expect(await subscriptions.recordings()).toMatchObject([{ status: 'stored', endTime, durationSeconds: 720 }]);
    }, 10_000);
  });

  test('is fetched again if its end moves after it was fetched, and the coverage is complete', async () => {
    const chunks = [subscriptions.chunk(2, { id: 'grows' })];
    await readTwice(chunks);
    await eventually(async () => expect(await subscriptions.recordings()).toMatchObject([{ status: 'stored' }]));
    const [startTime, endTime] = [String(chunks[0]?.['startTime']), inHours(-1.8)];
    chunks[0] = { ...chunks[0], endTime, downloadUrl: vision.partner.link(sampleVideo()) };
    await eventually(async () => {
      await vision.hurry();
      expect((await subscriptions.recordings()).map(({ status }) => status)).toEqual(['stored', 'stored']);
    });
    const covered = await vision.app.admin<{ data: { state: string }[] }>(
      'GET',
      `/coverage?connectionId=${vision.connectionId}&truckId=TRUCK-7&cameraId=front&from=${startTime}&to=${endTime}`,
    );
    expect(new Set(covered.body.data.map(({ state }) => state))).toEqual(new Set(['stored']));
    // An older list changes nothing.
    chunks[0] = { ...chunks[0], endTime: inHours(-1.95) };
    expect(await readOnceMore()).toHaveLength(2);
  });

  test('is stored once for two subscriptions', async () => {
    const one = subscriptions.chunk(2);
    vision.listRecordings(() => [one]);
    const connectionId = await vision.connect();
    const ids = [
      await subscriptions.follow(connectionId),
      await subscriptions.follow(connectionId, { cameraId: 'front' }),
    ];
    for (const id of ids) await subscriptions.reachesNow(id);
    expect(await subscriptions.recordings()).toHaveLength(1);
  });
});
