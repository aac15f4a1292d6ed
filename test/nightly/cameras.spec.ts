import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CoverageRepository } from '../../src/vision/coverage/coverage.repository.js';
import { storeCameraNames } from '../../src/vision/recordings/camera-names.repository.js';
import { camerasOf, isNameOf, type NamePair } from '../../src/vision/recordings/camera-names.rules.js';
import { RecordingsRepository } from '../../src/vision/recordings/recordings.repository.js';
import { startTestApp, type TestApp } from '../support/app.js';
import fc from '../support/fast-check.js';
import { videoConnection } from '../support/held-footage.js';
import { addMinutes, knowCameras, readCameras, removeRecordings } from '../support/rows.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ ticks: false });
});
afterAll(() => app.close());

const TRUCK = 'TRUCK-7';
const NAMES = ['front', 'Front', ' front', '1', 'rear', '2', 'rear cam', 'left_side', '3'];
const DAY_MS = 86_400_000;
const START = Date.parse('2026-01-01T00:00:00Z');
const onDay = (day: number): string => new Date(START + day * DAY_MS).toISOString();

const name = fc.constantFrom(...NAMES);
const day = fc.integer({ min: 0, max: 200 });
/** What happens to the recordings of a truck: listed, listed as a clip, deleted before a day, or answered under other names. */
const change = fc.oneof(
  fc.record({ kind: fc.constant('listed' as const), name, day }),
  fc.record({ kind: fc.constant('clip' as const), name, day }),
  fc.record({ kind: fc.constant('removed' as const), day }),
  fc.record({ kind: fc.constant('answered' as const), name, returned: fc.array(name, { minLength: 1, maxLength: 2 }) }),
);
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

const listed = (cameraId: string, at: number) => ({
  ...{ id: randomUUID(), customerId: 'c', truckId: TRUCK, cameraId, durationSeconds: 60 },
  ...{ downloadUrl: 'https://x.example/a.mp4', startTime: onDay(at).replace('Z', '000Z') },
  endTime: new Date(Date.parse(onDay(at)) + 60_000).toISOString().replace('Z', '000Z'),
});

type Scene = Awaited<ReturnType<typeof videoConnection>>;

async function apply({ haulerId, connectionId }: Scene, each: Change): Promise<void> {
  const repository = app.app.get(RecordingsRepository, { strict: false });
  const camera = { haulerId, connectionId, truckId: TRUCK, cameraId: 'name' in each ? each.name : '' };
  if (each.kind === 'removed') return removeRecordings(app, connectionId, onDay(each.day));
  await app.database.transaction(async (transaction) => {
    if (each.kind === 'answered') {
      await storeCameraNames(
        transaction,
        camera,
        each.returned.map((returned) => listed(returned, 0)),
      );
    } else if (each.kind === 'clip') {
      const part = { ...camera, id: randomUUID(), partnerRequestId: null };
      await repository.addClips(transaction, part, [listed(each.name, each.day)]);
    } else {
      await repository.addChunks(transaction, { haulerId, id: connectionId } as never, [listed(each.name, each.day)]);
    }
  });
}

/** Without the table: from the recordings and the pairs of names alone. */
function expectedCameras(pairs: readonly NamePair[], recorded: readonly (readonly [string, Date])[], range: Range) {
  const [from, to] = [Date.parse(range.from), Date.parse(range.to)];
  const within = recorded.filter(([, at]) => at.getTime() > from - 31 * DAY_MS && at.getTime() < to);
  const present = new Set(within.filter(([, at]) => at.getTime() + 60_000 > from).map(([own]) => own));
  const names = [...new Set(within.map(([own]) => own))].sort();
  return camerasOf(names, pairs).map((camera) => ({
    ...{ name: camera.name, names: [...camera.names].sort() },
    isAbsent: ![...camera.names].some((own) => present.has(own)),
  }));
}

interface Range {
  readonly from: string;
  readonly to: string;
}

const RANGES = [0, 40, 80, 120, 160].map((at): Range => ({ from: onDay(at), to: onDay(at + 20) }));

async function expectAnswers(scene: Scene): Promise<void> {
  const { recorded, pairs, same, bounds } = await readCameras(app, scene.connectionId, NAMES);
  for (const [one, other, isSame] of same)
    expect([one, other, isSame]).toEqual([one, other, isNameOf(one, other, pairs)]);
  expect(bounds.filter(({ isKnown }) => !isKnown)).toEqual([]);
  const coverage = app.app.get(CoverageRepository, { strict: false });
  for (const range of RANGES) {
    const truck = { connectionId: scene.connectionId, truckId: TRUCK };
    const [cameras = []] = await coverage.cameras([truck], range);
    const found = cameras.map((camera) => ({ ...camera, names: [...camera.names].sort() }));
    const expected = expectedCameras(pairs, recorded, range);
    const orNone = expected.length > 0 ? expected : [{ names: [], isAbsent: true }];
    expect(found).toEqual(orNone.map((camera) => ({ ...truck, ...camera })));
    const trucks = await coverage.trucks({ haulerId: scene.haulerId, ...range });
    const starts = recorded.map(([, at]) => at.getTime());
    const isInFleet = starts.some((at) => at > Date.parse(range.from) - DAY_MS && at < Date.parse(range.to));
    expect(trucks.map(({ truckId }) => truckId)).toEqual(isInFleet ? [TRUCK] : []);
  }
}

test('the table of cameras gives the answers of the recordings and pairs of names, in any order of their coming and going', () =>
  fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), async (changes) => {
      const scene = await videoConnection(app);
      for (const each of changes) await apply(scene, each);
      await expectAnswers(scene);
      // As the migration fills it.
      await knowCameras(app.dataSource);
      await expectAnswers(scene);
    }),
    { numRuns: 60 },
  ));

const read = (connectionId: string, query: Record<string, string>) =>
  app.admin<{ data: { startTime: string; endTime: string }[] }>(
    'GET',
    `/coverage?${new URLSearchParams({ connectionId, truckId: 'TRUCK-7', ...query }).toString()}`,
  );

test('a month of many chunks has intervals without gaps, up to 50,000 recordings, and days beyond', async () => {
  const { connectionId } = await videoConnection(app);
  const month = { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' };
  await addMinutes(app, connectionId, month.from, 31 * 1_440);
  const intervals = (await read(connectionId, month)).body.data;
  expect(intervals).toHaveLength(2 * 31 * 1_440);
  expect(intervals.filter(({ startTime }, i) => startTime !== (intervals[i - 1]?.endTime ?? month.from))).toEqual([]);
  expect(intervals.slice(0, 2)).toMatchObject([
    { endTime: '2026-01-01T00:00:59.500Z', state: 'stored' },
    { endTime: '2026-01-01T00:01:00Z', state: 'missing' },
  ]);
  await addMinutes(app, connectionId, '2026-01-01T00:00:30Z', 10_000);
  const tooMany = await read(connectionId, month);
  expect(tooMany).toMatchObject({ status: 400, body: { error: { details: { violations: [{ path: 'to' }] } } } });
  expect(tooMany.text).toContain('or pass resolution');
  expect((await read(connectionId, { ...month, resolution: '86400' })).body.data).toHaveLength(31);
});
