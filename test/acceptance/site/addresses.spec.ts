import { beforeAll, describe, expect, test } from '@jest/globals';
import { type DnsServer, startDnsServer } from '../../support/dns-server.js';
import { eventually } from '../../support/eventually.js';
import { held } from '../../support/held.js';
import { redirects, type ScriptedPartner, startScriptedPartner } from '../../support/scripted-partner.js';
import { CONTINUOUS, element, inHours, lists } from '../../support/scripted-vision.js';
import { Hauler, ONE_SITE, SITES_ROUTE, TICKET } from '../support/hauler.js';
import { type OwnService, ownDatabase, startOwnService } from '../support/service.js';
import { answers } from '../support/site.js';
import { admin } from '../support/target.js';
import { VisionScene } from '../support/vision.js';

interface Check {
  readonly reachable: boolean;
  readonly findings: readonly string[];
}

const PUBLIC = '93.184.216.34';
const PRIVATE = '10.0.0.5';

const DEFAULTS = {
  DateStyle: 'German',
  IntervalStyle: 'iso_8601',
  TimeZone: 'Asia/Kathmandu',
  search_path: 'elsewhere',
  extra_float_digits: '-15',
  default_transaction_isolation: 'serializable',
  jit_above_cost: '0',
};
/** It calls private addresses too. */
let open: OwnService;
beforeAll(async () => {
  const { url: databaseUrl } = await ownDatabase({ defaults: DEFAULTS });
  open = await startOwnService({ databaseUrl });
}, 120_000);

test('a database with other defaults than PostgreSQL changes no answer (decision 61)', async () => {
  const hauler = await Hauler.create({ sites: ONE_SITE, service: open });
  const inboundFlow = { ticketNumber: "back\\slash, 'quote' and 日本", updatedAt: '2026-01-02T03:04:05.678Z' };
  const [line] = TICKET.materials;
  const pushed = await hauler.push({ inboundFlow, materials: [{ ...line, quantity: 0.30000000000000004 }] });
  expect(pushed.status).toBe(200);
  const { body } = await admin<{ createdAt: string }>(
    'GET',
    `/tickets/${pushed.body.disposalTicketId}`,
    undefined,
    open,
  );
  expect(body).toMatchObject({ inboundFlow, materials: [{ quantity: 0.30000000000000004 }] });
  expect(Math.abs(Date.parse(body.createdAt) - Date.now())).toBeLessThan(300_000);
});

describe('a service that calls public addresses only', () => {
  let strict: OwnService;
  let dns: DnsServer;
  let hauler: Hauler;
  /** Listens on this machine, and must not be called. */
  let trap: ScriptedPartner;
  let links: VisionScene;
  const LINKS = () => [
    ['a private address', `https://127.0.0.1:${new URL(trap.url).port}/a.mp4`, 'not a public one'],
    [
      'a name that leads to a private address',
      `https://inner.example:${new URL(trap.url).port}/a.mp4`,
      'not a public one',
    ],
  ];
  beforeAll(async () => {
    trap = await startScriptedPartner();
    dns = await startDnsServer(0);
    held(() => dns.close());
    dns.answer('mixed.example', [PUBLIC, PRIVATE]);
    dns.answer('inner.example', ['127.0.0.1']);
    // The partner of the links is on this machine: they were listed while private addresses were allowed.
    links = await VisionScene.create({ service: open });
    const chunks = LINKS().map(([id, downloadUrl], n) =>
      element({
        id,
        downloadUrl,
        startTime: inHours(-1 - n / 10),
        endTime: inHours(-1 - n / 10 + 0.05),
        durationSeconds: 180,
      }),
    );
    links.partner.on(
      CONTINUOUS,
      lists('recordings', () => chunks),
    );
    await links.follow({ startTime: inHours(-2) });
    await eventually(async () => expect(await links.recordings()).toHaveLength(2));
    await open.end();
    trap.asked.length = 0;
    const env = { OUTBOUND_ALLOW_PRIVATE: 'false', OUTBOUND_NAME_SERVERS: `127.0.0.1:${dns.port}` };
    strict = await startOwnService({ beside: open, env });
    hauler = await Hauler.create({ service: strict });
  }, 120_000);

  const save = (baseUrl: string) =>
    admin<{ id: string; error?: { details: { violations: { path: string }[] } } }>(
      'POST',
      '/connections',
      { haulerId: hauler.id, interface: 'site', baseUrl, apiKey: 'a-key', enabled: false },
      strict,
    );
  const check = async (id: string): Promise<Check> =>
    (await admin<Check>('POST', `/connections/${id}/check`, undefined, strict)).body;

  test.each([
    'http://partner.example.com',
    'https://127.0.0.1',
    'https://[::1]',
    'https://[::ffff:127.0.0.1]',
    'https://2130706433',
    'https://169.254.169.254',
    'https://localhost',
    'https://10.1.2.3:8443/api',
    'https://user:password@partner.example.com',
    'https://inner.example',
    'https://mixed.example',
  ])('saves no connection to %s (decision 50)', async (baseUrl) => {
    const { status, body } = await save(baseUrl);
    expect([status, body.error?.details.violations.map(({ path }) => path)]).toEqual([400, ['baseUrl']]);
  });

  test('does not call a name that leads to a private address after it was saved (decision 50)', async () => {
    const { port } = new URL(trap.url);
    dns.answer('rebinding.example', [PUBLIC], ['127.0.0.1']);
    const { status, body } = await save(`https://rebinding.example:${port}`);
    expect(status).toBe(201);
    const { reachable, findings } = await check(body.id);
    expect([reachable, findings.join()]).toEqual([false, expect.stringContaining('not a public one')]);
    expect(trap.asked).toEqual([]);
  });

  test('does not open a link to a private address, and names the reason (decision 50)', async () => {
    const listed = async () => {
      const path = `/recordings?connectionId=${links.connectionId}`;
      return (
        await admin<{ data: { id: string; partnerRecordingId: string; status: string; reason?: string }[] }>(
          'GET',
          path,
          undefined,
          strict,
        )
      ).body.data;
    };
    for (const { id } of await listed()) await admin('POST', `/recordings/${id}/retry`, undefined, strict);
    for (const [id, , reason] of LINKS()) {
      await eventually(async () => {
        const found = (await listed()).find(({ partnerRecordingId }) => partnerRecordingId === id);
        expect(found).toMatchObject({ reason: expect.stringContaining(reason ?? '') });
      });
    }
    expect(trap.asked).toEqual([]);
  });
});

describe('a redirect', () => {
  test('is not followed by a call of an interface (decision 50)', async () => {
    const trap = await startScriptedPartner();
    const hauler = await Hauler.create();
    await answers(hauler, redirects(`${trap.url}/scale-platform/v1/sites`, 307));
    expect(await hauler.sync()).toMatchObject({ status: 'failed', error: expect.stringContaining('redirect (307)') });
    expect([(await hauler.siteConnection()).partner.askedOf(SITES_ROUTE).length, trap.asked]).toEqual([1, []]);
  });

  test('of a link is checked as the link itself: an address with a password is refused (decision 50)', async () => {
    const trap = await startScriptedPartner();
    const vision = await VisionScene.create();
    const target = trap.url.replace('http://', 'http://user:password@');
    const link = vision.partner.link(
      Buffer.alloc(1),
      (_, response) => void response.writeHead(302, { Location: target }).end(),
    );
    const chunk = element({ downloadUrl: link, startTime: inHours(-1), endTime: inHours(-0.9) });
    vision.partner.on(
      CONTINUOUS,
      lists('recordings', () => [chunk]),
    );
    await vision.follow({ startTime: inHours(-2) });
    await vision.recordingsBecome([{ status: 'failed', reason: expect.stringContaining('user name') }]);
    expect(trap.asked).toEqual([]);
  });
});
