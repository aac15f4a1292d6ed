import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Request } from 'express';
import type { ContinuousResponse, Recording } from '../../../src/contracts/vision/vision.dto.js';
import { STORAGE, type Storage } from '../../../src/storage/storage.js';
import { DownloadLinks } from '../../../src/reference-partner/vision/download-links.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { at, CUSTOMER, demoVideo, TRUCK, upload } from '../../support/reference-vision.js';

let service: TestApp;
let key: string;
let recording: Recording;
const bytes = demoVideo(0);
const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`;

beforeAll(async () => {
  service = await startTestApp();
  ({ key } = await issueKey(service, ['vision']));
  await upload(service, 0);
  recording = await list(service.url);
});
afterAll(() => service.close());

async function list(url: string): Promise<Recording> {
  const query = new URLSearchParams({ customerId: CUSTOMER, truckId: TRUCK, startTime: at(0), endTime: at(1) });
  const response = await fetch(`${url}/video-platform/v1/videos/continuous?${query.toString()}`, {
    headers: { 'API-KEY': key },
  });
  const { data } = (await response.json()) as ContinuousResponse;
  return data.recordings![0]!;
}

const get = (headers: Record<string, string> = {}, method = 'GET', url = recording.downloadUrl) =>
  fetch(url, { method, headers });
const changed = (change: (url: URL) => void): string => {
  const url = new URL(recording.downloadUrl);
  change(url);
  return url.href;
};

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** 32 bytes leave two bits of the last letter unused: four letters say the same. */
const otherSpelling = (text: string): string =>
  text.slice(0, -1) + BASE64URL.charAt(BASE64URL.indexOf(text.slice(-1)) ^ 1);

describe('a download link (decision 46)', () => {
  it('gives the whole file without an API key', async () => {
    const response = await get();
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': String(bytes.length),
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-transform',
      etag,
    });
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('tells HEAD the same, without the bytes', async () => {
    const opened = jest.spyOn(service.app.get<Storage>(STORAGE, { strict: false }), 'read');
    const response = await get({}, 'HEAD');
    expect(opened).not.toHaveBeenCalled();
    opened.mockRestore();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
    expect(await response.text()).toBe('');
  });

  it.each([
    ['bytes=0-99', 0, 99],
    ['bytes=7-7', 7, 7],
    ['bytes=100-', 100, bytes.length - 1],
    ['bytes=-50', bytes.length - 50, bytes.length - 1],
    [`bytes=10-${bytes.length * 2}`, 10, bytes.length - 1],
    [`bytes=-${bytes.length * 2}`, 0, bytes.length - 1],
  ])('gives a part: %s', async (range, start, end) => {
    const response = await get({ Range: range });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end}/${bytes.length}`);
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes.subarray(start, end + 1))).toBe(true);
  });

  it.each(['bytes=999999999-', 'bytes=5-2', 'bytes=x', 'lines=1-2'])('refuses %s with 416', async (range) => {
    const response = await get({ Range: range });
    expect(response.status).toBe(416);
    expect(await response.json()).toMatchObject({ success: false, error: { code: 'INVALID_PAYLOAD' } });
    expect(response.headers.get('content-range')).toBe(`bytes */${bytes.length}`);
    expect(response.headers.get('etag')).toBe(etag);
  });

  it.each(['bytes=0-99', 'bytes=999999999-'])('tells HEAD of the whole, whatever the range: %s', async (range) => {
    const response = await get({ Range: range }, 'HEAD');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
    expect(response.headers.get('content-range')).toBeNull();
  });

  it('heeds If-Range and If-None-Match', async () => {
    expect((await get({ Range: 'bytes=0-9', 'If-Range': etag })).status).toBe(206);
    expect((await get({ Range: 'bytes=0-9', 'If-Range': '"other"' })).status).toBe(200);
    const { status, headers } = await get({ 'If-None-Match': etag });
    expect([status, headers.get('etag'), headers.get('cache-control')]).toEqual([304, etag, 'private, no-transform']);
  });

  it.each<[string, (url: URL) => void]>([
    ['a longer life', (url) => url.searchParams.set('expires', '99999999999')],
    ['another signature', (url) => url.searchParams.set('signature', 'A'.repeat(43))],
    ['no signature', (url) => url.searchParams.delete('signature')],
    ['no expiry', (url) => url.searchParams.delete('expires')],
    [
      'another spelling of the signature',
      (url) => url.searchParams.set('signature', otherSpelling(url.searchParams.get('signature') ?? '')),
    ],
    ['a signature that is filled up', (url) => (url.search += '=')],
    ['a blank in the signature', (url) => url.searchParams.set('signature', ` ${url.searchParams.get('signature')}`)],
    ['zeros before the expiry', (url) => (url.search = url.search.replace('expires=', 'expires=0'))],
    ['an empty signature', (url) => url.searchParams.set('signature', '')],
    ['two signatures', (url) => url.searchParams.append('signature', 'x')],
    [
      'another file',
      (url) => (url.pathname = url.pathname.replace(/.(?=\.mp4$)/, (digit) => (digit === '0' ? '1' : '0'))),
    ],
    ['another kind', (url) => (url.pathname = url.pathname.replace('recordings', 'clips'))],
    ['a name that is no text', (url) => (url.pathname = '/media/v1/recordings/%ff.mp4')],
    ['a path out of the storage', (url) => (url.pathname = '/media/v1/recordings/..%2f..%2fsecrets.mp4')],
  ])('is worth nothing with %s: 401', async (_name, change) => {
    const response = await get({}, 'GET', changed(change));
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ success: false, error: { code: 'UNAUTHORIZED' } });
  });

  it('takes no API key in its place', async () => {
    const response = await get(
      {},
      'GET',
      changed((url) => (url.search = `?API-KEY=${key}`)),
    );
    expect(response.status).toBe(401);
  });

  it('lives for VISION_LINK_TTL, less what is no whole second, and is over at its end', () => {
    const links = service.app.get(DownloadLinks, { strict: false });
    const signed = links.sign('', 'clips', recording.id, { now: Date.parse(at(0)) + 999 });
    const end = Date.parse(at(0)) + service.env.VISION_LINK_TTL;
    expect(Date.parse(signed.expiresAt)).toBe(end);
    const { searchParams } = new URL(signed.downloadUrl, service.url);
    const expiresAtMs = links.verify('clips', recording.id, Object.fromEntries(searchParams));
    const verify = (now: number) => links.assertValid(expiresAtMs, now);
    verify(end - 1);
    expect(() => verify(end)).toThrow('the link has expired');
  });

  it('is gone after its time: 410', async () => {
    const brief = await startTestApp({ on: service, env: { VISION_LINK_TTL: -1000 } });
    try {
      const response = await fetch((await list(brief.url)).downloadUrl);
      expect(response.status).toBe(410);
      expect(await response.json()).toMatchObject({ success: false, error: { code: 'NOT_FOUND' } });
    } finally {
      await brief.close();
    }
  });

  it.each([
    ['video.example.com', '10.0.0.5', 'http://video.example.com'],
    ['video_1.example-2.com:8443', '10.0.0.5', 'http://video_1.example-2.com:8443'],
    ['[2001:db8::5]:3000', '10.0.0.5', 'http://[2001:db8::5]:3000'],
    ['a'.repeat(255), '10.0.0.5', `http://${'a'.repeat(255)}`],
    ['a'.repeat(256), '10.0.0.5', 'http://10.0.0.5:3000'],
    ['', '10.0.0.5', 'http://10.0.0.5:3000'],
    [undefined, '10.0.0.5', 'http://10.0.0.5:3000'],
    ['user@example.com', '10.0.0.5', 'http://10.0.0.5:3000'],
    ['example.com/x', '10.0.0.5', 'http://10.0.0.5:3000'],
    ['example.com"', '10.0.0.5', 'http://10.0.0.5:3000'],
    ['example com', '2001:db8::5', 'http://[2001:db8::5]:3000'],
  ])('begins with the host of the request, else with our address: %s at %s', (host, localAddress, base) => {
    const socket = { localAddress, localPort: 3000 } as Socket;
    const request: Partial<Request> = { protocol: 'http', headers: { host }, socket };
    expect(service.app.get(DownloadLinks, { strict: false }).originOf(request as Request)).toBe(base);
    expect(new URL(base).origin).toBe(base);
  });

  it('begins with PUBLIC_URL where there is one', async () => {
    const known = await startTestApp({ on: service, env: { PUBLIC_URL: 'https://video.example.com/' } });
    try {
      expect((await list(known.url)).downloadUrl).toMatch(/^https:\/\/video\.example\.com\/media\/v1\/recordings\//);
    } finally {
      await known.close();
    }
  });
});
