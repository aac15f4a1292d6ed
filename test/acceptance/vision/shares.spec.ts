import { hash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { sampleVideo } from '../../support/sample-video.js';
import { element } from '../../support/scripted-vision.js';
import { idOf, material, site } from '../../support/site-data.js';
import { type ErrorBody, paths, type Plain } from '../support/hauler.js';
import { admin, administer, target } from '../support/target.js';
import { VisionScene } from '../support/vision.js';

interface Share extends ErrorBody {
  readonly id: string;
  readonly url: string;
  readonly status: string;
  readonly ticketId: string | null;
  readonly views: number;
  readonly lastViewedAt: string | null;
  readonly expiresAt: string;
}

const FILE = sampleVideo();
const SITES = {
  sites: [site('yard', { name: 'Pit <b>"North"</b>' })],
  materials: [material('debris', { siteId: idOf('yard') })],
};

let vision: VisionScene;
/** A stored clip of five minutes from 08:30 on, and the ticket of a truck that was weighed at 08:33:12. */
let recordingId: string;
let ticketId: string;
beforeAll(async () => {
  vision = await VisionScene.create();
  vision.prepares(() => [element({ requestId: 'req-share', downloadUrl: vision.partner.link(FILE) })], {
    requestId: 'req-share',
  });
  await vision.hauler.sync(SITES);
  const { body } = await vision.hauler.push({
    inboundFlow: { ticketNumber: 'IN-4711', updatedAt: '2026-01-31T08:33:12Z' },
    customFields: { truckNumber: 'TRUCK-7' },
    materials: [{ id: idOf('debris'), name: 'Clean <fill>', quantity: 12.48, unitOfMeasure: 'Ton' }],
  });
  ticketId = body.disposalTicketId;
  const { recordingIds } = await vision.becomes(await vision.order(), { status: 'stored' });
  recordingId = recordingIds[0] ?? '';
});

const post = (body: Plain, id = recordingId) => admin<Share>('POST', `/recordings/${id}/shares`, body);
async function share(fields: Plain = {}): Promise<Share> {
  const { status, body, headers } = await post({ reason: 'Dispute 4711', ticketId, ...fields });
  expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
  return body;
}
const sharesNow = async () => (await administer<{ data: Share[] }>('GET', `/recordings/${recordingId}/shares`)).data;
const byId = async (id: string) => (await sharesNow()).find((each) => each.id === id);

/** The playbacks of a link. */
async function viewsOf({ id }: Share): Promise<Plain[]> {
  const { data } = await administer<{ data: Plain[] }>(
    'GET',
    `/actions?resource=recording:${recordingId}&pageSize=100`,
  );
  return data.filter(({ changes }) => (changes as Plain | undefined)?.['share'] === id);
}

/** What the button of the page sends. */
const press = (url: string) => fetch(url, { method: 'POST', body: new URLSearchParams() });
/** The address of the video in a page. */
const videoIn = (page: string, base: string): string =>
  new URL((/<video[^>]* src="([^"]*)"/.exec(page)?.[1] ?? '').replaceAll('&amp;', '&'), base).href;
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

/** The answer as its reader sees it. */
async function answerOf(url: string) {
  const response = await fetch(url);
  const headers = Object.fromEntries(response.headers);
  for (const name of ['date', 'x-request-id', 'connection', 'keep-alive']) delete headers[name];
  return { status: response.status, headers, text: await response.text() };
}

describe('a link to a recording', () => {
  test('opens a page with the player and the ticket, and with nothing else', async () => {
    const made = await share();
    expect(made).toMatchObject({ recordingId, ticketId, status: 'active', views: 0, lastViewedAt: null });
    expect(Date.parse(made.expiresAt) - Date.now()).toBeGreaterThan(13.9 * 86_400_000);
    const page = await press(made.url);
    expect(page.status).toBe(200);
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': expect.stringContaining('noindex'),
      'content-security-policy': expect.stringMatching(/^default-src 'none'; media-src 'self'; style-src 'sha256-/),
    });
    const text = await page.text();
    for (const part of ['IN-4711', 'Pit &lt;b&gt;&quot;North&quot;&lt;/b&gt;', 'Clean &lt;fill&gt;', '12.48 Ton']) {
      expect(text).toContain(part);
    }
    expect(text).toContain('08:33:12 UTC, at 3:12 of the video');
    const hidden = ['<script', 'TRUCK-7', 'Dispute', recordingId, vision.hauler.id, 'customer-1', 'sig=secret'];
    for (const part of hidden) expect(text).not.toContain(part);
    const style = /<style>([^<]*)<\/style>/.exec(text)?.[1] ?? '';
    expect(page.headers.get('content-security-policy')).toContain(`'sha256-${hash('sha256', style, 'base64')}'`);
    const address = videoIn(text, made.url);
    expect(address).toMatch(/#t=182$/);
    const part = await fetch(address, { headers: { Range: 'bytes=10-19' } });
    expect([part.status, part.headers.get('cache-control')]).toEqual([206, 'no-store']);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(FILE.subarray(10, 20));
    expect((await fetch(address, { headers: { Range: `bytes=${FILE.length}-` } })).status).toBe(416);
  });

  test('is previewed any number of times: that is no view, and shows nothing of the ticket (decision 72)', async () => {
    const made = await share();
    const before = await viewsOf(made);
    expect((await fetch(made.url, { method: 'HEAD' })).status).toBe(200);
    for (const url of [made.url, `${made.url}/`, made.url]) {
      const asking = await fetch(url);
      expect([asking.status, asking.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(asking.headers.get('content-security-policy')).toContain("form-action 'self'");
      const text = await asking.text();
      expect(text).toMatch(/<form method="post">\s*<button type="submit">Show the recording<\/button>/);
      for (const hidden of ['<video', '<script', 'IN-', 'Pit', 'signature']) expect(text).not.toContain(hidden);
    }
    expect(await viewsOf(made)).toEqual(before);
    expect((await press(made.url)).status).toBe(200);
  });

  test('has each playback in the action log, with its link and address, once in ten minutes (decision 72)', async () => {
    const [made, other] = [await share(), await share()];
    for (const { url } of [made, made, other]) {
      const page = await (await press(`${url}/`)).text();
      const video = videoIn(page, `${url}/`);
      expect((await fetch(video, { headers: { Range: 'bytes=0-9' } })).status).toBe(206);
      expect((await fetch(video)).status).toBe(200);
    }
    const listed = await byId(made.id);
    expect(listed).toMatchObject({ views: 1, lastViewedAt: expect.any(String) });
    expect(listed).not.toHaveProperty('url');
    const views = await viewsOf(made);
    expect(views).toHaveLength(1);
    expect(views[0]).toMatchObject({
      ...{ action: 'share.viewed', actor: 'share' },
      changes: { share: made.id, address: expect.stringContaining('127.0.0.1') },
      sentence: expect.stringMatching(/^Someone with a link opened the recording of TRUCK-7, camera front of/),
    });
    expect(await viewsOf(other)).toHaveLength(1);
  });

  test('gets the same answer when it is mistyped, expired or revoked', async () => {
    const soon = new Date(Date.now() + 1_500).toISOString();
    const [expired, revoked] = [await share({ expiresAt: soon }), await share()];
    for (let i = 0; i < 2; i++) expect((await admin('DELETE', `/shares/${revoked.id}`)).status).toBe(204);
    await delay(Date.parse(soon) - Date.now() + 10);
    const mistyped = `${target.url}/shared/x`;
    const urls = [mistyped, expired.url, revoked.url, `${target.url}/shared/%00`, `${revoked.url}/content`];
    const answers = await Promise.all(urls.map(answerOf));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]).toMatchObject({ status: 404, text: expect.stringContaining('This link does not work') });
    const statuses = await Promise.all([expired, revoked].map(async ({ id }) => (await byId(id))?.status));
    expect(statuses).toEqual(['expired', 'revoked']);
  });

  test('plays no longer when it is revoked, also in a page that is open', async () => {
    const made = await share();
    const address = videoIn(await (await press(made.url)).text(), made.url);
    expect((await fetch(address)).status).toBe(200);
    await admin('DELETE', `/shares/${made.id}`);
    expect([(await fetch(address)).status, (await press(made.url)).status]).toEqual([404, 404]);
  });

  test('shows the ticket that is nearest in time where none is named', async () => {
    expect((await post({ reason: 'No setting' })).body.ticketId).toBeNull();
    const setting = { truckField: 'truckNumber', connectionId: vision.connectionId };
    await administer('PUT', `/haulers/${vision.hauler.id}/ticket-footage`, setting);
    expect((await post({ reason: 'With a setting' })).body.ticketId).toBe(ticketId);
  });

  test.each([
    ['a blank reason', 'reason', { reason: ' ' }],
    ['an end in the past', 'expiresAt', { expiresAt: inDays(-1) }],
    ['an end in more than 90 days', 'expiresAt', { expiresAt: inDays(91) }],
    ['an unknown ticket', 'ticketId', { ticketId: randomUUID() }],
  ])('is refused with %s', async (_, path, fields) => {
    const reply = await post({ reason: 'Dispute', ...fields });
    expect([reply.status, paths(reply)]).toEqual([400, [path]]);
  });

  test('to an unknown recording is 404', async () => {
    expect((await post({ reason: 'Dispute' }, randomUUID())).status).toBe(404);
  });
});
