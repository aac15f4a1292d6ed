import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { json, raw, type ScriptedReply } from '../../support/scripted-partner.js';
import { CONTINUOUS, element, type Element, inHours, VIDEOS } from '../../support/scripted-vision.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { admin, administer, listed, read } from '../support/target.js';
import { VisionScene } from '../support/vision.js';

const MIB = 1_048_576;
const FIRST = Date.parse(inHours(-1));

/** Chunks of a second, in one page that ignores `page`. A signature of so many characters makes each link long. */
const chunks = (count: number, signature: number): Element[] =>
  Array.from({ length: count }, (_, n) =>
    element({
      id: `chunk-${n}`,
      startTime: new Date(FIRST + n * 1_000).toISOString(),
      endTime: new Date(FIRST + (n + 1) * 1_000).toISOString(),
      durationSeconds: 1,
      // Nobody listens there.
      downloadUrl: `http://127.0.0.1:1/${n}.mp4?sig=${'x'.repeat(signature)}`,
    }),
  );

interface Row {
  readonly name: string;
  /** What happened to whom. */
  readonly source: string;
  readonly reply: ScriptedReply;
  readonly recordings: number;
  readonly finding?: string;
}

const day = chunks(300, 8_000);
const withOdd = [...day.slice(0, 150), { odd: 'x'.repeat(1_100_000) }, ...day.slice(150)];
const large = chunks(700, 8_000);
const recordings = (all: readonly unknown[]): ScriptedReply => json({ success: true, data: { recordings: all } });

const ROWS: Row[] = [
  {
    name: 'links of 8 KB without pages, 2.5 MB',
    source: 'a fleet whose video service signs long links and has no pages saw no footage at all',
    reply: recordings(day),
    recordings: 300,
  },
  {
    name: 'the array itself as data, beside its pagination',
    source: 'a video service that puts the list into data',
    reply: json({ success: true, data: day, pagination: { page: 1, pageSize: 5_000, totalItems: 300 } }),
    recordings: 300,
  },
  {
    name: 'an element of more than 1 MiB among the others',
    source: 'a recorder that puts its telemetry into one element',
    reply: recordings(withOdd),
    recordings: 300,
    finding: 'data.recordings[150] must not be larger than 1 MiB',
  },
  {
    name: 'status 204 where nothing was recorded',
    source: 'a gateway that answers an empty list without a body',
    reply: raw('', { status: 204 }),
    recordings: 0,
  },
];

describe('a long list of recordings', () => {
  let service: OwnService;
  beforeAll(async () => {
    service = await startOwnService({ env: { PARTNER_BODY_LIMIT: String(4 * MIB) } });
  });

  interface Followed {
    readonly vision: VisionScene;
    readonly subscription: string;
  }
  async function follow(reply: ScriptedReply): Promise<Followed> {
    const vision = await VisionScene.create({ service });
    vision.partner.on(CONTINUOUS, reply);
    return { vision, subscription: await vision.follow({ startTime: inHours(-2) }) };
  }
  const count = async ({ vision }: Followed): Promise<number> => {
    const path = `/recordings?connectionId=${vision.connectionId}`;
    return (await read<{ pagination: { totalItems: number } }>(path, service)).pagination.totalItems;
  };
  const findings = async ({ vision }: Followed): Promise<string[]> =>
    (await listed<{ reason: string }>(`/vision-findings?connectionId=${vision.connectionId}`, service)).map(
      ({ reason }) => reason,
    );
  const state = ({ subscription }: Followed) =>
    read<{ watermark: string; lastError?: string }>(`/video-subscriptions/${subscription}`, service);
  const isRead = (followed: Followed) =>
    eventually(async () => expect(Date.parse((await state(followed)).watermark)).toBeGreaterThan(FIRST + 50 * 60_000));

  describe('is read', () => {
    let followed: ReadonlyMap<Row, Followed>;
    beforeAll(async () => {
      followed = new Map(await Promise.all(ROWS.map(async (each) => [each, await follow(each.reply)] as const)));
    }, 120_000);

    test.each(ROWS)('$name, of $source (decision 38)', async (each) => {
      const of = followed.get(each) as Followed;
      await isRead(of);
      await eventually(async () => expect(await count(of)).toBe(each.recordings));
      expect(await findings(of)).toEqual(each.finding === undefined ? [] : [expect.stringContaining(each.finding)]);
    });
  });

  test('beyond PARTNER_BODY_LIMIT has a finding, keeps what was read before, and is read again (decision 38)', async () => {
    let isLarge = true;
    const rear = chunks(10, 10).map((chunk) => ({ ...chunk, id: `rear-${String(chunk['id'])}`, cameraId: 'rear' }));
    const both = [recordings(large), recordings(rear)] as const;
    const of = await follow((response, request) => both[isLarge ? 0 : 1](response, request));
    await eventually(async () => expect(await findings(of)).toEqual([expect.stringContaining('is larger than 4 MB')]));
    await eventually(async () => expect((await state(of)).lastError).toContain('is larger than 4 MB'));
    const before = await count(of);
    isLarge = false;
    const range = { from: inHours(-1.5), to: inHours(-0.5) };
    await administer('POST', `/video-subscriptions/${of.subscription}/read-again`, range, service);
    await eventually(async () => {
      expect(await of.vision.recordings('&cameraId=rear')).toHaveLength(10);
    });
    expect(await count(of)).toBe(before + 10);
  });

  test('does not hinder the check of the connection (decision 38)', async () => {
    const vision = await VisionScene.create({ service, connection: { enabled: false } });
    vision.partner.on(VIDEOS, json({ success: true, data: { videos: day } }));
    const path = `/connections/${vision.connectionId}/check`;
    const { body } = await admin<{ findings: string[] }>('POST', path, undefined, service);
    expect(body.findings).toContain('The partner lists videos of this customer.');
  });
});
