import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { sampleVideo } from '../../support/sample-video.js';
import { sha256 } from '../../support/scripted-vision.js';
import { at, HostedCustomer, type Video } from '../support/hosted.js';

const FILE = sampleVideo(50_000);
const ETAG = `"${sha256(FILE)}"`;

let customer: HostedCustomer;
let recording: Video;
beforeAll(async () => {
  customer = await HostedCustomer.create();
  await customer.upload(0, {}, FILE);
  recording = await newLink();
});

async function newLink(): Promise<Video> {
  const { body } = await customer.continuous({ endTime: at(1) });
  const [first] = body.data.recordings;
  if (first === undefined) throw new Error('there is no recording');
  return first;
}

const fetchFile = (headers: Record<string, string> = {}, method = 'GET', url = recording.downloadUrl) =>
  fetch(url, { method, headers });
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());
const changed = (change: (url: URL) => void): string => {
  const url = new URL(recording.downloadUrl);
  change(url);
  return url.href;
};
const change = (name: string, to: (value: string) => string) => (url: URL) =>
  url.searchParams.set(name, to(url.searchParams.get(name) ?? ''));

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** The signature has 32 bytes, which leave two bits of its last letter unused: four letters stand for the same bytes. */
const otherSpelling = (text: string): string => text.slice(0, -1) + LETTERS.charAt(LETTERS.indexOf(text.slice(-1)) ^ 1);

describe('a download link', () => {
  test('leads to the whole file, without a key, and leaves 8 hours for it (section 2.6 recording downloadUrl, recording expiresAt; section 8 expiresAt; decisions 14, 46)', async () => {
    const hours = (Date.parse((await newLink()).expiresAt) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(7.9);
    expect(hours).toBeLessThanOrEqual(8);
    const response = await fetchFile();
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': String(FILE.length),
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-transform',
      'cross-origin-resource-policy': 'cross-origin',
      etag: ETAG,
    });
    expect((await bytesOf(response)).equals(FILE)).toBe(true);
  });

  test.each<Record<string, string>>([{}, { Range: 'bytes=0-99' }, { Range: 'bytes=999999999-' }])(
    'answers HEAD with the headers of the whole file, without the bytes: %j (decision 46)',
    async (headers) => {
      const response = await fetchFile(headers, 'HEAD');
      expect([response.status, response.headers.get('content-length')]).toEqual([200, String(FILE.length)]);
      expect([response.headers.get('content-range'), await response.text()]).toEqual([null, '']);
    },
  );

  test.each([
    ['bytes=0-99', 0, 99],
    ['bytes=7-7', 7, 7],
    ['bytes=100-', 100, FILE.length - 1],
    ['bytes=-50', FILE.length - 50, FILE.length - 1],
    [`bytes=10-${FILE.length * 2}`, 10, FILE.length - 1],
    [`bytes=-${FILE.length * 2}`, 0, FILE.length - 1],
  ])('answers the part that Range names: %s (decision 46)', async (range, start, end) => {
    const response = await fetchFile({ Range: range });
    expect([response.status, response.headers.get('content-range')]).toEqual([
      206,
      `bytes ${start}-${end}/${FILE.length}`,
    ]);
    expect((await bytesOf(response)).equals(FILE.subarray(start, end + 1))).toBe(true);
  });

  test.each(['bytes=999999999-', 'bytes=5-2', 'bytes=x', 'lines=1-2'])(
    'answers 416 to the bad range %s (section 7 codes of Vision; decision 46)',
    async (range) => {
      const response = await fetchFile({ Range: range });
      expect(response.status).toBe(416);
      expect(await response.json()).toMatchObject({ success: false, error: { code: 'INVALID_PAYLOAD' } });
      const names = ['content-range', 'etag'].map((name) => response.headers.get(name));
      expect(names).toEqual([`bytes */${FILE.length}`, ETAG]);
    },
  );

  test('answers a part for the same If-Range, the whole file for another, and 304 for the same If-None-Match (decision 46)', async () => {
    const statuses = [
      await fetchFile({ Range: 'bytes=0-9', 'If-Range': ETAG }),
      await fetchFile({ Range: 'bytes=0-9', 'If-Range': '"other"' }),
      await fetchFile({ 'If-None-Match': ETAG }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([206, 200, 304]);
  });

  test.each<[string, (url: URL) => void]>([
    ['a later expiry', (url) => url.searchParams.set('expires', '99999999999')],
    ['an expiry one second later', change('expires', (seconds) => String(Number(seconds) + 1))],
    ['zeros before the expiry', change('expires', (seconds) => `0${seconds}`)],
    ['no expiry', (url) => url.searchParams.delete('expires')],
    ['another signature', (url) => url.searchParams.set('signature', 'A'.repeat(43))],
    ['another spelling of the signature', change('signature', otherSpelling)],
    ['a padded signature', (url) => (url.search += '=')],
    ['a blank in the signature', change('signature', (text) => ` ${text}`)],
    ['an empty signature', (url) => url.searchParams.set('signature', '')],
    ['no signature', (url) => url.searchParams.delete('signature')],
    ['two signatures', (url) => url.searchParams.append('signature', 'x')],
    ['another file', (url) => (url.pathname = url.pathname.replace(/.(?=\.mp4$)/, (end) => (end === '0' ? '1' : '0')))],
    ['another kind of file', (url) => (url.pathname = url.pathname.replace('recordings', 'clips'))],
    ['a name that is no text', (url) => (url.pathname = '/media/v1/recordings/%ff.mp4')],
    ['a path out of the storage', (url) => (url.pathname = '/media/v1/recordings/..%2f..%2fsecrets.mp4')],
    ['a scenario of the sandbox', (url) => url.searchParams.set('scenario', 'truncated-file')],
    ['a key in place of the signature', (url) => (url.search = `?API-KEY=${encodeURIComponent(customer.key)}`)],
  ])('answers 401 when it is changed: %s (section 5 Vision; section 7 401 all; decision 46)', async (_, change) => {
    const response = await fetchFile({}, 'GET', changed(change));
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ success: false, error: { code: 'UNAUTHORIZED' } });
  });

  test('answers 401 to a key in the header in place of the signature (decision 46)', async () => {
    const url = changed((link) => (link.search = ''));
    expect((await fetchFile({ 'API-KEY': customer.key }, 'GET', url)).status).toBe(401);
  });

  test('answers 410 when it has expired, and the list has a new link (section 7 codes of Vision; decision 46)', async () => {
    const { downloadUrl } = await newLink();
    await customer.clock({ advanceTo: 'link-expired' });
    const response = await fetch(downloadUrl);
    expect(response.status).toBe(410);
    expect(await response.json()).toMatchObject({ success: false, error: { code: 'NOT_FOUND' } });
    expect((await fetch((await newLink()).downloadUrl)).status).toBe(200);
  });

  test.each([
    ['video.example.com', 'http://video.example.com'],
    ['video_1.example-2.com:8443', 'http://video_1.example-2.com:8443'],
    ['[2001:db8::5]:3000', 'http://[2001:db8::5]:3000'],
  ])('begins with the host that was asked: %s (decision 46)', async (host, origin) => {
    expect(new URL(await linkFrom(host)).origin).toBe(origin);
  });

  test.each(['user@example.com', 'example.com/x', 'example.com"', 'a'.repeat(256)])(
    'begins with the address of the service where the host of the request is none: %s (decision 46)',
    async (host) => {
      expect(new URL(await linkFrom(host)).origin).toBe(new URL(customer.service.url).origin);
    },
  );

  test('is refused with a message for each method that is not GET or HEAD (decisions 10, 55)', async () => {
    const response = await fetchFile({}, 'DELETE');
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

/** The link that a caller gets who names this host. */
async function linkFrom(host: string): Promise<string> {
  const query = new URLSearchParams({ customerId: customer.id, truckId: 'TRUCK-7', startTime: at(0), endTime: at(1) });
  const url = `${customer.service.url}/video-platform/v1/videos/continuous?${query.toString()}`;
  // `fetch` sends no other host.
  const sent = request(url, { headers: { 'API-KEY': customer.key, Host: host } }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return ((await json(response)) as { data: { recordings: [Video] } }).data.recordings[0].downloadUrl;
}
