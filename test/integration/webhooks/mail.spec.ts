import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SMTPServer } from 'smtp-server';
import type { WebhookDelivery } from '../../../src/contracts/admin/webhook-delivery.dto.js';
import type { WebhookEndpoint } from '../../../src/contracts/admin/webhook-endpoint.dto.js';
import { mailOf, slackBody } from '../../../src/webhooks/messages.rules.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ScaleHouse } from '../../support/scale-house.js';
import { ageMails, hurryDeliveries } from '../../support/time.js';

const mails: { readonly to: string[]; readonly text: string }[] = [];
let isAway = false;
let smtp: SMTPServer;
let service: TestApp;
let house: ScaleHouse;

beforeAll(async () => {
  smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, session, done) => {
      text(stream).then((mail) => {
        if (isAway) return done(Object.assign(new Error('try later'), { responseCode: 451 }));
        mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text: mail });
        done();
      }, done);
    },
  });
  await once(smtp.listen(0, '127.0.0.1'), 'listening');
  const { port } = smtp.server.address() as AddressInfo;
  service = await startTestApp({
    env: {
      SMTP_URL: `smtp://127.0.0.1:${port}`,
      SMTP_FROM: 'alerts@example.com',
      PUBLIC_URL: 'https://haul.example',
    },
  });
  house = await ScaleHouse.open(service);
});
afterAll(async () => {
  await service.close();
  await new Promise<void>((resolve) => smtp.close(() => resolve()));
});

const create = (body: object) => service.admin<WebhookEndpoint>('POST', '/webhook-endpoints', body);
const deliveries = async (id: string) =>
  (await service.admin<{ data: WebhookDelivery[] }>('GET', `/webhook-deliveries?endpointId=${id}`)).body.data;

test('the first event is one mail, later ones are one mail after 15 minutes, with links to the pages of the console', async () => {
  const { body } = await create({ url: 'mailto:dana@example.com', topics: ['ticket.created'], format: 'email' });
  const first = await house.expectAccepted({});
  await eventually(() => expect(mails).toHaveLength(1));
  expect(mails[0]).toMatchObject({
    to: ['dana@example.com'],
    text: expect.stringContaining('Subject: haulbridge: ticket.created'),
  });
  expect(mails[0]?.text.replace(/=\r\n/g, '')).toContain('https://haul.example/console/tickets?id');
  await house.expectAccepted({});
  await house.expectAccepted({});
  await eventually(async () => {
    const waiting = (await deliveries(body.id)).filter(({ status }) => status === 'pending');
    expect(waiting).toHaveLength(2);
    for (const { nextAt } of waiting) expect(Date.parse(nextAt ?? '') - Date.now()).toBeGreaterThan(14 * 60_000);
  });
  expect(mails).toHaveLength(1);
  await ageMails(service);
  await hurryDeliveries(service);
  await eventually(async () => {
    expect((await deliveries(body.id)).map(({ status }) => status)).toEqual(['delivered', 'delivered', 'delivered']);
  });
  expect(mails.length).toBeLessThanOrEqual(3);
  expect(first).toBeTruthy();
  await service.admin('DELETE', `/webhook-endpoints/${body.id}`);
});

test('a mail server that is away is tried again, with its answer', async () => {
  isAway = true;
  const { body } = await create({ url: 'mailto:dana@example.com', topics: ['ticket.created'], format: 'email' });
  await house.expectAccepted({});
  await eventually(async () => {
    const [only] = await deliveries(body.id);
    expect(only).toMatchObject({ status: 'pending', reason: 'mail-refused', lastResponse: { status: 451 } });
  });
  isAway = false;
  await hurryDeliveries(service);
  await eventually(async () => {
    expect((await deliveries(body.id))[0]).toMatchObject({ status: 'delivered', lastResponse: { status: 250 } });
  });
  await service.admin('DELETE', `/webhook-endpoints/${body.id}`);
});

test.each([
  'mailto:dana@example.com,other@example.com',
  'mailto:dana@example.com?bcc=other@example.com',
  'mailto:dana@example.com%0d%0aBcc:other@example.com',
  'mailto:',
  'https://example.com/',
])('%s is no address of a mail', async (url) => {
  const { status, text: answer } = await create({ url, topics: ['ticket.created'], format: 'email' });
  expect([status, answer]).toEqual([400, expect.stringContaining('mailto: and one address')]);
});

const hostile = {
  haulerId: 'h',
  connectionId: 'c',
  truckId: `a\r\nBcc: x@example.com\u202e<!channel>*b*${'x'.repeat(500)}`,
};
const event = { topic: 'recording.at_risk', data: JSON.stringify(hostile), created_at: new Date() } as const;

test('names of partners cannot make headers, lines, mentions or long texts', () => {
  const { subject, text: mail } = mailOf([event], 'https://haul.example');
  expect(subject).toBe('haulbridge: recording.at_risk');
  const line = mail.split('\n')[1] ?? '';
  expect(line).toContain('a Bcc: x@example.com <!channel>');
  expect(line.length).toBeLessThan(160);
  expect(mail).not.toContain('\u202e');
  const { text: slack } = JSON.parse(slackBody(event, undefined)) as { text: string };
  expect(slack).not.toMatch(/<!channel>|\n|\u202e/);
  expect(slack).toContain('&lt;!channel&gt;');
});
