import { beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createSocketServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { type DnsServer, startDnsServer } from '../../support/dns-server.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { held } from '../../support/held.js';
import { CLIENT, FormBrowser } from '../../support/identity-provider.js';
import { Hauler, ONE_SITE, type Plain } from '../../acceptance/support/hauler.js';
import { type OwnService, startOwnService } from '../../acceptance/support/service.js';
import { run } from '../../acceptance/support/command-line.js';
import { admin, administer, listed } from '../../acceptance/support/target.js';

/** Which certificate is wrong, and how: "not reachable" does not say it. */
const TLS = join(import.meta.dirname, '../../support/tls');
const key = readFileSync(join(TLS, 'key.pem'));
const certificate = (name: string) => ({ key, cert: readFileSync(join(TLS, `${name}.pem`)) });

/** Reasons of deliveries by the certificate of the host, or by its name. */
const CERTIFICATES = [
  ['expired', 'certificate-expired', /has expired/],
  ['certificate', 'certificate-self-signed', /self-signed/],
  ['untrusted', 'certificate-untrusted', /not trusted/],
  ['incomplete', 'certificate-incomplete', /incomplete/],
  ['other-host', 'certificate-of-another-host', /another host/],
] as const;

/** Its port. At the end of the file its connections are cut. */
async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  held(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** An HTTPS server with a certificate, that answers 204. */
const httpsUrl = async (name: string): Promise<string> => {
  const server = createServer(certificate(name), (_, response) => void response.writeHead(204).end());
  return `https://127.0.0.1:${await listening(server)}`;
};

/** A mail server with STARTTLS and a certificate. */
async function mailServer(name: string): Promise<string> {
  const server = createSocketServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.write('220 mail.example\r\n');
    const answer = (chunk: Buffer): void => {
      const line = chunk.toString();
      if (!line.startsWith('STARTTLS')) return void socket.write('250-mail.example\r\n250 STARTTLS\r\n');
      socket.off('data', answer);
      socket.write('220 go ahead\r\n');
      const secure = new TLSSocket(socket, { isServer: true, ...certificate(name) });
      secure.on('error', () => undefined);
      secure.on('data', () => secure.write('250 ok\r\n'));
    };
    socket.on('data', answer);
  });
  return `smtp://127.0.0.1:${await listening(server)}?requireTLS=true`;
}

interface Delivery {
  readonly status: string;
  readonly reason: string | null;
}

/** The first try of a delivery to a new endpoint. */
async function tryOf(service: OwnService, body: Plain): Promise<Delivery> {
  const hauler = await Hauler.create({ service, sites: ONE_SITE });
  const endpoint = { topics: ['ticket.created'], haulerId: hauler.id, ...body };
  const { id } = await administer<{ id: string }>('POST', '/webhook-endpoints', endpoint, service);
  expect((await hauler.push()).status).toBe(200);
  return firstTry(service, id);
}

const firstTry = (service: OwnService, endpointId: string, withinMs?: number): Promise<Delivery> =>
  eventually(async () => {
    const [delivery] = await listed<Delivery>(`/webhook-deliveries?endpointId=${endpointId}`, service);
    // Neither while the first try is going on.
    expect(delivery?.status === 'delivered' || delivery?.reason != null).toBe(true);
    return delivery as Delivery;
  }, withinMs);

let dns: DnsServer;
let service: OwnService;
beforeAll(async () => {
  dns = await startDnsServer(0);
  held(() => dns.close());
  dns.hang('hanging.example');
  const publicUrl = `http://127.0.0.1:${await freePort()}`;
  const issuer = await httpsUrl('expired');
  const s3 = await httpsUrl('other-host');
  service = await startOwnService({
    env: {
      NODE_EXTRA_CA_CERTS: join(TLS, 'root.pem'),
      OUTBOUND_NAME_SERVERS: `127.0.0.1:${dns.port}`,
      SMTP_URL: await mailServer('expired'),
      SMTP_FROM: 'haulbridge@example.com',
      STORAGE_URL: `s3://videos/x?endpoint=${encodeURIComponent(s3)}&region=eu-1`,
      AWS_ACCESS_KEY_ID: 'the-tests',
      AWS_SECRET_ACCESS_KEY: 'the-secret-of-the-tests',
      PORT: new URL(publicUrl).port,
      PUBLIC_URL: publicUrl,
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: CLIENT.clientId,
      OIDC_CLIENT_SECRET: CLIENT.clientSecret,
      OIDC_ROLES: 'operator=ops',
    },
  });
}, 120_000);

test.each([
  ['untrusted', /not trusted here: .* your own authority in NODE_EXTRA_CA_CERTS/],
  ['expired', /has expired: start the service or pass --url/],
])('the command line says what is wrong with the certificate of the service: %s', async (name, words) => {
  const { code, err } = await run(['hauler', 'list', '--url', await httpsUrl(name), '--token', 'x'.repeat(20)]);
  expect([code, err]).toEqual([1, expect.stringMatching(words)]);
});

describe('a receiver of webhooks that cannot be reached', () => {
  test('is reached with a certificate of a trusted authority', async () => {
    expect(await tryOf(service, { url: await httpsUrl('good') })).toMatchObject({ status: 'delivered', reason: null });
  });

  test.each(CERTIFICATES)('by its certificate, %s: the delivery and the log say which', async (name, reason, words) => {
    const url = await httpsUrl(name);
    expect(await tryOf(service, { url })).toMatchObject({ status: 'pending', reason });
    await eventually(async () => expect(service.output()).toMatch(words));
    // As the check of a connection does.
    const hauler = await Hauler.create({ service });
    const id = await hauler.connect({ interface: 'site', baseUrl: url, enabled: false });
    const { body } = await admin<{ findings: string[] }>('POST', `/connections/${id}/check`, undefined, service);
    expect(body.findings.join()).toMatch(words);
  });

  test.each([
    ['that no server knows', async () => 'https://unknown.example/hook', 'name-unknown'],
    ['that is not resolved at the moment', async () => 'https://hanging.example/hook', 'name-unresolved'],
    ['whose host refuses connections', async () => `https://127.0.0.1:${await freePort()}`, 'connection-refused'],
    [
      'whose host speaks no TLS',
      async () =>
        `https://127.0.0.1:${await listening(createSocketServer((socket) => socket.on('error', () => undefined).end('HTTP/1.1 200 OK\r\n\r\n')))}`,
      'no-tls',
    ],
    [
      'whose host resets connections',
      async () =>
        `https://127.0.0.1:${await listening(createSocketServer((socket) => socket.on('error', () => undefined).resetAndDestroy()))}`,
      'broken',
    ],
    [
      'that asks for a certificate of ours',
      async () => {
        const options = {
          ...certificate('good'),
          requestCert: true,
          rejectUnauthorized: true,
          maxVersion: 'TLSv1.2' as const,
        };
        return `https://127.0.0.1:${await listening(createTlsServer(options).on('tlsClientError', () => undefined))}`;
      },
      'no-tls',
    ],
  ])('by a name or address %s: the delivery says so', async (_, url, reason) => {
    expect(await tryOf(service, { url: await url() })).toMatchObject({ status: 'pending', reason });
  });
});

test('a mail relay whose certificate has expired is named by the delivery and the log', async () => {
  const hauler = await Hauler.create({ service });
  const endpoint = { url: 'mailto:ops@example.com', format: 'email', topics: ['key.expiring'], haulerId: hauler.id };
  const { id } = await administer<{ id: string }>('POST', '/webhook-endpoints', endpoint, service);
  await hauler.issueKey({ interfaces: ['account'], expiresAt: new Date(Date.now() + 3_600_000).toISOString() });
  // States are announced every 15 s.
  const delivery = await firstTry(service, id, 40_000);
  expect(delivery).toMatchObject({ status: 'pending', reason: 'certificate-expired' });
  await eventually(async () => expect(service.output()).toMatch(/delivery to the endpoint [^"]*has expired/));
}, 60_000);

test('an S3 server whose certificate is for another host is named in the log', async () => {
  await eventually(async () => expect(service.output()).toMatch(/S3\) failed: its certificate is for another host/));
});

test('an identity provider whose certificate has expired is named on the sign-in page and in the log', async () => {
  const response = await new FormBrowser().request(`${service.url}/console/api/oidc/sign-in`);
  const { searchParams } = new URL(response.headers.get('location') ?? '');
  expect(searchParams.get('fault')).toBe('certificate-expired');
  await eventually(async () => expect(service.output()).toMatch(/could not sign in: certificate-expired/));
});
