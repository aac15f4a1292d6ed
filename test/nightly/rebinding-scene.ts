import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import type { ConnectionCheck } from '../../src/contracts/admin/connection-check.dto.js';
import { createHauler } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type DnsServer, startDnsServer } from '../support/dns-server.js';
import { eventually } from '../support/eventually.js';
import { siteData } from '../support/site-data.js';

/** Both are addresses of this process, in a network without any other. */
export const PUBLIC = '93.184.216.34';
export const PRIVATE = '10.0.0.5';

export interface Step {
  readonly what: string;
  readonly result: unknown;
  /** Requests that the public host has had by then, and connections to the private one. */
  readonly publicRequests: number;
  readonly privateConnections: number;
  /** Questions to the name server by then. */
  readonly questions: number;
}

const tls = join(import.meta.dirname, '../support/tls');
const [key, cert] = ['key.pem', 'certificate.pem'].map((name) => readFileSync(join(tls, name), 'utf8'));

async function listen(host: string, answer: RequestListener): Promise<Server> {
  const server = createServer({ key, cert }, answer).listen(443, host);
  await once(server, 'listening');
  return server;
}

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

/** The answers of the public host: site data, a list of recordings at `files.example`, and redirects from there. */
function partnerOf(asked: string[], redirectTo: () => string): RequestListener {
  return (request, response) => {
    const url = new URL(request.url ?? '/', `https://${request.headers.host}`);
    asked.push(url.href);
    // No connection is kept: each call has to resolve the name again.
    response.setHeader('Connection', 'close').setHeader('Content-Type', 'application/json');
    if (url.hostname === 'files.example') return void response.writeHead(302, { Location: redirectTo() }).end();
    if (url.pathname.startsWith('/moved/')) return void response.writeHead(307, { Location: redirectTo() }).end();
    if (!url.pathname.endsWith('/continuous'))
      return void response.end(JSON.stringify({ success: true, data: siteData(1, 1, 1) }));
    const chunk = (n: number) => ({
      id: `chunk-${n}`,
      customerId: 'customer-1',
      truckId: 'TRUCK-7',
      cameraId: 'front',
      startTime: inHours(-2 + n / 10),
      endTime: inHours(-1.9 + n / 10),
      durationSeconds: 360,
      expiresAt: inHours(8),
      downloadUrl: `https://files.example/${n}.mp4`,
    });
    const pagination = { page: 1, pageSize: 100, totalItems: 1, totalPages: 1 };
    response.end(JSON.stringify({ success: true, data: { recordings: [chunk(0)], pagination } }));
  };
}

class Scene {
  readonly steps: Step[] = [];
  readonly asked: string[] = [];
  privateConnections = 0;
  redirectTo = '';

  constructor(
    readonly service: TestApp,
    readonly dns: DnsServer,
  ) {}

  note(what: string, result: unknown): void {
    const { asked, privateConnections, dns } = this;
    this.steps.push({ what, result, publicRequests: asked.length, privateConnections, questions: dns.asked.length });
  }

  async connect(
    haulerId: string,
    name: 'site' | 'vision',
    baseUrl: string,
    enabled = false,
  ): Promise<{ id: string; status: number }> {
    const customer = name === 'vision' ? { customerId: 'customer-1' } : {};
    const body = { haulerId, interface: name, baseUrl, apiKey: 'k', enabled, ...customer };
    const reply = await this.service.admin<{ id: string }>('POST', '/connections', body);
    return { id: reply.body.id, status: reply.status };
  }

  async check(id: string): Promise<ConnectionCheck> {
    return (await this.service.admin<ConnectionCheck>('POST', `/connections/${id}/check`)).body;
  }

  /** A recording whose link redirects; resolves when its download has ended, to its status and reason. */
  async download(redirectTo: string): Promise<{ status: string; reason: string }> {
    this.redirectTo = redirectTo;
    const { service } = this;
    const { id: connectionId } = await this.connect(
      await createHauler(service),
      'vision',
      'https://partner.example',
      true,
    );
    await service.admin('POST', '/video-subscriptions', { connectionId, truckId: 'TRUCK-7', startTime: inHours(-3) });
    return eventually(async () => {
      const { body } = await service.admin<{ data: { status: string; reason: string }[] }>(
        'GET',
        `/recordings?connectionId=${connectionId}`,
      );
      const [row] = body.data;
      if (row?.status !== 'failed') throw new Error(`not yet: ${JSON.stringify(body.data)}`);
      return { status: row.status, reason: row.reason };
    });
  }
}

/** Plays all of it, to be run in a network of its own with both addresses. */
export async function playRebinding(): Promise<readonly Step[]> {
  const dns = await startDnsServer(53);
  const service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: false } });
  const scene = new Scene(service, dns);
  await listen(
    PUBLIC,
    partnerOf(scene.asked, () => scene.redirectTo),
  );
  const inner = await listen(PRIVATE, (_request, response) => void response.end('inside'));
  inner.on('connection', () => scene.privateConnections++);
  const haulerId = await createHauler(service);

  dns.answer('inner.example', [PRIVATE]);
  scene.note('a private name is saved', (await scene.connect(haulerId, 'site', 'https://inner.example')).status);

  dns.answer('partner.example', [PUBLIC]);
  const { id, status } = await scene.connect(haulerId, 'site', 'https://partner.example');
  scene.note('a public name is saved', status);
  scene.note('and called', await scene.check(id));

  dns.answer('partner.example', [PRIVATE]);
  scene.note('the name has turned private', await scene.check(id));
  dns.answer('partner.example', [PUBLIC, PRIVATE]);
  scene.note('one of its two addresses is private', await scene.check(id));
  dns.answer('partner.example', [PUBLIC], [PRIVATE]);
  scene.note('it turns private once it was asked for', await scene.check(id));
  scene.note('and stays so', await scene.check(id));

  dns.answer('partner.example', [PUBLIC]);
  scene.redirectTo = 'https://inner.example/scale-platform/v1/sites';
  const moved = await scene.connect(await createHauler(service), 'site', 'https://partner.example/moved');
  scene.note('an API call is redirected to a private name', await scene.check(moved.id));

  dns.answer('files.example', [PUBLIC]);
  scene.note('a link redirects to a private name', await scene.download('https://inner.example/video.mp4'));
  scene.note('a link redirects to a private address', await scene.download(`https://${PRIVATE}/video.mp4`));
  dns.answer('files.example', [PRIVATE]);
  scene.note("a link's host has turned private", await scene.download(''));
  return scene.steps;
}
