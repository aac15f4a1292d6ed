import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { refuses } from '../../support/scripted-partner.js';
import { CONTINUOUS, element, type Element, inHours } from '../../support/scripted-vision.js';
import { useVision } from '../../support/vision-scene.js';
import { Subscriptions, within } from '../../integration/vision/subscriptions.js';

const vision = useVision();
const subscriptions = new Subscriptions(vision);

const HOUR = 3_600_000;
const RULES = { [6 * HOUR]: HOUR, [72 * HOUR]: 24 * HOUR, [336 * HOUR]: 168 * HOUR };

/** A subscription that was read until now; every re-reading was just planned. */
async function followed(listed: readonly Element[]): Promise<string> {
  vision.partner.on(CONTINUOUS, within(listed));
  const id = await subscriptions.follow(await vision.connect(), { startTime: inHours(-500), cameraId: 'front' });
  await subscriptions.reachesNow(id);
  const now = Date.now();
  const planned = Object.fromEntries(Object.keys(RULES).map((back) => [back, now]));
  await eventually(async () => {
    const set = 'UPDATE video_subscriptions SET rereadings = $2 WHERE id = $1 AND started_at IS NULL RETURNING id';
    expect((await vision.app.dataSource.query<[unknown[]]>(set, [id, planned]))[0]).toHaveLength(1);
  });
  await subscriptions.isReadAgain();
  return id;
}

/** So much time has passed since every re-reading was planned; the more frequent ones were planned meanwhile. */
const passes = (ms: number) =>
  eventually(async () => {
    const planned = Object.entries(RULES).map(([back, every]) => [back, Date.now() - (((ms - 1) % every) + 1)]);
    const set = 'UPDATE video_subscriptions SET rereadings = $1 WHERE started_at IS NULL RETURNING id';
    expect((await vision.app.dataSource.query<[unknown[]]>(set, [Object.fromEntries(planned)]))[0]).toHaveLength(1);
  });

const readings = async (): Promise<void> => {
  for (let n = 0; n < 2; n++) {
    const before = vision.partner.askedOf(CONTINUOUS).length;
    await eventually(async () => {
      await vision.hurry();
      expect(vision.partner.askedOf(CONTINUOUS).length).toBeGreaterThan(before);
    });
  }
  await subscriptions.isReadAgain();
};

const late = (hours: number): Element =>
  element({
    id: 'late',
    startTime: inHours(-hours),
    endTime: inHours(-hours + 1 / 12),
    downloadUrl: 'https://x.invalid/a',
  });

describe('footage that reaches the list late', () => {
  test.each<[string, string, number, number]>([
    ['2 hours', 'trucks that upload in the depot', 2, 1],
    ['10 hours', 'trucks that park out of reach overnight', 10, 24],
    ['3 days', 'a long weekend', 71.9, 24],
    ['10 days', 'a truck in the workshop', 240, 168],
    // A re-reading looks back from the one before it.
    ['13 days, and 6 more until the re-reading', 'the same, with bad luck', 13 * 24 + 6 * 24, 168],
  ])('%s late (%s) is found by the next re-reading of its age, and not before', async (_, _source, hours, every) => {
    const listed: Element[] = [];
    await followed(listed);
    listed.push(late(hours));
    await passes((every - 0.5) * HOUR);
    await readings();
    expect(await subscriptions.recordings()).toEqual([]);
    await passes(every * HOUR);
    await readings();
    expect(await subscriptions.recordings()).toMatchObject([{ partnerRecordingId: 'late' }]);
  });

  test('changes when the coverage says that the partner was last asked', async () => {
    await followed([]);
    const [from, to] = [inHours(-11), inHours(-10)];
    const asked = async () => {
      const [interval, ...others] = await subscriptions.coverage(from, to);
      expect(others).toEqual([]);
      const lastAskedAt = interval?.lastAskedAt ?? '';
      expect(interval?.reason).toBe(`The partner lists no recording; it was last asked at ${lastAskedAt}.`);
      return Date.parse(lastAskedAt);
    };
    const first = await asked();
    expect(Date.now() - first).toBeLessThan(60_000);
    await passes(HOUR);
    await readings();
    // The re-reading of six hours does not reach so far.
    expect(await asked()).toBe(first);
    await passes(24 * HOUR);
    await readings();
    expect(await asked()).toBeGreaterThan(first);
  });

  test('is found although the re-reading fails at first; the watermark is not held back', async () => {
    const listed: Element[] = [];
    const id = await followed(listed);
    listed.push(late(30));
    await passes(24 * HOUR);
    const list = within(listed);
    const isOld = (start: string | null) => Date.parse(start ?? '') < Date.now() - HOUR;
    vision.partner.on(CONTINUOUS, (response, request) =>
      (isOld(request.query.get('startTime')) ? refuses(500, 'INTERNAL_ERROR', 'oops') : list)(response, request),
    );
    await eventually(async () => {
      await vision.hurry();
      const failed = 'SELECT 1 FROM video_windows WHERE reread_day IS NOT NULL AND attempts > 0';
      expect((await vision.query(failed)).length).toBeGreaterThan(2);
    }, 10_000);
    await subscriptions.reachesNow(id);
    expect((await subscriptions.coverage(inHours(-30), inHours(-29)))[0]?.reason).toMatch(
      /^The partner lists no recording; it was last asked at \S+Z\. Asking again failed: .*oops/,
    );
    vision.partner.on(CONTINUOUS, list);
    await subscriptions.isReadAgain();
    expect(await subscriptions.recordings()).toHaveLength(1);
  });
});

test('a list whose elements move between pages while it is read loses none, however old they are', async () => {
  const all = Array.from({ length: 150 }, (_, n) => ({ ...late(1_000 - n / 20), id: `chunk ${n}` }));
  let hasMoved = false;
  vision.partner.on(CONTINUOUS, (response, request) => {
    const page = Number(request.query.get('page'));
    const isFirst = page > 1 && !hasMoved;
    if (isFirst) hasMoved = true;
    within(isFirst ? all.slice(1) : all)(response, request);
  });
  await subscriptions.follow(await vision.connect(), { startTime: inHours(-1_001), cameraId: 'front' });
  const count = 'SELECT count(*)::int AS count FROM recordings';
  await eventually(async () => expect(await vision.query(count)).toEqual([{ count: 150 }]), 10_000);
});

describe('read-again', () => {
  const again = (id: string, body: object) => vision.app.admin('POST', `/video-subscriptions/${id}/read-again`, body);

  test('lists any time again at once, each day once, however often it is asked', async () => {
    const listed: Element[] = [];
    const id = await followed(listed);
    const before = vision.partner.askedOf(CONTINUOUS).length;
    listed.push(late(1_000));
    let release = () => undefined as unknown;
    const held = new Promise<unknown>((resolve) => (release = () => resolve(undefined)));
    const list = within(listed);
    vision.partner.on(CONTINUOUS, (response, request) => void held.then(() => list(response, request)));
    const [from, to] = [inHours(-1_050), inHours(-950)];
    const answers = await Promise.all([1, 2, 3].map(() => again(id, { from, to })));
    expect(answers).toMatchObject([1, 2, 3].map(() => ({ status: 202, body: { id } })));
    release();
    await subscriptions.isReadAgain();
    expect(await subscriptions.recordings()).toMatchObject([{ partnerRecordingId: 'late' }]);
    const days = vision.partner.askedOf(CONTINUOUS).slice(before);
    const old = days.filter(({ query }) => Date.parse(query.get('endTime') ?? '') < Date.parse(inHours(-900)));
    const starts = old.map(({ query }) => query.get('startTime'));
    expect(new Set(starts).size).toBe(starts.length);
    const actions = await vision.app.admin<{ data: object[] }>('GET', '/actions?pageSize=1');
    expect(actions.body.data).toMatchObject([
      { resource: `video-subscription:${id}`, changes: { from: expect.stringContaining(from.slice(0, -1)) } },
    ]);
  });

  test('revives a window that was given up', async () => {
    const id = await followed([]);
    await vision.query(
      `INSERT INTO video_windows (hauler_id, id, subscription_id, connection_id, start_time, end_time, reason, attempts)
       SELECT hauler_id, gen_random_uuid(), id, connection_id, now() - interval '30 hours', now() - interval '28 hours',
         'oops', 100 FROM video_subscriptions WHERE id = $1`,
      [id],
    );
    await again(id, { from: inHours(-29), to: inHours(-28.5) });
    await eventually(async () => expect(await vision.query('SELECT 1 FROM video_windows')).toEqual([]));
  });

  test.each<[string, object, string]>([
    ['an end before the start', { from: inHours(-1), to: inHours(-2) }, 'to'],
    ['more than 366 days', { from: inHours(-9_000), to: inHours(-1) }, 'to'],
    ['a time that has not begun', { from: inHours(1), to: inHours(2) }, 'from'],
    ['no start', { to: inHours(2) }, 'from'],
  ])('is refused with %s: 400', async (_, body, path) => {
    const id = await subscriptions.follow(await vision.connect(), { startTime: inHours(100) });
    const answer = await again(id, body);
    expect(answer).toMatchObject({ status: 400, body: { error: { details: { violations: [{ path }] } } } });
  });

  test('of an unknown subscription is 404', async () => {
    const range = { from: inHours(-2), to: inHours(-1) };
    expect((await again('0197a1c4-7c1e-7b3a-9f7e-2c5d8e4f6a10', range)).status).toBe(404);
  });
});
