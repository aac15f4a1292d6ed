import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { RequestListener } from 'node:http';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Retention } from '../../src/vision/recordings/retention.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { serveFile } from '../support/file-host.js';
import { type S3Server, startS3Server } from '../support/s3-server.js';
import {
  connectVision,
  CONTINUOUS,
  element,
  type Element,
  film,
  forgetVideo,
  hurry,
  inHours,
  lists,
  sha256,
  startVisionPartner,
  type VisionPartner,
} from '../support/vision-partner.js';

interface Shown {
  readonly id: string;
  readonly partnerRecordingId: string;
  readonly status: string;
  readonly reason?: string;
  readonly sizeBytes?: number;
  readonly sha256?: string;
}

let partner: VisionPartner;
const apps: TestApp[] = [];
beforeAll(async () => void (partner = await startVisionPartner()));
afterAll(async () => {
  for (const app of apps.reverse()) await app.close();
  await partner.stop();
});

async function start(options: Parameters<typeof startTestApp>[0] = {}): Promise<TestApp> {
  const app = await startTestApp({ ...options, env: { OUTBOUND_ALLOW_PRIVATE: true, ...options.env } });
  apps.push(app);
  return app;
}

const chunk = (n: number, downloadUrl: string, fields: Element = {}): Element =>
  element({
    id: `chunk-${n}`,
    startTime: new Date(Date.parse(inHours(-3)) + n * 60_000).toISOString(),
    endTime: new Date(Date.parse(inHours(-3)) + (n + 1) * 60_000).toISOString(),
    downloadUrl,
    ...fields,
  });

async function follow(app: TestApp, items: () => readonly Element[]): Promise<string> {
  partner.on(CONTINUOUS, lists('recordings', items));
  const { id: connectionId } = await connectVision(app, partner.url);
  await app.admin('POST', '/video-subscriptions', { connectionId, truckId: 'TRUCK-7', startTime: inHours(-4) });
  return connectionId;
}

const recordings = async (app: TestApp, connectionId: string) =>
  (await app.admin<{ data: Shown[] }>('GET', `/recordings?connectionId=${connectionId}&pageSize=100`)).body.data;

async function becomes(app: TestApp, connectionId: string, expected: object): Promise<Shown> {
  await eventually(async () => {
    await hurry(app);
    expect(await recordings(app, connectionId)).toMatchObject([expected]);
  }, 10_000);
  const [shown] = await recordings(app, connectionId);
  if (shown === undefined) throw new Error('there is no recording');
  return shown;
}

const filesOf = async (app: TestApp, folder: string): Promise<string[]> => {
  const root = join(new URL(app.env.STORAGE_URL).pathname, folder);
  const all = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  return all.filter((entry) => entry.isFile()).map(({ name }) => name);
};

describe('a link', () => {
  let app: TestApp;
  beforeAll(async () => void (app = await start()));
  afterEach(async () => {
    await forgetVideo(app);
    partner.reset();
  });

  /** One chunk; each listing takes the next link, the last one again and again. */
  const listed = (...links: (string | Element)[]) => {
    let listing = 0;
    return () => {
      const link = links[Math.min(listing++, links.length - 1)] ?? '';
      return [typeof link === 'string' ? chunk(1, link) : chunk(1, '', link)];
    };
  };

  test('without an end is used', async () => {
    const body = film();
    const id = await follow(app, listed({ downloadUrl: partner.link(body), expiresAt: undefined }));
    expect(await becomes(app, id, { status: 'stored' })).toMatchObject({
      sizeBytes: body.length,
      sha256: sha256(body),
    });
  });

  test.each([401, 403, 404, 410])('that is refused with %i is replaced by listing again', async (status) => {
    const body = film();
    const refused = partner.link(body, (_, res) => res.writeHead(status).end());
    const id = await follow(app, listed(refused, partner.link(body)));
    expect(await becomes(app, id, { status: 'stored' })).toMatchObject({ sha256: sha256(body) });
  });

  test('that has expired is never asked, and replaced', async () => {
    const id = await follow(
      app,
      listed({ downloadUrl: partner.link(film()), expiresAt: inHours(-1) }, partner.link(film())),
    );
    await becomes(app, id, { status: 'stored' });
    expect(partner.fetched).toHaveLength(1);
  });

  test('expired at birth, every time: listed again five times, then expired with its reason', async () => {
    const id = await follow(app, listed({ downloadUrl: partner.link(film()), expiresAt: inHours(-1) }));
    const { reason } = await becomes(app, id, { status: 'expired', reason: expect.any(String) });
    expect(reason).toContain('expired');
    expect(partner.fetched).toEqual([]);
    const relinks = partner.askedOf(CONTINUOUS).filter(({ query }) => {
      const length = Date.parse(query.get('endTime') ?? '') - Date.parse(query.get('startTime') ?? '');
      return length < 120_000;
    });
    expect(relinks).toHaveLength(5);
  });

  test('that is refused every time: expired with its reason, and fetched after all when it is listed with one that works', async () => {
    let link = partner.link(film(), (_, res) => res.writeHead(403).end());
    const id = await follow(app, () => [chunk(1, link)]);
    const { reason } = await becomes(app, id, { status: 'expired' });
    expect(reason).toContain('refused the link with 403');
    link = partner.link(film());
    await becomes(app, id, { status: 'stored' });
  });

  test('of a recording that is listed no more', async () => {
    let items = [
      chunk(
        1,
        partner.link(film(), (_, res) => res.writeHead(410).end()),
      ),
    ];
    const id = await follow(app, () => items.splice(0));
    const { reason } = await becomes(app, id, { status: 'expired' });
    expect(reason).toContain('lists the recording no more');
    items = [];
  });

  test.each<[string, RequestListener, string, string]>([
    ['an empty body', (_, res) => res.writeHead(200, { 'Content-Length': 0 }).end(), 'failed', 'empty'],
    ['more redirects than three', (req, res) => res.writeHead(302, { Location: req.url }).end(), 'failed', 'redirects'],
    ['a redirect without its aim', (_, res) => res.writeHead(302).end(), 'failed', '302'],
    ['400', (_, res) => res.writeHead(400).end(), 'failed', '400'],
    [
      'a compressed body',
      (_, res) => res.writeHead(200, { 'Content-Encoding': 'gzip', 'Content-Length': 9 }).end('123456789'),
      'failed',
      'compressed',
    ],
    [
      'a body that is always cut at the same place',
      (_, res) => {
        res.writeHead(200, { 'Content-Length': 1_000 });
        res.write(Buffer.alloc(500), () => setTimeout(() => res.destroy(), 5));
      },
      'failed',
      'broke',
    ],
    [
      'more bytes than announced',
      (_, res) => void res.socket?.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n1234567'),
      'failed',
      'more bytes',
    ],
  ])('that answers with %s: given up, with the reason, and no file', async (_, listener, status, reason) => {
    const link = partner.link(film(), listener);
    const id = await follow(app, listed(link));
    const shown = await becomes(app, id, { status, reason: expect.stringContaining(reason) });
    expect(shown).not.toHaveProperty('sha256');
    expect((await app.admin('GET', `/recordings/${shown.id}/content`)).status).toBe(404);
    expect(await filesOf(app, 'recordings').then((files) => files.includes(`${shown.id}.mp4`))).toBe(false);
    await eventually(async () =>
      expect((await filesOf(app, '.partial')).filter((name) => name.includes(shown.id))).toEqual([]),
    );
  });

  test('to a host that breaks off is continued where it broke', async () => {
    const body = film(400_000);
    let tries = 0;
    const link = partner.link(body, (req, res) =>
      serveFile(body, { etag: '"one"', ...(++tries < 3 ? { breakAfter: 150_000 } : {}) })(req, res),
    );
    const id = await follow(app, listed(link));
    expect(await becomes(app, id, { status: 'stored' })).toMatchObject({ sha256: sha256(body) });
    expect(partner.files.asked.some(({ range }) => range !== undefined)).toBe(true);
  });

  test('whose file changed between two tries gives the new one, whole', async () => {
    const [former, latter] = [film(400_000), film(300_000)];
    let tries = 0;
    const link = partner.link(former, (req, res) =>
      ++tries === 1
        ? serveFile(former, { etag: '"one"', breakAfter: 150_000 })(req, res)
        : serveFile(latter, { etag: '"two"' })(req, res),
    );
    const id = await follow(app, listed(link));
    expect(await becomes(app, id, { status: 'stored' })).toMatchObject({ sha256: sha256(latter) });
  });

  test('carries no key of ours', async () => {
    const id = await follow(app, listed(partner.link(film())));
    await becomes(app, id, { status: 'stored' });
    expect(JSON.stringify(partner.files.asked)).not.toContain('the-partners-key');
  });
});

describe('a link to where we may not go', () => {
  let strict: TestApp;
  beforeAll(async () => void (strict = await start({ env: { OUTBOUND_ALLOW_PRIVATE: false } })));

  test.each(['http://127.0.0.1:9/x', 'https://10.0.0.1/x', 'ftp://files.example.com/x', 'nonsense'])(
    '%s: failed, with the reason',
    async (link) => {
      const { haulerId, id } = await connectVision(strict, 'https://partner.example.com');
      // The partner cannot be on the loopback interface here, so that the row is written as a listing would.
      await addRecording(strict, haulerId, id, link);
      const { reason } = await becomes(strict, id, { status: 'failed' });
      expect(reason).toMatch(/^The link cannot be used/);
    },
  );
});

const addRecording = (app: TestApp, haulerId: string, connectionId: string, link: string) =>
  app.dataSource.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, link, fetch_by, created_at, updated_at, due_at)
     VALUES ($1, gen_random_uuid(), $2, 'continuous', 'p', 'c', 't', 'front', now(), now() + interval '1 minute', 60,
       'available', $3, now(), now(), now(), now())`,
    [haulerId, connectionId, link],
  );

describe('many', () => {
  const bodies = Array.from({ length: 50 }, () => film(200_000));
  /** Slow enough to be met in the middle. */
  const slowly =
    (body: Buffer, open: { now: number; most: number } = { now: 0, most: 0 }): RequestListener =>
    (req, res) => {
      open.most = Math.max(open.most, ++open.now);
      res.once('close', () => open.now--);
      setTimeout(() => serveFile(body, { etag: `"${sha256(body)}"` })(req, res), 60);
    };

  const whole = async (app: TestApp, id: string) => {
    const stored = (await recordings(app, id)).filter(({ status }) => status === 'stored');
    return new Map(stored.map((shown) => [shown.partnerRecordingId, shown.sha256]));
  };
  const expected = new Map(bodies.map((body, i) => [`chunk-${i}`, sha256(body)]));

  test('two instances fetch no file twice, four at once', async () => {
    partner.reset();
    const first = await start();
    await start({ on: first });
    const open = { now: 0, most: 0 };
    const chunks = bodies.map((body, i) => chunk(i, partner.link(body, slowly(body, open))));
    const id = await follow(first, () => chunks);
    await eventually(async () => expect(await whole(first, id)).toEqual(expected), 20_000);
    expect(partner.fetched).toHaveLength(50);
    expect(new Set(partner.fetched).size).toBe(50);
    expect(open.most).toBe(4);
  });

  test('the earliest end comes first', async () => {
    partner.reset();
    const app = await start({ env: { DOWNLOAD_CONCURRENCY_PER_CONNECTION: 1 } });
    const links = bodies.slice(0, 10).map((body) => partner.link(body));
    const chunks = links.map((link, i) => chunk(i, link, { expiresAt: inHours(20 - i) }));
    const id = await follow(app, () => chunks);
    await eventually(async () => expect((await whole(app, id)).size).toBe(10));
    const order = links.map((link) => new URL(link).pathname + new URL(link).search).reverse();
    expect(partner.fetched).toEqual(order);
  });

  test('killed and started again in the middle: 50 whole files and no leftovers', async () => {
    partner.reset();
    const first = await start();
    const chunks = bodies.map((body, i) => chunk(i, partner.link(body, slowly(body))));
    const id = await follow(first, () => chunks);
    await eventually(async () => expect((await whole(first, id)).size).toBeGreaterThan(8));
    // As after a kill: whoever had the rows writes nothing more, and the leases run out.
    await first.dataSource.query(
      `UPDATE recordings SET lease_token = gen_random_uuid(), leased_until = now() + interval '1 second'
       WHERE lease_token IS NOT NULL`,
    );
    const second = await start({ on: first });
    await eventually(async () => expect(await whole(second, id)).toEqual(expected), 20_000);
    const names = (await filesOf(first, 'recordings')).sort();
    const ids = (await recordings(second, id)).map((shown) => `${shown.id}.mp4`).sort();
    expect(names).toEqual(ids);
    await eventually(async () => expect(await filesOf(first, '.partial')).toEqual([]));
  });
});

describe('a storage that can take nothing', () => {
  test('pauses, tells why, and goes on when it can again', async () => {
    partner.reset();
    const app = await start();
    const root = new URL(app.env.STORAGE_URL).pathname;
    await mkdir(dirname(root), { recursive: true });
    await rm(root, { recursive: true, force: true });
    await writeFile(root, 'a file where the folder should be');
    const body = film();
    const id = await follow(app, () => [chunk(1, partner.link(body))]);
    await becomes(app, id, { status: 'available', reason: expect.stringContaining('The video storage failed') });
    await rm(root);
    await eventually(async () => {
      await hurry(app);
      expect(await recordings(app, id)).toMatchObject([{ status: 'stored', sha256: sha256(body) }]);
    }, 12_000);
  });
});

describe('metrics', () => {
  test('foresee the links that will die before their turn comes', async () => {
    partner.reset();
    const app = await start();
    const { haulerId, id } = await connectVision(app, partner.url);
    await addRecording(app, haulerId, id, 'https://files.example.com/a');
    await app.dataSource.query(
      `UPDATE recordings SET expires_at = now() - interval '1 minute', leased_until = now() + interval '1 hour',
         lease_token = gen_random_uuid() WHERE connection_id = $1`,
      [id],
    );
    await eventually(async () => {
      const metrics = await app.call('GET', '/metrics', {
        headers: { Authorization: `Bearer ${app.env.ADMIN_TOKEN}` },
      });
      expect(metrics.text).toContain('vision_downloads_at_risk 1');
      expect(metrics.text).toContain('vision_downloads{state="waiting"} 1');
    });
  });
});

describe('retention', () => {
  test('is off by default; counts without deleting; deletes what is older than its days, and says so', async () => {
    partner.reset();
    const app = await start({ env: { VIDEO_RETENTION_DAYS: 30 } });
    const links = [1, 2].map((n) => chunk(n, partner.link(film(1_000))));
    const id = await follow(app, () => links);
    await eventually(async () => {
      expect((await recordings(app, id)).map(({ status }) => status)).toEqual(['stored', 'stored']);
    });
    await app.dataSource.query(
      `UPDATE recordings SET stored_at = now() - interval '31 days' WHERE partner_recording_id = 'chunk-1'`,
    );
    const retention = app.app.get(Retention, { strict: false });
    expect(await retention.run({ dryRun: true })).toMatchObject({ recordings: 1, bytes: 1_000 });
    expect(await filesOf(app, 'recordings')).toHaveLength(2);
    expect(await retention.run()).toMatchObject({ recordings: 1, bytes: 1_000 });
    expect(await retention.run()).toMatchObject({ recordings: 0 });
    expect(await filesOf(app, 'recordings')).toHaveLength(1);
    const gone = (await recordings(app, id)).find(({ partnerRecordingId }) => partnerRecordingId === 'chunk-1');
    expect(gone).toMatchObject({ status: 'expired', reason: expect.stringContaining('30 days') });
    expect((await app.admin('GET', `/recordings/${gone?.id}/content`)).status).toBe(404);
    // Listed again, it is not fetched again.
    await hurry(app);
    await becomesStill(app, id);
    const off = await start();
    expect(await off.app.get(Retention, { strict: false }).run()).toEqual({ recordings: 0, bytes: 0 });
  });

  const becomesStill = async (app: TestApp, id: string): Promise<void> => {
    const before = partner.askedOf(CONTINUOUS).length;
    await eventually(async () => {
      await hurry(app);
      expect(partner.askedOf(CONTINUOUS).length).toBeGreaterThan(before + 1);
    });
    expect((await recordings(app, id)).map(({ status }) => status).sort()).toEqual(['expired', 'stored']);
  };
});

describe('the bytes of a recording', () => {
  test('with ranges, conditions and HEAD', async () => {
    partner.reset();
    const app = await start();
    const body = film(1_000);
    const id = await follow(app, () => [chunk(1, partner.link(body))]);
    const shown = await becomes(app, id, { status: 'stored' });
    const get = (headers: Record<string, string>, method = 'GET') =>
      fetch(`${app.url}/admin/v1/recordings/${shown.id}/content`, {
        method,
        headers: { Authorization: `Bearer ${app.env.ADMIN_TOKEN}`, ...headers },
      });
    const etag = `"${sha256(body)}"`;
    const all = await get({});
    expect([all.status, all.headers.get('etag'), all.headers.get('content-length')]).toEqual([200, etag, '1000']);
    const tail = await get({ Range: 'bytes=-10', 'If-Range': etag });
    expect([tail.status, tail.headers.get('content-range')]).toEqual([206, 'bytes 990-999/1000']);
    expect((await get({ Range: 'bytes=0-1', 'If-Range': '"other"' })).status).toBe(200);
    expect((await get({ Range: 'bytes=1000-' })).status).toBe(416);
    expect((await get({ 'If-None-Match': etag })).status).toBe(304);
    const head = await get({}, 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '1000']);
    expect((await fetch(`${app.url}/admin/v1/recordings/${shown.id}/content`)).status).toBe(401);
  });
});

describe('in S3', () => {
  let s3: S3Server;
  beforeAll(async () => void (s3 = await startS3Server()));
  afterAll(() => s3.stop());

  test('a recording is stored and played', async () => {
    partner.reset();
    const app = await start({ env: { STORAGE_URL: s3.storageUrl('vision') } });
    const body = film(300_000);
    const id = await follow(app, () => [chunk(1, partner.link(body))]);
    const shown = await becomes(app, id, { status: 'stored' });
    const played = await fetch(`${app.url}/admin/v1/recordings/${shown.id}/content`, {
      headers: { Authorization: `Bearer ${app.env.ADMIN_TOKEN}` },
    });
    expect(sha256(Buffer.from(await played.arrayBuffer()))).toBe(sha256(body));
  });
});
