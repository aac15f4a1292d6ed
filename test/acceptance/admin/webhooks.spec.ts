import { afterEach, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { eventually } from '../../support/eventually.js';
import {
  type AskedRequest,
  raw,
  redirects,
  type ScriptedReply,
  startScriptedPartner,
} from '../../support/scripted-partner.js';
import { type ErrorBody, flow, Hauler, ONE_SITE, type Plain, TICKET } from '../support/hauler.js';
import { admin, administer, call, listed } from '../support/target.js';

interface Delivery {
  readonly id: string;
  readonly topic: string;
  readonly status: string;
  readonly attempts: number;
  readonly nextAt: string | null;
  readonly body: string;
}

const answers = (status: number, headers: Record<string, string> = {}, body = ''): ScriptedReply =>
  raw(body, { status, headers });

/** A hauler with an endpoint whose receiver answers one after the other; the last answer is repeated. */
class Scene {
  static readonly open = new Set<Scene>();
  private constructor(
    readonly hauler: Hauler,
    readonly endpointId: string,
    readonly secret: string,
    readonly received: () => AskedRequest[],
    readonly answer: (...replies: ScriptedReply[]) => void,
  ) {}

  static async start(more: Plain = {}, ...replies: ScriptedReply[]): Promise<Scene> {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const host = await startScriptedPartner();
    const answer = (...next: ScriptedReply[]) => host.on('POST /hook', ...next);
    answer(...(replies.length === 0 ? [answers(204)] : replies));
    const body = {
      url: `${host.url}/hook`,
      topics: ['ticket.created', 'ticket.updated'],
      haulerId: hauler.id,
      ...more,
    };
    const { id, secret } = await administer<{ id: string; secret: string }>('POST', '/webhook-endpoints', body);
    const scene = new Scene(hauler, id, secret, () => host.askedOf('POST /hook'), answer);
    Scene.open.add(scene);
    return scene;
  }

  deliveries(): Promise<Delivery[]> {
    return listed<Delivery>(`/webhook-deliveries?endpointId=${this.endpointId}`);
  }

  /** The newest delivery, when it is as expected. */
  becomes(expected: Plain): Promise<Delivery> {
    return eventually(async () => {
      const [newest] = await this.deliveries();
      expect(newest).toMatchObject(expected);
      return newest as Delivery;
    });
  }

  /** What is waiting is sent now. */
  async retry(): Promise<void> {
    const [newest] = await this.deliveries();
    await admin('POST', `/webhook-deliveries/${newest?.id ?? ''}/retry`);
  }

  change(body: Plain) {
    return admin('PATCH', `/webhook-endpoints/${this.endpointId}`, body);
  }
}

afterEach(async () => {
  for (const { endpointId } of Scene.open) await admin('DELETE', `/webhook-endpoints/${endpointId}`);
  Scene.open.clear();
});

const verified = (request: AskedRequest | undefined, secret: string): unknown =>
  new Webhook(secret).verify(request?.body ?? '', request?.headers as Record<string, string>);

describe('an event', () => {
  test('is delivered once, signed as Standard Webhooks says, with ids alone', async () => {
    const scene = await Scene.start();
    const { body } = await scene.hauler.push();
    const delivery = await scene.becomes({ topic: 'ticket.created', status: 'delivered', attempts: 1, nextAt: null });
    const [request, ...others] = scene.received();
    expect(others).toEqual([]);
    expect(request?.headers['webhook-id']).toBe(delivery.id);
    expect(verified(request, scene.secret)).toEqual({
      type: 'ticket.created',
      timestamp: expect.any(String),
      data: { haulerId: scene.hauler.id, ticketId: body.disposalTicketId },
    });
  });

  test('is of the hauler and the topics of its endpoint alone; a push that changes nothing is none', async () => {
    const [scene, other] = [await Scene.start(), await Scene.start({ topics: ['account.created'] })];
    for (const { hauler } of [other, scene, scene]) await hauler.push({ inboundFlow: flow('W-1', 1) });
    await scene.hauler.push({ inboundFlow: flow('W-1', 2) });
    await other.hauler.createAccount({ accountName: 'The only event of its endpoint' });
    await Promise.all([scene.becomes({ topic: 'ticket.updated' }), other.becomes({ topic: 'account.created' })]);
    expect((await scene.deliveries()).map(({ topic }) => topic)).toEqual(['ticket.updated', 'ticket.created']);
    expect(await other.deliveries()).toHaveLength(1);
  });

  test.each([
    [400, 'application/json', '{}'],
    [413, 'application/json', ' '.repeat(2 * 1024 * 1024)],
    [415, 'text/plain', '{}'],
    [422, 'application/json', JSON.stringify({ ...TICKET, siteId: '00000000-0000-4000-8000-000000000000' })],
  ])('of a push that is refused with %i names its request and its exchange', async (status, type, body) => {
    const scene = await Scene.start({ topics: ['ticket.refused'] });
    const headers = { 'PLATFORM-API-KEY': await scene.hauler.key(), 'Content-Type': type };
    const refused = await call('POST', '/platform-api/v1/tickets', { headers, body });
    expect(refused.status).toBe(status);
    const delivery = await scene.becomes({ topic: 'ticket.refused', status: 'delivered' });
    const requestId = refused.headers.get('x-request-id');
    const { data } = JSON.parse(delivery.body) as { data: Plain };
    expect(data).toEqual({ haulerId: scene.hauler.id, status, requestId, exchangeId: expect.any(String) });
    expect(await administer('GET', `/exchanges/${String(data['exchangeId'])}`)).toMatchObject({ status, requestId });
  });
});

describe('a receiver', () => {
  test('that fails is tried again with the same webhook-id, later each time (decision 54)', async () => {
    const scene = await Scene.start({}, answers(500, {}, 'no'), answers(204));
    const before = Date.now();
    await scene.hauler.push();
    const first = await scene.becomes({ status: 'pending', attempts: 1, reason: 'http-status' });
    expect(Date.parse(first.nextAt ?? '') - before).toBeGreaterThan(4_000);
    await scene.becomes({ id: first.id, status: 'delivered', attempts: 2 });
    expect(new Set(scene.received().map(({ headers }) => headers['webhook-id']))).toEqual(new Set([first.id]));
  });

  test('is obeyed when it sends Retry-After', async () => {
    const scene = await Scene.start({}, answers(429, { 'Retry-After': '120' }));
    const before = Date.now();
    await scene.hauler.push();
    const { nextAt } = await scene.becomes({ status: 'pending', attempts: 1, lastResponse: { status: 429 } });
    expect(Date.parse(nextAt ?? '') - before).toBeGreaterThan(100_000);
  });

  test('that answers 410 is disabled at once; enabled again, the failed delivery is retried by an admin (decision 54)', async () => {
    const scene = await Scene.start({}, answers(410, {}, 'gone away'));
    await scene.hauler.push();
    const { id } = await scene.becomes({ status: 'failed', reason: 'gone', attempts: 1 });
    const endpoint = await administer('GET', `/webhook-endpoints/${scene.endpointId}`);
    expect(endpoint).toMatchObject({ enabled: false, disabledReason: 'gone' });
    await scene.hauler.push();
    expect(await scene.deliveries()).toHaveLength(1);
    scene.answer(answers(204));
    expect((await scene.change({ enabled: true })).status).toBe(200);
    expect((await admin('POST', `/webhook-deliveries/${id}/retry`)).status).toBe(202);
    await scene.becomes({ id, status: 'delivered' });
  });

  test('that redirects is not followed, and what it answers is kept short and without secrets', async () => {
    const scene = await Scene.start({}, redirects('http://127.0.0.1:9/elsewhere'));
    await scene.hauler.push();
    await scene.becomes({ reason: 'redirected', lastResponse: { status: 302 } });
    const echo = await Scene.start({}, answers(500, {}, `{"token":"abcdefghijklmnop"}${'x'.repeat(5_000)}`));
    await echo.hauler.push();
    const { lastResponse } = (await echo.becomes({ attempts: 1, reason: 'http-status' })) as unknown as {
      lastResponse: { body: string };
    };
    expect(lastResponse.body).toMatch(/^\{"token":"\[redacted\]"\}x+$/);
    expect(lastResponse.body.length).toBeLessThanOrEqual(1_000);
  });
});

describe('an endpoint', () => {
  test('is tested at once, with the answer', async () => {
    const scene = await Scene.start({ enabled: false }, answers(418, {}, 'teapot'));
    const tested = await administer('POST', `/webhook-endpoints/${scene.endpointId}/test`);
    expect(tested).toMatchObject({ topic: 'webhook.test', status: 'failed', lastResponse: { status: 418 } });
    expect(verified(scene.received()[0], scene.secret)).toMatchObject({ type: 'webhook.test' });
  });

  test('signs with both secrets while one rotates, and shows each once', async () => {
    const scene = await Scene.start();
    const path = `/webhook-endpoints/${scene.endpointId}`;
    const rotate = (overlapSeconds: number) =>
      administer<{ secret: string }>('POST', `${path}/rotate-secret`, { overlapSeconds });
    const { secret } = await rotate(3_600);
    await scene.hauler.push();
    await eventually(() => expect(scene.received()).toHaveLength(1));
    for (const each of [scene.secret, secret]) expect(verified(scene.received()[0], each)).toBeDefined();
    await rotate(0);
    await scene.hauler.push();
    await eventually(() => expect(scene.received()).toHaveLength(2));
    expect(() => verified(scene.received()[1], secret)).toThrow();
    expect(JSON.stringify(await administer('GET', path))).not.toContain('whsec_');
  });

  test('that is paused gets what waited when it is resumed, and nothing of the time between', async () => {
    const scene = await Scene.start({}, answers(500), answers(204));
    await scene.hauler.push();
    const first = await scene.becomes({ attempts: 1 });
    await scene.change({ enabled: false });
    await scene.hauler.push();
    await scene.change({ enabled: true });
    await scene.retry();
    await scene.becomes({ id: first.id, status: 'delivered' });
    expect(await scene.deliveries()).toHaveLength(1);
  });

  test('that is deleted takes its deliveries with it', async () => {
    const scene = await Scene.start({}, answers(500));
    await scene.hauler.push();
    const { id } = await scene.becomes({ attempts: 1 });
    expect((await admin('DELETE', `/webhook-endpoints/${scene.endpointId}`)).status).toBe(204);
    expect((await admin('GET', `/webhook-deliveries/${id}`)).status).toBe(404);
  });

  test('of a partner gets the tickets of its hauler, and no topic that its key does not open (decision 1)', async () => {
    const scene = await Scene.start();
    const headers = { 'PLATFORM-API-KEY': await scene.hauler.issueKey({ interfaces: ['account'] }) };
    const body = { url: 'http://127.0.0.1:9/hook', topics: ['ticket.created'] };
    const refused = await call<ErrorBody>('POST', '/partner/v1/webhook-endpoints', { headers, body });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'INVALID_PAYLOAD']);
    const own = { headers, body: { ...body, topics: ['account.created'] } };
    expect((await call('POST', '/partner/v1/webhook-endpoints', own)).status).toBe(201);
    const foreign = await call('GET', `/partner/v1/webhook-endpoints/${scene.endpointId}`, { headers });
    expect(foreign.status).toBe(404);
  });
});
