import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ConnectionCheck } from '../../src/contracts/admin/connection-check.dto.js';
import type { TestApp } from '../support/app.js';
import { chunk, DownloadScene, recordings } from '../support/download-scene.js';
import { type DnsServer, startDnsServer } from '../support/dns-server.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import { sampleVideo } from '../support/sample-video.js';
import { testServer, onServer } from '../support/test-run.js';

const CHUNKS = 40;

let dns: DnsServer;
let healthy: DownloadScene;
let hanging: DownloadScene;
let app: TestApp;
beforeAll(async () => {
  dns = await startDnsServer(0);
  dns.hang('hangs.example');
  dns.answer('healthy.example', ['127.0.0.1']);
  healthy = await DownloadScene.start();
  hanging = await DownloadScene.start();
  app = await healthy.service({ env: { OUTBOUND_NAME_SERVERS: [`127.0.0.1:${dns.port}`] } });
});
afterAll(async () => {
  await healthy.stop();
  await hanging.stop();
  await dns.close();
});

const withHost = (link: string, host: string) => link.replace('127.0.0.1', host);

test('while the link host of one partner hangs, other partners and the database are reachable', async () => {
  const dead = Array.from({ length: CHUNKS }, (_, i) => chunk(i, `http://hangs.example:8080/${i}.mp4`));
  const stuck = await hanging.follow(app, () => dead);
  await eventually(async () => expect(dns.asked).toContain('hangs.example'));
  expect(await recordings(app, stuck)).toHaveLength(CHUNKS);

  const started = performance.now();
  const { partner } = healthy;
  const good = Array.from({ length: CHUNKS }, (_, i) =>
    chunk(i, withHost(partner.link(sampleVideo(20_000)), 'healthy.example')),
  );
  const id = await healthy.follow(app, () => good);
  await eventually(async () => {
    const stored = (await recordings(app, id)).filter(({ status }) => status === 'stored');
    expect(stored).toHaveLength(CHUNKS);
  });
  const storedMs = Math.round(performance.now() - started);

  await app.admin('PATCH', `/connections/${id}`, {
    baseUrl: withHost(partner.url, 'healthy.example'),
    apiKey: 'the-key-of-this-host',
  });
  const checks = await Promise.all(
    Array.from({ length: 10 }, () => app.admin<ConnectionCheck>('POST', `/connections/${id}/check`)),
  );
  expect(checks.map(({ body }) => body.reachable)).toEqual(Array(10).fill(true));

  const name = new URL(app.env.DATABASE_URL).pathname.slice(1);
  await onServer(testServer().adminUrl, (client) =>
    client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]),
  );
  const cut = performance.now();
  await eventually(async () => expect((await app.call('GET', '/health/ready')).status).toBe(200));
  const readyMs = Math.round(performance.now() - cut);
  reportFigures('hanging names', { [`${CHUNKS} chunks stored in ms`]: storedMs, 'ready again in ms': readyMs });
});
