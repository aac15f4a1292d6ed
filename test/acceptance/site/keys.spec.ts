import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  json,
  refuses,
  type ScriptedPartner,
  type ScriptedReply,
  startScriptedPartner,
} from '../../support/scripted-partner.js';
import { CONTINUOUS, inHours } from '../../support/scripted-vision.js';
import { site } from '../../support/site-data.js';
import { Hauler, type Plain, PARTNER_KEY, SITES_ROUTE } from '../support/hauler.js';
import { answers, connectionOf, issuesOf, runsOf } from '../support/site.js';
import { admin, administer } from '../support/target.js';
import { VisionScene } from '../support/vision.js';

const NEXT_KEY = 'the-next-key-that-the-partner-issued';
const RIGHT = json({ success: true, data: { sites: [site('a')] } });

/** A partner that accepts this key alone. */
const accepts =
  (key: string): ScriptedReply =>
  (response, request) =>
    (request.headers['api-key'] === key ? RIGHT : refuses(401, 'UNAUTHORIZED'))(response, request);

const keysAt = ({ asked }: ScriptedPartner): unknown[] => asked.map(({ headers }) => headers['api-key']);

describe('the two slots of the key of a partner', () => {
  async function withBoth() {
    const hauler = await Hauler.create();
    const { partner, connectionId } = await hauler.siteConnection();
    await admin('PATCH', `/connections/${connectionId}`, { nextApiKey: NEXT_KEY });
    const hasNext = async () => (await connectionOf(hauler, connectionId)).hasNextApiKey;
    return { hauler, partner, hasNext };
  }

  test('are tried on 401 one after the other, and the next key is promoted when it works (decision 18)', async () => {
    const { hauler, partner, hasNext } = await withBoth();
    partner.on(SITES_ROUTE, accepts(NEXT_KEY));
    expect((await hauler.sync()).status).toBe('succeeded');
    expect([keysAt(partner), await hasNext()]).toEqual([[PARTNER_KEY, NEXT_KEY], false]);
    await hauler.sync();
    expect(keysAt(partner).slice(2)).toEqual([NEXT_KEY]);
  });

  test('keep both keys while the current one works, or neither does (decision 18)', async () => {
    const { hauler, partner, hasNext } = await withBoth();
    partner.on(SITES_ROUTE, accepts(PARTNER_KEY));
    expect((await hauler.sync()).status).toBe('succeeded');
    expect([keysAt(partner), await hasNext()]).toEqual([[PARTNER_KEY], true]);
    partner.on(SITES_ROUTE, accepts('a third key'));
    expect(await hauler.sync()).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('neither our current nor our next API key'),
    });
    expect(await hasNext()).toBe(true);
  });
});

test('the next key is promoted where the partner answers it with 204, an empty list (decisions 18, 38)', async () => {
  const vision = await VisionScene.create();
  const { partner, connectionId } = vision;
  partner.on(CONTINUOUS, (response, { headers }) => {
    response.writeHead(headers['api-key'] === NEXT_KEY ? 204 : 401).end();
  });
  await admin('PATCH', `/connections/${connectionId}`, { nextApiKey: NEXT_KEY });
  await vision.isRead(await vision.follow({ startTime: inHours(-1) }));
  expect((await admin<Plain>('GET', `/connections/${connectionId}`)).body.hasNextApiKey).toBe(false);
  expect(keysAt(partner)).toContain(NEXT_KEY);
});

test('the key of a partner is in no answer, wherever the partner echoes it (decisions 18, 59)', async () => {
  const hauler = await Hauler.create();
  const { connectionId } = await hauler.siteConnection();
  const record = site('a', { name: [PARTNER_KEY], [PARTNER_KEY]: `x${PARTNER_KEY}` });
  await answers(hauler, json({ success: true, data: { sites: [record] } }));
  const issues = await issuesOf(hauler, await hauler.sync());
  expect(issues).toHaveLength(1);
  await answers(
    hauler,
    refuses(400, 'INVALID_PAYLOAD', `bad key ${PARTNER_KEY} or ${Buffer.from(PARTNER_KEY).toString('base64')}`),
  );
  expect((await hauler.sync()).error).toContain('[redacted]');
  const check = await admin('POST', `/connections/${connectionId}/check`);
  const { data: exchanges } = await administer<{ data: { id: string }[] }>(
    'GET',
    `/exchanges?connectionId=${connectionId}&pageSize=100`,
  );
  expect(exchanges.length).toBeGreaterThan(1);
  const pages = await Promise.all([
    admin('GET', `/connections/${connectionId}`),
    admin('GET', `/connections?haulerId=${hauler.id}`),
    ...exchanges.map(({ id }) => admin('GET', `/exchanges/${id}`)),
    admin('GET', '/attention'),
    admin('GET', '/actions?pageSize=100'),
  ]);
  const shown = JSON.stringify([issues, await runsOf(hauler), check.text, ...pages.map(({ text }) => text)]);
  expect(shown).not.toContain(PARTNER_KEY);
  expect(shown).not.toContain(Buffer.from(PARTNER_KEY).toString('base64'));
});

describe('the key of a partner and its origin', () => {
  let hauler: Hauler;
  let first: ScriptedPartner;
  let other: ScriptedPartner;
  beforeAll(async () => {
    hauler = await Hauler.create();
    [first, other] = [(await hauler.siteConnection()).partner, await startScriptedPartner()];
  });
  const connect = (baseUrl: string) => hauler.connect({ interface: 'site', baseUrl, enabled: false });
  const change = (id: string, body: Plain) => admin<{ hasNextApiKey: boolean }>('PATCH', `/connections/${id}`, body);
  const NEEDS_KEY = {
    status: 400,
    body: { error: { code: 'INVALID_PAYLOAD', details: { violations: [{ path: 'apiKey' }] } } },
  };

  test('another port needs the key in the same call, and the stored key is never sent there (decision 56)', async () => {
    const id = await connect(first.url);
    await change(id, { nextApiKey: NEXT_KEY });
    for (const more of [{}, { nextApiKey: NEXT_KEY }, { enabled: true }]) {
      expect(await change(id, { baseUrl: other.url, ...more })).toMatchObject(NEEDS_KEY);
    }
    const moved = await change(id, { baseUrl: other.url, apiKey: 'the-key-of-the-other' });
    expect(moved).toMatchObject({ status: 200, body: { hasNextApiKey: false } });
    await hauler.sync(undefined, id);
    expect(keysAt(other)).toEqual(['the-key-of-the-other']);
  });

  test.each([
    ['https://partner.example.com', 'http://partner.example.com'],
    ['https://partner.example.com', 'https://partner.example.com:8443'],
    ['https://partner.example.com', 'https://www.partner.example.com'],
    ['https://partner.example.com', 'https://partner.example.com.'],
    ['http://127.0.0.1:1', 'http://localhost:1'],
  ])('%s and %s are two origins (decision 56)', async (saved, baseUrl) => {
    expect(await change(await connect(saved), { baseUrl })).toMatchObject(NEEDS_KEY);
  });

  test.each([
    ['https://partner.example.com', 'https://PARTNER.example.com:443/tenant/7/'],
    ['http://127.0.0.1:1/a', 'http://127.1:1'],
    ['https://müller.example', 'https://xn--mller-kva.example/v2'],
  ])('%s and %s are one origin (decision 56)', async (saved, baseUrl) => {
    expect((await change(await connect(saved), { baseUrl })).status).toBe(200);
  });
});
