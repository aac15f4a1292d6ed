import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { SyncRun } from '../../src/contracts/admin/sync-runs.routes.js';
import { type BuiltService, peakMemory, startService } from '../support/built-service.js';
import { Crowd } from './crowd.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import { idOf, STAMP } from '../support/site-data.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const MIB = 1024 * 1024;
const ANSWER_BYTES = 226 * MIB;
const MAX_RSS_BYTES = 700 * MIB;
const PUSHES = 420;
/** The partner closes a connection on which it cannot send for that long. */
const SEND_TIMEOUT_MS = 30_000;

let database: TestDatabase;
let service: BuiltService;
let partner: Server;
let requests = 0;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await startService({ databaseUrl: database.url });
  partner = createServer((_request, response) => void answer(response)).listen(0, '127.0.0.1');
  await eventually(() => expect(partner.listening).toBe(true));
});
afterAll(async () => {
  partner.closeAllConnections();
  partner.close();
  await service.end('SIGKILL');
  await database.drop();
});

/** One site, and materials of some 500 bytes. */
function* siteData(): Generator<string> {
  const site = { id: idOf('s'), name: 'Site', updatedAt: STAMP };
  yield `{"success":true,"data":{"sites":[${JSON.stringify(site)}],"materials":[`;
  let bytes = 0;
  for (let i = 0; bytes < ANSWER_BYTES; i++) {
    const id = `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`;
    const material = { id, siteId: site.id, materialType: `Type ${i}`, measureUnit: 'Ton', updatedAt: STAMP };
    const text = `${i === 0 ? '' : ','}${JSON.stringify({ ...material, notes: 'x'.repeat(300) })}`;
    bytes += text.length;
    yield text;
  }
  yield ']}}';
}

async function answer(response: ServerResponse): Promise<void> {
  requests += 1;
  response.setHeader('Content-Type', 'application/json');
  response.setTimeout(SEND_TIMEOUT_MS, () => response.destroy());
  await pipeline(Readable.from(siteData(), { objectMode: false }), response).catch(() => undefined);
}

async function startSync(): Promise<string> {
  const { body: hauler } = await service.admin<{ id: string }>('POST', '/haulers', { name: 'Large' });
  const { port } = partner.address() as AddressInfo;
  const { body: connection } = await service.admin<{ id: string }>('POST', '/connections', {
    haulerId: hauler.id,
    interface: 'site',
    baseUrl: `http://127.0.0.1:${port}`,
    apiKey: 'partner-key-0123456789',
    enabled: false,
  });
  return (await service.admin<{ runId: string }>('POST', `/connections/${connection.id}/sync`)).body.runId;
}

const ended = (runId: string): Promise<SyncRun> =>
  eventually(async () => {
    const { body } = await service.admin<SyncRun>('GET', `/sync-runs/${runId}`);
    expect(body.finishedAt).not.toBeNull();
    return body;
  }, 300_000);

test('two large site responses at once are each requested once and applied in bounded memory, and pushes continue', async () => {
  const crowd = await Crowd.create(service, await database.connect(2));
  const started = performance.now();
  const runs = await Promise.all([startSync(), startSync()]);
  const pushed = crowd.pushAll(service, 4, PUSHES);
  const results = await Promise.all(runs.map(ended));
  const seconds = Math.round((performance.now() - started) / 1000);
  const peak = peakMemory(service);
  reportFigures('large-site-answers', {
    MiB: ANSWER_BYTES / MIB,
    seconds,
    peakMiB: Math.round(peak / MIB),
    requests,
  });
  expect(results.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
  expect(requests).toBe(2);
  expect(peak).toBeLessThan(MAX_RSS_BYTES);
  expect(await pushed).toEqual({ acknowledged: PUSHES, refused: 0, wrong: [] });
}, 400_000);
