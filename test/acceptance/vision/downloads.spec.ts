import { expect } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { serveFile } from '../../support/file-host.js';
import { sampleVideo } from '../../support/sample-video.js';
import { CONTINUOUS, element, type Element, inHours, lists, sha256 } from '../../support/scripted-vision.js';
import { testAtOnce } from '../support/at-once.js';
import { PARTNER_KEY } from '../support/hauler.js';
import { admin, administer, target } from '../support/target.js';
import { VisionScene } from '../support/vision.js';

/** The `n`-th minute of what a truck recorded three hours ago. */
const FIRST = Date.parse(inHours(-3));
const chunk = (n: number, downloadUrl: string, fields: Element = {}): Element => {
  const [startTime, endTime] = [n, n + 1].map((minute) => new Date(FIRST + minute * 60_000).toISOString());
  return element({ id: `chunk-${n}`, startTime, endTime, downloadUrl, ...fields });
};

/** A partner that lists these chunks of the truck that is followed. */
async function listing(chunks: (vision: VisionScene) => readonly Element[]): Promise<VisionScene> {
  const vision = await VisionScene.create();
  const listed = chunks(vision);
  vision.partner.on(
    CONTINUOUS,
    lists('recordings', () => listed),
  );
  await vision.follow({ startTime: inHours(-4) });
  return vision;
}

const gone = (_: unknown, response: { writeHead(status: number): { end(): unknown } }) =>
  void response.writeHead(410).end();

const contentOf = (id: string, query = '', headers: Record<string, string> = {}) =>
  fetch(`${target.url}/admin/v1/recordings/${id}/content${query}`, {
    headers: { Authorization: `Bearer ${target.adminToken}`, ...headers },
  });

/** The actions by which somebody saw the recording, and not those by which its download was started. */
async function viewsOf(id: string): Promise<string[]> {
  const { data } = await administer<{ data: { action: string }[] }>('GET', `/actions?resource=recording:${id}`);
  return data.map(({ action }) => action).filter((action) => action.startsWith('recording.'));
}

const stories: Record<string, () => Promise<unknown>> = {
  'our key goes neither to the host of a link nor across a redirect, and three redirects are followed (decision 47)':
    async () => {
      const file = sampleVideo();
      const heads: object[] = [];
      const vision = await listing(({ partner }) => {
        const hop = (to: string) =>
          partner.link(file, (request, response) => {
            heads.push(request.headers);
            response.writeHead(302, { Location: to }).end();
          });
        const last = partner.link(file, (request, response) => {
          heads.push(request.headers);
          serveFile(file)(request, response);
        });
        return [chunk(1, hop(hop(hop(last))))];
      });
      await vision.recordingsBecome([{ status: 'stored', sha256: sha256(file), sizeBytes: file.length }]);
      expect(heads).toHaveLength(4);
      expect(JSON.stringify(heads)).not.toContain(PARTNER_KEY);
      expect(JSON.stringify(heads)).not.toMatch(/"(api-key|authorization|cookie)"/);
    },

  'a fourth redirect is not followed (decision 47)': async () => {
    const file = sampleVideo();
    const vision = await listing(({ partner }) => {
      const hop = (to: string) => partner.link(file, (_, response) => response.writeHead(302, { Location: to }).end());
      return [chunk(1, hop(hop(hop(hop(partner.link(file))))))];
    });
    await eventually(async () =>
      expect(await vision.recordings()).toMatchObject([
        { status: 'available', reason: expect.stringContaining('redirect') },
      ]),
    );
  },

  'a link that has expired by our clock is tried once (decision 47)': async () => {
    const file = sampleVideo();
    const vision = await listing(({ partner }) => [chunk(1, partner.link(file), { expiresAt: inHours(-1) })]);
    await vision.recordingsBecome([{ status: 'stored', sha256: sha256(file) }]);
    expect(vision.partner.fetched).toHaveLength(1);
  },

  'a download that breaks off goes on with Range and If-Range (decision 47)': async () => {
    const file = sampleVideo(3_000_000);
    const asked: unknown[][] = [];
    const vision = await listing(({ partner }) => [
      chunk(
        1,
        partner.link(file, (request, response) => {
          asked.push([request.headers.range, request.headers['if-range']]);
          serveFile(file, { etag: '"1"', breakAfter: asked.length === 1 ? 2_000_000 : undefined })(request, response);
        }),
      ),
    ]);
    await vision.recordingsBecome([{ status: 'stored', sha256: sha256(file) }]);
    expect(asked).toEqual([
      [undefined, undefined],
      [expect.stringMatching(/^bytes=\d+-$/), '"1"'],
    ]);
  },

  'links that expired together are replaced by one list of the truck, which adds nothing of other cameras (decision 47)':
    async () => {
      const file = sampleVideo(200);
      const vision = await VisionScene.create();
      const dead = vision.partner.link(file, gone);
      const fresh = vision.partner.link(file);
      const all = (link: string) =>
        Array.from({ length: 40 }, (_, n) => chunk(n % 20, link, { id: `c${n}`, cameraId: n < 20 ? 'front' : 'rear' }));
      vision.partner.on(CONTINUOUS, (response, request) => {
        const camera = request.query.get('cameraId');
        const listed = all(camera === null ? fresh : dead).filter(
          ({ cameraId }) => camera === null || cameraId === camera,
        );
        lists('recordings', () => listed)(response, request);
      });
      const id = await vision.follow({ cameraId: 'front', startTime: inHours(-4) });
      await vision.isRead(id);
      await eventually(async () => {
        expect(await vision.recordings()).toHaveLength(20);
        expect(new Set((await vision.recordings()).map(({ status }) => status))).toEqual(new Set(['stored']));
      });
      const relinks = vision.partner.askedOf(CONTINUOUS).filter(({ query }) => !query.has('cameraId'));
      // Another one only for those whose old link was tried while the first list was read.
      expect(relinks.length).toBeGreaterThan(0);
      expect(relinks.length).toBeLessThan(5);
    },

  'the link that expires first is fetched first (decision 47)': async () => {
    const vision = await listing(({ partner }) =>
      [6, 4, 2, 5, 1, 3].map((hours) =>
        chunk(hours, partner.link(sampleVideo(200)), { expiresAt: inHours(hours), id: `expires ${hours}` }),
      ),
    );
    await vision.recordingsBecome([1, 2, 3, 4, 5, 6].map(() => ({ status: 'stored' })));
    const first = await vision.recordings();
    const links = new Map(first.map(({ id, partnerRecordingId }) => [id, partnerRecordingId]));
    const order = await administer<{ data: { id: string; updatedAt: string }[] }>(
      'GET',
      `/recordings?connectionId=${vision.connectionId}`,
    );
    const byEnd = order.data.toSorted((a, b) => a.updatedAt.localeCompare(b.updatedAt)).map(({ id }) => links.get(id));
    // Four at once: the last two begin after one of the first four.
    expect(byEnd.slice(-2).sort()).toEqual(['expires 5', 'expires 6']);
  },

  'at most four files of a connection are fetched at once (decision 47)': async () => {
    let open = 0;
    let most = 0;
    const vision = await listing(({ partner }) =>
      Array.from({ length: 12 }, (_, n) => {
        const file = sampleVideo(200);
        return chunk(
          n,
          partner.link(file, (request, response) => {
            most = Math.max(most, ++open);
            response.once('close', () => open--);
            setTimeout(() => serveFile(file)(request, response), 30);
          }),
        );
      }),
    );
    await vision.recordingsBecome(Array.from({ length: 12 }, () => ({ status: 'stored' })));
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(4);
  },

  'a recording that is not listed any more expires, and a new listing revives it (decisions 47, 54)': async () => {
    const file = sampleVideo();
    let listed: Element[] = [];
    const vision = await VisionScene.create();
    listed = [chunk(1, vision.partner.link(file, gone))];
    vision.partner.on(CONTINUOUS, (response, request) => {
      // The list of the window has it, the one after the refusal does not.
      lists('recordings', () => (vision.partner.fetched.length === 0 ? listed : []))(response, request);
    });
    const id = await vision.follow({ startTime: inHours(-4) });
    const [expired] = await vision.recordingsBecome([
      { status: 'expired', reason: expect.stringContaining('no longer lists') },
    ]);
    expect(expired?.id).toEqual(expect.any(String));
    listed = [chunk(1, vision.partner.link(file))];
    vision.partner.on(
      CONTINUOUS,
      lists('recordings', () => listed),
    );
    await administer('POST', `/video-subscriptions/${id}/read-again`, { from: inHours(-3.1), to: inHours(-2) });
    await vision.recordingsBecome([{ id: expired?.id, status: 'stored', sha256: sha256(file) }]);
  },

  'an administrator has an expired recording fetched again, alone or with all of its connection; a stored one is 409 (decisions 47, 54)':
    async () => {
      const vision = await VisionScene.create();
      const files = [sampleVideo(), sampleVideo()];
      let isGone = true;
      const refused = files.map((file, n) => chunk(n, vision.partner.link(file, gone)));
      const again = files.map((file, n) => chunk(n, vision.partner.link(file)));
      vision.partner.on(
        CONTINUOUS,
        lists('recordings', () => (!isGone ? again : vision.partner.fetched.length === 0 ? refused : [])),
      );
      await vision.follow({ startTime: inHours(-4) });
      const [one] = await vision.recordingsBecome([{ status: 'expired' }, { status: 'expired' }]);
      isGone = false;
      expect((await admin('POST', `/recordings/${one?.id}/retry`)).status).toBe(202);
      const filter = { connectionId: vision.connectionId, truckId: 'TRUCK-7' };
      expect(await administer('POST', '/recordings/retry', filter)).toMatchObject({ matched: 1 });
      await vision.recordingsBecome(files.map((file) => ({ status: 'stored', sha256: sha256(file) })));
      expect((await admin('POST', `/recordings/${one?.id}/retry`)).status).toBe(409);
    },

  'a stored file is played whole and in ranges, and each caller is one action (decision 72)': async () => {
    const file = sampleVideo();
    const vision = await listing(({ partner }) => [chunk(1, partner.link(file))]);
    const [shown] = await vision.recordingsBecome([{ status: 'stored' }]);
    const id = shown?.id ?? '';
    const part = await contentOf(id, '', { Range: 'bytes=10-19' });
    expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, file.subarray(10, 20)]);
    expect(sha256(Buffer.from(await (await contentOf(id)).arrayBuffer()))).toBe(sha256(file));
    expect(await viewsOf(id)).toEqual(['recording.downloaded']);
    const { life } = await administer<{ life: object }>('GET', `/recordings/${id}`);
    expect(life).toEqual({ attempts: 0, storedAt: expect.any(String) });
  },

  'a preview answers no more than the first and last 512 KiB of a file, and is not logged as a view (decision 72)':
    async () => {
      const [file, small] = [sampleVideo(2_000_000), sampleVideo()];
      const vision = await listing(({ partner }) => [chunk(1, partner.link(file)), chunk(2, partner.link(small))]);
      const shown = await vision.recordingsBecome([{ status: 'stored' }, { status: 'stored' }]);
      const idOf = ({ length }: Buffer) => shown.find(({ sizeBytes }) => sizeBytes === length)?.id ?? '';
      const preview = async (range: string | undefined, of = file) => {
        const answer = await contentOf(idOf(of), '?preview', range === undefined ? {} : { Range: range });
        const bytes = Buffer.from(await answer.arrayBuffer());
        return [answer.status, answer.headers.get('content-range'), of.indexOf(bytes), bytes.length];
      };
      const [end, size] = [512 * 1_024, file.length];
      expect(await preview(undefined)).toEqual([206, `bytes 0-${end - 1}/${size}`, 0, end]);
      for (const range of ['bytes=0-', 'bytes=0-9,1000000-1000009']) {
        expect(await preview(range)).toEqual([206, `bytes 0-${end - 1}/${size}`, 0, end]);
      }
      expect(await preview(`bytes=${end - 10}-${size}`)).toEqual([206, expect.any(String), end - 10, 10]);
      expect(await preview(`bytes=-${end}`)).toEqual([206, expect.any(String), size - end, end]);
      for (const range of [`bytes=${end}-`, 'bytes=900000-900099', `bytes=-${end + 1}`]) {
        expect((await preview(range)).slice(0, 2)).toEqual([416, `bytes */${size}`]);
      }
      expect(await preview(undefined, small)).toEqual([200, null, 0, small.length]);
      expect([...(await viewsOf(idOf(file))), ...(await viewsOf(idOf(small)))]).toEqual([]);
      const another = await contentOf(idOf(file), '?preview=maybe');
      expect(another.status).toBe(400);
      await contentOf(idOf(file), '?preview&download=true', { Range: 'bytes=0-9' });
      expect(await viewsOf(idOf(file))).toEqual(['recording.downloaded']);
    },
};

testAtOnce(
  '$name',
  Object.entries(stories).map(([name, run]) => ({ name, run })),
  ({ run }) => run(),
);
