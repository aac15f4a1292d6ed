import { beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { eventually } from '../../support/eventually.js';
import { held } from '../../support/held.js';
import { raw, type ScriptedPartner, startScriptedPartner } from '../../support/scripted-partner.js';
import { type ErrorBody, Hauler, type Plain } from '../support/hauler.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { admin, administer, call, listed } from '../support/target.js';

/** Messages for people, and the tests of an endpoint. */
interface Endpoint {
  readonly id: string;
  readonly url: string;
}

interface Delivery {
  readonly topic: string;
  readonly status: string;
  readonly reason: string | null;
  readonly attempts: number;
  readonly body: string;
}

const OPERATOR = 'token-of-the-desk-0123';
/** States are announced every 15 s. */
const ANNOUNCED_MS = 40_000;

const mails: { readonly to: string[]; readonly text: string }[] = [];
const LATER = 'later@example.com';
let hasRefused = false;

/** A mail server that refuses the first mail to `LATER`. */
async function mailServer(): Promise<string> {
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, session, done) => {
      text(stream).then((mail) => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        if (to.includes(LATER) && !hasRefused) {
          hasRefused = true;
          return done(Object.assign(new Error('try later'), { responseCode: 451 }));
        }
        // Lines of quoted-printable are joined.
        mails.push({ to, text: mail.replace(/=\r\n/g, '') });
        done();
      }, done);
    },
  });
  await once(smtp.listen(0, '127.0.0.1'), 'listening');
  held(() => new Promise<void>((resolve) => smtp.close(() => resolve())));
  return `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`;
}

let service: OwnService;
let host: ScriptedPartner;
const env = { PUBLIC_URL: 'https://haul.example', SMTP_FROM: 'alerts@example.com', SMTP_URL: '' };
beforeAll(async () => {
  env.SMTP_URL = await mailServer();
  host = await startScriptedPartner();
  service = await startOwnService({ env: { ...env, ADMIN_TOKENS: `desk:${OPERATOR}:operator` } });
});

const mailbox = (name: string) => ({ url: `mailto:${name}@example.com`, format: 'email' });
const channel = (name: string) => ({ url: `${host.url}/services/${name}`, format: 'slack' });
const create = (body: Plain) =>
  administer<Endpoint>('POST', '/webhook-endpoints', { topics: ['key.expiring'], ...body }, service);
const change = (id: string, body: Plain) =>
  admin<Endpoint & ErrorBody>('PATCH', `/webhook-endpoints/${id}`, body, service);
const deliveriesOf = ({ id }: Endpoint) => listed<Delivery>(`/webhook-deliveries?endpointId=${id}`, service);
const testOf = ({ id }: Endpoint) => administer<Delivery>('POST', `/webhook-endpoints/${id}/test`, undefined, service);
const violations = ({ error }: ErrorBody) => error.details?.violations ?? [];

/** The first characters behind `hb_` of a key that expires tomorrow: a state that lasts from now on. */
async function expiringKey(hauler: Hauler): Promise<string> {
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  return (await hauler.issueKey({ interfaces: ['account'], expiresAt })).slice(3, 9);
}

describe('a message for people', () => {
  let endpoints: Endpoint[];
  let prefixes: string[];
  let later: Endpoint;
  let refused: Promise<void>;
  /** Both cases wait for the same announcement. */
  beforeAll(async () => {
    host.on('POST /services/each', raw('ok'));
    const [hauler, other] = [await Hauler.create({ service }), await Hauler.create({ service })];
    const only = { haulerId: hauler.id };
    endpoints = [await create({ ...mailbox('dana'), ...only }), await create({ ...channel('each'), ...only })];
    later = await create({ ...mailbox('later'), haulerId: other.id });
    prefixes = [await expiringKey(hauler), await expiringKey(hauler)];
    await expiringKey(other);
    const expected = { status: 'pending', reason: 'mail-refused', attempts: 1, lastResponse: { status: 451 } };
    refused = eventually(async () => expect((await deliveriesOf(later))[0]).toMatchObject(expected), ANNOUNCED_MS);
    refused.catch(() => undefined);
  });

  test(
    'is sent once for each change of a state, by e-mail and to Slack, with a link to the page',
    async () => {
      const sent = () => mails.filter(({ to }) => to.includes('dana@example.com')).map((mail) => mail.text);
      const posted = () => host.askedOf('POST /services/each').map(({ body }) => body);
      await eventually(() => expect([sent().length, posted().length]).toEqual([2, 2]), ANNOUNCED_MS);
      for (const prefix of prefixes) {
        for (const messages of [sent(), posted()]) {
          expect(messages.filter((message) => message.includes(prefix))).toHaveLength(1);
        }
      }
      for (const mail of sent()) expect(mail).toMatch(/^Subject: haulbridge: key\.expiring\r$/m);
      for (const message of [...sent(), ...posted()]) expect(message).toContain('https://haul.example/console/keys');
      for (const endpoint of endpoints) {
        await eventually(async () => {
          const two = Array.from({ length: 2 }, () => ({ topic: 'key.expiring', status: 'delivered', attempts: 1 }));
          expect(await deliveriesOf(endpoint)).toMatchObject(two);
        });
      }
    },
    2 * ANNOUNCED_MS,
  );

  test('that the mail server refuses is tried again like any other delivery, with its answer (decision 54)', async () => {
    await refused;
    await eventually(async () => {
      const expected = { status: 'delivered', attempts: 2, lastResponse: { status: 250 } };
      expect((await deliveriesOf(later))[0]).toMatchObject(expected);
    }, ANNOUNCED_MS);
  }, 100_000);

  test.each([
    ['email', () => mailbox('loud')],
    ['slack', () => channel('loud')],
  ])('is of a state alone: format %s refuses every other topic, and names the field', async (format, address) => {
    const events = ['ticket.created', 'ticket.updated', 'ticket.refused', 'account.created', 'recording.failed'];
    for (const topic of [...events, 'clip.stored', 'clip.failed', 'clip.expired']) {
      const body = { ...address(), topics: ['sync.held', topic] };
      const refused = await admin<ErrorBody>('POST', '/webhook-endpoints', body, service);
      expect([refused.status, refused.body.error.code]).toEqual([400, 'INVALID_PAYLOAD']);
      expect(violations(refused.body)).toMatchObject([{ path: 'topics', rule: 'isEnum' }]);
      expect(violations(refused.body)[0]?.message).toMatch(new RegExp(`${format}.*${topic}`));
    }
    const states = ['sync.held', 'sync.failed', 'sync.recovered', 'connection.refused', 'connection.recovered'];
    const { id } = await create({ ...address(), topics: [...states, 'recording.at_risk', 'key.expired'] });
    const refused = await change(id, { topics: ['ticket.created'] });
    expect([refused.status, violations(refused.body)]).toMatchObject([400, [{ path: 'topics' }]]);
    const standard = await create({ url: `${host.url}/hook`, topics: ['ticket.created'] });
    const turned = await change(standard.id, address());
    expect([turned.status, violations(turned.body)]).toMatchObject([400, [{ path: 'topics' }]]);
  });

  test.each([
    'mailto:dana@example.com,other@example.com',
    'mailto:dana@example.com?bcc=other@example.com',
    'mailto:dana@example.com%0d%0aBcc:other@example.com',
    'mailto:',
    'https://example.com/',
  ])('goes to one address: %s is refused', async (url) => {
    const body = { url, topics: ['sync.held'], format: 'email' };
    const refused = await admin<ErrorBody>('POST', '/webhook-endpoints', body, service);
    expect(refused.status).toBe(400);
    expect(violations(refused.body)).toMatchObject([
      { path: 'url', message: expect.stringContaining('mailto: and one address') },
    ]);
  });
});

describe('the address of a channel of Slack', () => {
  const asOperator = (path: string) =>
    call('GET', `/admin/v1${path}`, { headers: { Authorization: `Bearer ${OPERATOR}` } }, service);

  test('is written and never read: everybody sees its host, and a change that sends the host back keeps it', async () => {
    host.on('POST /services/secret-path', raw('ok'));
    const created = await create(channel('secret-path'));
    const shown = `${host.url}/…`;
    expect(created.url).toBe(shown);
    const path = `/webhook-endpoints/${created.id}`;
    const changed = await change(created.id, { url: shown, topics: ['key.expired'] });
    expect([changed.status, changed.body.url]).toEqual([200, shown]);
    expect((await testOf(created)).status).toBe('delivered');
    expect(host.askedOf('POST /services/secret-path')).toHaveLength(1);
    for (const read of [path, '/webhook-endpoints', `/actions?resource=webhook-endpoint:${created.id}`]) {
      for (const reply of [await admin('GET', read, undefined, service), await asOperator(read)]) {
        expect(reply.status).toBe(200);
        expect(reply.text).toContain(shown);
        expect(reply.text).not.toContain('secret-path');
      }
    }
  });

  test('is not read by another format either: that needs an address of its own', async () => {
    const { id } = await create(channel('secret-turn'));
    for (const body of [{ format: 'standard' }, { format: 'standard', url: `${host.url}/…` }]) {
      const refused = await change(id, body);
      expect(refused.status).toBe(400);
      expect(violations(refused.body)).toMatchObject([{ path: 'url' }]);
      expect(refused.text).not.toContain('secret-turn');
    }
    expect((await change(id, { format: 'standard', url: `${host.url}/hook` })).body.url).toBe(`${host.url}/hook`);
  });

  test('of a partner is not read by an admin or by the partner (decision 1)', async () => {
    const hauler = await Hauler.create({ service });
    const headers = { 'PLATFORM-API-KEY': await hauler.issueKey({ interfaces: ['scale'] }) };
    const own = <Body>(method: string, path: string, body?: Plain) =>
      call<Body>(method, `/partner/v1/webhook-endpoints${path}`, { headers, body }, service);
    const body = { ...channel('secret-own'), topics: ['key.expired'] };
    const { id } = (await own<Endpoint>('POST', '', body)).body;
    for (const reply of [await own('GET', ''), await own('PATCH', `/${id}`, { enabled: false })]) {
      expect([reply.status, reply.text.includes('secret-own')]).toEqual([200, false]);
    }
    const turned = await own<ErrorBody>('PATCH', `/${id}`, { format: 'standard' });
    expect([turned.status, violations(turned.body)]).toMatchObject([400, [{ path: 'url' }]]);
    const loud = await own<ErrorBody>('POST', '', { ...body, topics: ['ticket.created'] });
    expect([loud.status, violations(loud.body)]).toMatchObject([400, [{ path: 'topics' }]]);
    expect((await admin('GET', `/webhook-endpoints/${id}`, undefined, service)).text).not.toContain('secret-own');
  });
});

describe('a test of an endpoint', () => {
  test('sends nothing while calls are switched off, and says so (decision 70)', async () => {
    host.on('POST /hook', raw('ok'));
    host.on('POST /services/off', raw('ok'));
    const endpoints = [
      await create({ url: `${host.url}/hook` }),
      await create(channel('off')),
      await create(mailbox('off')),
    ];
    const key = await (await Hauler.create({ service })).key();
    const headers = { 'PLATFORM-API-KEY': key };
    const body = { url: `${host.url}/hook`, topics: ['key.expired'] };
    const own = await call<Endpoint>('POST', '/partner/v1/webhook-endpoints', { headers, body }, service);
    await administer('PUT', '/outbound', { enabled: false, reason: 'this is a copy' }, service);
    try {
      const path = `/partner/v1/webhook-endpoints/${own.body.id}/test`;
      const byPartner = await call<Delivery>('POST', path, { headers }, service);
      const tested = [...(await Promise.all(endpoints.map(testOf))), byPartner.body];
      for (const delivery of tested) {
        expect(delivery).toMatchObject({ status: 'failed', reason: 'switched-off', attempts: 0, lastResponse: null });
        expect(delivery).toMatchObject({ nextAt: null, endedAt: expect.any(String) });
      }
      expect([host.askedOf('POST /hook'), host.askedOf('POST /services/off')]).toEqual([[], []]);
      expect(mails.filter(({ to }) => to.includes('off@example.com'))).toEqual([]);
    } finally {
      await administer('PUT', '/outbound', { enabled: true }, service);
    }
    for (const endpoint of endpoints) expect(await testOf(endpoint)).toMatchObject({ status: 'delivered' });
  });
});

describe('the endpoints of a partner', () => {
  test('stay with its key over several rotations, and end with the last key (decisions 1, 17)', async () => {
    host.on('POST /own', raw('', { status: 204 }));
    const hauler = await Hauler.create({ service, sites: { sites: [], kiosks: [], materials: [] } });
    const issued: { id: string; key: string }[] = [];
    const keep = (key: { id: string; key: string }) => (issued.push(key), key);
    const own = <Body>(key: string, method: string, path: string, body?: Plain) =>
      call<Body>(method, `/partner/v1/webhook-endpoints${path}`, { headers: { 'API-KEY': key }, body }, service);
    const first = keep(
      await administer('POST', '/api-keys', { haulerId: hauler.id, interfaces: ['account'] }, service),
    );
    const body = { url: `${host.url}/own`, topics: ['account.created'] };
    const { id } = (await own<Endpoint>(first.key, 'POST', '', body)).body;
    let current = first;
    for (let i = 0; i < 3; i++) {
      current = keep(await administer('POST', `/api-keys/${current.id}/rotate`, { overlapSeconds: 0 }, service));
      expect((await own(current.key, 'GET', `/${id}`)).status).toBe(200);
    }
    await hauler.createAccount({ accountName: 'By a key that lives' });
    await eventually(() => expect(host.askedOf('POST /own')).toHaveLength(1));
    for (const key of issued) await admin('DELETE', `/api-keys/${key.id}`, undefined, service);
    await hauler.createAccount({ accountName: 'After the last key' });
    await eventually(async () => {
      const endpoint = await administer('GET', `/webhook-endpoints/${id}`, undefined, service);
      expect(endpoint).toMatchObject({ enabled: false, disabledReason: 'key-ended' });
    });
    expect(host.askedOf('POST /own')).toHaveLength(1);
  });
});
