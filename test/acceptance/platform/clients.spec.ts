import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  ApiError,
  type CallError,
  ConnectionError,
  createClient,
  exact,
} from '../../../clients/typescript/haulbridge.js';
import { raw, type ScriptedPartner, type ScriptedReply, startScriptedPartner } from '../../support/scripted-partner.js';
import { idOf } from '../../support/site-data.js';
import { Hauler, ONE_SITE, TICKET } from '../support/hauler.js';
import { administer, listed, target } from '../support/target.js';

const PUSH = 'POST /platform-api/v1/tickets';
const body = { ...TICKET, inboundFlow: undefined } as never;

describe('our client and the service', () => {
  let hauler: Hauler;
  beforeAll(async () => void (hauler = await Hauler.create({ sites: ONE_SITE })));
  const fault = (name: string, more: object) =>
    administer('PUT', `/sandbox/haulers/${hauler.id}/scenarios/${name}`, more);
  const clientOf = async () => createClient({ url: target.url, key: await hauler.key(), retries: 4 });

  test('a ticket whose answer was lost is sent again with its key, and stored once (decision 16)', async () => {
    const client = await clientOf();
    await fault('answer-lost', { times: 1 });
    const first = await client.createTicket(body, { idempotencyKey: 'client-1' });
    const again = await client.createTicket(body, { idempotencyKey: 'client-1' });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
    expect(await listed(`/tickets?haulerId=${hauler.id}`)).toHaveLength(1);
  });

  test('429 and 503 are waited for; a 409 names the existing account (decision 28)', async () => {
    const client = await clientOf();
    for (const name of ['too-many-requests', 'unavailable'])
      await fault(name, { times: 1, parameters: { seconds: 0 } });
    const { body: created } = await client.createAccount({ accountName: 'Lone Star' });
    const error = await client.createAccount({ accountName: 'lone  star' }).catch((each: unknown) => each);
    expect(error).toMatchObject({ status: 409, reason: 'NAME_TAKEN', attempts: 1 });
    expect((error as ApiError).details).toMatchObject({ accountId: created.accountId });
  });
});

/** What the service never sends: a gateway, a host that is silent, a date in `Retry-After`. */
describe('our client and other answers', () => {
  let partner: ScriptedPartner;
  beforeAll(async () => void (partner = await startScriptedPartner()));
  beforeEach(() => partner.reset());
  afterAll(() => partner.stop());
  const push = (material: object = {}, options = {}) => {
    const materials = [{ ...TICKET.materials[0], ...material }];
    const client = createClient({ url: partner.url, key: 'k' });
    return client
      .createTicket({ ...TICKET, materials } as never, options)
      .catch((error: unknown) => error as CallError);
  };
  const OK = JSON.stringify({ success: true, disposalTicketId: idOf('ticket') });
  const NOW = { 'Retry-After': '0' };
  /** These answers, and success after them. */
  const answers = (...given: ScriptedReply[]) => partner.on(PUSH, ...given, raw(OK));

  test('every attempt has the same key and body; a gateway, a past date and a cut answer are sent again (decision 16)', async () => {
    const past = { 'Retry-After': new Date(Date.now() - 5_000).toUTCString() };
    answers(
      raw('<h1>Bad gateway</h1>', { status: 502, headers: past }),
      raw('', { status: 503, headers: past }),
      raw('{"success":', { headers: NOW }),
    );
    expect(await push()).toMatchObject({ status: 200, body: { success: true } });
    expect(partner.asked).toHaveLength(4);
    const sent = partner.asked.map(
      ({ headers, body: text }) => `${String(headers['idempotency-key'])} ${String(text)}`,
    );
    expect(new Set(sent).size).toBe(1);
    expect(sent[0]).toMatch(/^[0-9a-f-]{36} \{/);
  });

  test('a Retry-After of an hour ends the call at once, and the error has the key for later (decision 16)', async () => {
    answers(raw('{}', { status: 429, headers: { 'Retry-After': '3600' } }));
    const error = await push();
    expect(error).toMatchObject({ status: 429, attempts: 1, idempotencyKey: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(partner.asked).toHaveLength(1);
  });

  test('a host that is silent, or refuses, ends as an unknown result with its attempts (decision 16)', async () => {
    partner.on(PUSH, () => undefined);
    const silent = await push({}, { timeout: 200, retries: 0 });
    expect(silent).toBeInstanceOf(ConnectionError);
    expect((silent as Error).message).toBe('createTicket: no whole answer within 200 ms');
    const refused = createClient({ url: 'http://127.0.0.1:1', key: 'k', retries: 0 });
    await expect(refused.getSites({ haulerId: idOf('hauler') })).rejects.toThrow('no answer from http://127.0.0.1:1');
  });

  test('a request for a clip has no key: it is sent again after 503 alone (section 4.4 500)', async () => {
    const path = 'POST /video-platform/v1/videos/requests';
    const order = { customerId: 'c', truckId: 't', cameraId: 'f', startTime: 'a', endTime: 'b' };
    const client = createClient({ url: partner.url, key: 'k' });
    partner.on(path, raw('{}', { status: 500, headers: NOW }));
    await expect(client.requestVideo(order)).rejects.toBeInstanceOf(ApiError);
    expect(partner.asked).toHaveLength(1);
    partner.reset();
    partner.on(path, raw('{}', { status: 503, headers: NOW }));
    await expect(client.requestVideo(order)).rejects.toBeInstanceOf(ApiError);
    expect(partner.asked).toHaveLength(4);
    expect(partner.asked[0]?.headers['idempotency-key']).toBeUndefined();
  });

  test('numbers keep their digits; NaN is refused before it is sent (decision 6)', async () => {
    answers();
    for (const digits of ['12.480', '0.1000000000000000055511151231257827', '-0.00', '1E+3', '9007199254740993']) {
      await push({ quantity: exact(digits) });
      expect(String(partner.asked.at(-1)?.body)).toContain(`"quantity":${digits},`);
    }
    const before = partner.asked.length;
    await expect(push({ quantity: Number.NaN })).resolves.toBeInstanceOf(TypeError);
    expect(partner.asked).toHaveLength(before);
  });
});
