import { hash, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Action } from '../../../src/contracts/admin/action.dto.js';
import type { CreatedRecordingShare, RecordingShare } from '../../../src/contracts/admin/share.dto.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { CatalogFixture } from '../../support/catalog.js';
import { storeTicket } from '../../support/footage-scene.js';
import { sampleVideo } from '../../support/sample-video.js';
import { accepts, element, POST } from '../../support/scripted-vision.js';
import { useVision } from '../../support/vision-scene.js';

const vision = useVision();
const video = sampleVideo();

/** A stored clip of five minutes from 08:30 on, and its ticket. */
let recordingId: string;
let ticketId: string;
beforeEach(async () => {
  const connectionId = await vision.connect();
  vision.partner.on(POST, accepts({ requestId: 'req-share' }));
  vision.listVideos(() => [element({ requestId: 'req-share', downloadUrl: vision.partner.link(video) })]);
  const { recordingIds } = await vision.becomes(await vision.order(connectionId), { status: 'stored' });
  recordingId = recordingIds[0] ?? '';
  ticketId = await storeTicket(vision.app, vision.haulerId, { inbound: '2026-01-31T08:33:12Z' });
  const [ticket] = await vision.query<{ site: string }>('SELECT site_id AS site FROM tickets WHERE id = $1', [
    ticketId,
  ]);
  await new CatalogFixture(vision.app.dataSource).site(vision.haulerId, { id: ticket?.site ?? '' });
  await vision.query('UPDATE sites SET name = \'Pit <b>"North"</b>\'');
});

const post = (body: object, id = recordingId) =>
  vision.app.admin<CreatedRecordingShare>('POST', `/recordings/${id}/shares`, body);

async function share(fields: object = {}): Promise<CreatedRecordingShare> {
  const { status, body, headers } = await post({ reason: 'Dispute 4711', ticketId, ...fields });
  expect(status).toBe(201);
  expect(headers.get('cache-control')).toBe('no-store');
  return body;
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
  test('shows player and ticket, and plays in ranges; nothing else is shown', async () => {
    const made = await share();
    expect(made).toMatchObject({ recordingId, ticketId, status: 'active', views: 0, maxViews: null });
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
    expect(text).toContain(`IN-${ticketId}`);
    expect(text).toContain('Pit &lt;b&gt;&quot;North&quot;&lt;/b&gt;');
    expect(text).toContain('Clean &lt;fill&gt;');
    expect(text).toContain('12.48 Ton');
    expect(text).toContain('08:33:12 UTC, at 3:12 of the video');
    for (const hidden of ['<script', 'TRUCK-7', 'Dispute', recordingId, vision.haulerId, 'customer-1', 'sig=secret']) {
      expect(text).not.toContain(hidden);
    }
    const style = /<style>([^<]*)<\/style>/.exec(text)?.[1] ?? '';
    expect(page.headers.get('content-security-policy')).toContain(`'sha256-${hash('sha256', style, 'base64')}'`);
    const address = videoIn(text, made.url);
    expect(address).toMatch(/#t=182$/);
    const part = await fetch(address, { headers: { Range: 'bytes=10-19' } });
    expect([part.status, part.headers.get('cache-control')]).toEqual([206, 'no-store']);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(video.subarray(10, 20));
    expect((await fetch(address, { headers: { Range: `bytes=${video.length}-` } })).status).toBe(416);
  });

  test('is opened by any number of previews, which count nothing and see nothing of the ticket', async () => {
    const made = await share({ maxViews: 1 });
    expect((await fetch(made.url, { method: 'HEAD' })).status).toBe(200);
    for (const url of [made.url, `${made.url}/`, made.url]) {
      const asking = await fetch(url);
      expect([asking.status, asking.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(asking.headers.get('content-security-policy')).toContain("form-action 'self'");
      const text = await asking.text();
      expect(text).toMatch(/<form method="post">\s*<button type="submit">Show the recording<\/button>/);
      for (const hidden of ['<video', '<script', 'IN-', 'Pit', 'signature']) expect(text).not.toContain(hidden);
    }
    const { body } = await vision.app.admin<{ data: RecordingShare[] }>('GET', `/recordings/${recordingId}/shares`);
    expect(body.data).toMatchObject([{ id: made.id, status: 'active', views: 0, lastViewedAt: null }]);
    expect((await press(made.url)).status).toBe(200);
    expect((await fetch(made.url)).status).toBe(404);
    expect((await press(made.url)).status).toBe(404);
  });

  test('counts each time that it is shown, and the action log has it with time and address', async () => {
    const made = await share({ maxViews: 5 });
    await press(made.url);
    await press(`${made.url}/`).then(async (page) => {
      expect((await fetch(videoIn(await page.text(), `${made.url}/`))).status).toBe(200);
    });
    const { body: list } = await vision.app.admin<{ data: RecordingShare[] }>(
      'GET',
      `/recordings/${recordingId}/shares`,
    );
    expect(list.data).toMatchObject([{ id: made.id, views: 2, maxViews: 5, lastViewedAt: expect.any(String) }]);
    expect(list.data[0]).not.toHaveProperty('url');
    const resource = `resource=recording:${recordingId}`;
    const { body } = await vision.app.admin<{ data: Action[] }>('GET', `/actions?${resource}`);
    expect(body.data.map(({ action }) => action)).toEqual(['share.viewed', 'share.viewed', 'createRecordingShare']);
    expect(body.data[0]).toMatchObject({
      actor: 'share',
      changes: { share: made.id, view: 2, address: '127.0.0.1' },
      sentence: 'Someone with a link opened the recording of TRUCK-7, camera front of Test from 127.0.0.1.',
    });
  });

  test('looks the same unknown, mistyped, expired, revoked and used up', async () => {
    const [expired, revoked, used] = [await share(), await share(), await share({ maxViews: 1 })];
    await vision.query("UPDATE recording_shares SET expires_at = now() - interval '1 second' WHERE id = $1", [
      expired.id,
    ]);
    const { app } = vision;
    expect((await app.admin('DELETE', `/shares/${revoked.id}`)).status).toBe(204);
    expect((await app.admin('DELETE', `/shares/${revoked.id}`)).status).toBe(204);
    await press(used.url);
    const { url: unknown } = await share();
    await vision.query('DELETE FROM recording_shares WHERE views = 0 AND revoked_at IS NULL AND expires_at > now()');
    const answers = await Promise.all(
      [
        unknown,
        expired.url,
        revoked.url,
        used.url,
        `${app.url}/shared/x`,
        `${app.url}/shared/%00`,
        `${unknown}/content`,
      ].map(answerOf),
    );
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]).toMatchObject({ status: 404, text: expect.stringContaining('This link does not work') });
    const { body } = await app.admin<{ data: RecordingShare[] }>('GET', '/shares');
    const statuses = new Map(body.data.map(({ id, status }) => [id, status]));
    expect([expired, revoked, used].map(({ id }) => statuses.get(id))).toEqual(['expired', 'revoked', 'usedUp']);
  });

  test('plays only by the address of a counted view, and no longer when it is revoked', async () => {
    const made = await share({ maxViews: 1 });
    const address = videoIn(await (await press(made.url)).text(), made.url);
    expect((await press(made.url)).status).toBe(404);
    expect((await fetch(address)).status).toBe(200);
    const changed = new URL(address);
    changed.searchParams.set('expires', String(Number(changed.searchParams.get('expires')) + 1));
    const other = await share();
    const ofOther = new URL(address);
    ofOther.pathname = `${new URL(other.url).pathname}/content`;
    for (const refused of [`${made.url}/content`, changed.href, ofOther.href]) {
      expect((await fetch(refused)).status).toBe(404);
    }
    await vision.app.admin('DELETE', `/shares/${made.id}`);
    expect((await fetch(address)).status).toBe(404);
  });

  test('is shown no more often than it may be, on two instances at the same time', async () => {
    const second: TestApp = await startTestApp({
      on: vision.app,
      env: { PUBLIC_URL: 'https://platform.example/base/' },
    });
    try {
      const made = await share({ maxViews: 3 });
      const { pathname } = new URL(made.url);
      const origins = [vision.app.url, second.url];
      const answers = await Promise.all(Array.from({ length: 16 }, (_, i) => press(`${origins[i % 2]}${pathname}`)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
      const { body } = await second.admin<CreatedRecordingShare>('POST', `/recordings/${recordingId}/shares`, {
        reason: 'Behind a proxy',
      });
      expect(body.url).toMatch(/^https:\/\/platform\.example\/base\/shared\/hb_\w{49}$/);
    } finally {
      await second.close();
    }
  });

  test('shows the ticket that is nearest in time where none is named, and no page without a file', async () => {
    const { app, haulerId, connectionId } = vision;
    const { body: without } = await post({ reason: 'No setting' });
    expect(without.ticketId).toBeNull();
    await app.admin('PUT', `/haulers/${haulerId}/ticket-footage`, { truckField: 'truckNumber', connectionId });
    expect((await post({ reason: 'With a setting' })).body.ticketId).toBe(ticketId);
    expect((await press(without.url)).status).toBe(200);
    await vision.query("UPDATE recordings SET status = 'expired', deleted_at = now() WHERE id = $1", [recordingId]);
    for (const open of [press, fetch]) expect((await open(without.url)).status).toBe(404);
    expect((await post({ reason: 'Too late' })).status).toBe(409);
  });

  test.each([
    ['reason', () => ({ reason: ' ' })],
    ['expiresAt', () => ({ expiresAt: inDays(-1) })],
    ['expiresAt', () => ({ expiresAt: inDays(91) })],
    ['maxViews', () => ({ maxViews: 0 })],
    ['ticketId', () => ({ ticketId: randomUUID() })],
  ])('is refused with a wrong %s', async (path, fields) => {
    const { status, body } = await post({ reason: 'Dispute', ...fields() });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { details: { violations: [{ path }] } } });
    expect((await post({ reason: 'Dispute' }, randomUUID())).status).toBe(404);
  });

  test('cannot be guessed quickly; one that works is opened nevertheless', async () => {
    const made = new URL((await share()).url);
    // An instance counts by itself: the other cases keep their guesses.
    const other = await startTestApp({ on: vision.app });
    try {
      const { url } = other;
      const statuses: number[] = [];
      for (let i = 0; i < 70; i++) statuses.push((await fetch(`${url}/shared/guess-${randomUUID()}`)).status);
      expect(statuses.at(-1)).toBe(429);
      expect(new Set(statuses)).toEqual(new Set([404, 429]));
      expect((await fetch(url + made.pathname)).status).toBe(200);
    } finally {
      await other.close();
    }
  });
});
