import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { flow, Hauler, ONE_SITE } from '../../acceptance/support/hauler.js';
import { type OwnService, startOwnService } from '../../acceptance/support/service.js';
import { read } from '../../acceptance/support/target.js';
import { VisionScene } from '../../acceptance/support/vision.js';
import { eventually } from '../../support/eventually.js';
import { reportFigures } from '../../support/faults.js';
import { sampleVideo } from '../../support/sample-video.js';
import { CONTINUOUS, element, inHours, within } from '../../support/scripted-vision.js';
import { databaseUrl, onServer, testServer } from '../../support/test-run.js';
import { BackedUpServer } from './pgbackrest.js';

/** Two servers, three services, a full and an incremental backup. */
const HOOK_MS = 400_000;
const PROGRAM = join(import.meta.dirname, '../../../dist/src/cli/main.js');
const VIDEOS = 60;
const WORKERS = 4;

/** Pushes until `stop` is called: when each ticket was sent, and when it was acknowledged, by the clock of this machine. */
class Load {
  readonly sent = new Map<string, number>();
  readonly acknowledged = new Map<string, number>();
  private isRunning = true;
  private readonly workers: Promise<void>[];

  constructor(private readonly hauler: Hauler) {
    this.workers = Array.from({ length: WORKERS }, () => this.work());
  }

  async stop(): Promise<void> {
    this.isRunning = false;
    await Promise.all(this.workers);
  }

  /** Waits for that many further acknowledgements. */
  async more(count: number): Promise<void> {
    const wanted = this.acknowledged.size + count;
    await eventually(() => expect(this.acknowledged.size).toBeGreaterThanOrEqual(wanted), 60_000);
  }

  private async work(): Promise<void> {
    while (this.isRunning) {
      const number = `L${this.sent.size}`;
      this.sent.set(number, Date.now());
      const { status } = await this.hauler.push({ inboundFlow: flow(number) });
      if (status === 200) this.acknowledged.set(number, Date.now());
    }
  }
}

describe('the database is restored to the moment between two tickets, with the files of deploy/backup', () => {
  let copy: OwnService;
  let hauler: Hauler;
  let vision: VisionScene;
  let load: Load;
  let moment: number;
  let asked: number;

  beforeAll(async () => {
    const server = await BackedUpServer.start();
    await onServer(server.url, (client) => client.query('CREATE DATABASE haulbridge'));
    const service = await startOwnService({ databaseUrl: databaseUrl(server.url, 'haulbridge') });
    hauler = await Hauler.create({ service, sites: ONE_SITE });
    vision = await VisionScene.create({ service, hauler });
    const recordings = Array.from({ length: VIDEOS }, (_, i) =>
      element({
        startTime: inHours(-3 + i / 60),
        endTime: inHours(-3 + (i + 1) / 60),
        durationSeconds: 60,
        downloadUrl: vision.partner.link(sampleVideo(200_000 + i)),
      }),
    );
    vision.partner.on(CONTINUOUS, within(recordings));
    load = new Load(hauler);
    await load.more(20);
    await vision.follow({ startTime: inHours(-4) });
    const full = await server.pgbackrest('--type=full', 'backup');
    await load.more(50);
    const incremental = await server.pgbackrest('--type=incr', 'backup');
    await vision.recordingsBecome(
      Array.from({ length: VIDEOS }, () => ({ status: 'stored' })),
      120_000,
    );
    expect((await hauler.push({ inboundFlow: flow('BEFORE') })).status).toBe(200);
    await delay(1_000);
    moment = Date.now();
    await delay(1_000);
    expect((await hauler.push({ inboundFlow: flow('AFTER') })).status).toBe(200);
    await load.more(50);
    await server.archived();
    await load.stop();
    const dataDir = mkdtempSync(join(testServer().folder, 'copy-'));
    cpSync(join(service.dataDir, 'videos'), join(dataDir, 'videos'), { recursive: true });
    await service.end();
    asked = vision.partner.asked.length + vision.partner.fetched.length;
    const restored = await server.restore(new Date(moment).toISOString().replace('T', ' ').replace('Z', '+00'));
    const url = databaseUrl(restored.url, 'haulbridge');
    copy = await startOwnService({ databaseUrl: url, dataDir, env: { OUTBOUND: 'off' } });
    reportFigures('point in time', {
      'tickets acknowledged': load.acknowledged.size,
      'full backup, s': full.toFixed(1),
      'incremental backup, s': incremental.toFixed(1),
      'restore, s': restored.seconds.toFixed(1),
    });
    await server.stop();
  }, HOOK_MS);
  afterAll(() => copy.end());

  test('nothing that was acknowledged before it is lost, and nothing sent after it is there', async () => {
    const { rows } = await onServer(copy.databaseUrl, (client) =>
      client.query<{ number: string }>('SELECT inbound_number AS number FROM tickets'),
    );
    const stored = new Set(rows.map(({ number }) => number));
    expect([rows.length, stored.has('BEFORE'), stored.has('AFTER')]).toEqual([stored.size, true, false]);
    const lost = [...load.acknowledged].filter(([number, at]) => at < moment && !stored.has(number));
    const late = [...load.sent].filter(([number, at]) => at > moment && stored.has(number));
    expect([lost, late]).toEqual([[], []]);
    expect(stored.size).toBeGreaterThan(70);
    expect(load.acknowledged.size - stored.size).toBeGreaterThan(40);
  });

  test('the service on it takes the first ticket as unchanged, and the second one as new', async () => {
    const results = [];
    for (const number of ['BEFORE', 'AFTER'])
      results.push((await hauler.at(copy).push({ inboundFlow: flow(number) })).headers.get('ticket-result'));
    expect(results).toEqual(['unchanged', 'created']);
  });

  test('storage check finds that videos and rows agree, by their checksums too', async () => {
    const words = ['storage', 'check', '--checksums', '--url', copy.url, '--token', copy.adminToken];
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...words]);
    expect(stdout).toMatch(/storage and database agree/);
    const found = await read<{ pagination: { totalItems: number } }>('/recordings?status=stored', copy);
    expect(found.pagination.totalItems).toBe(VIDEOS);
  });

  test('it is a copy, which calls no partner, and says so', async () => {
    const { data } = await read<{ data: { sentence: string }[] }>('/attention', copy);
    expect(data.map(({ sentence }) => sentence).join()).toContain('This is a copy');
    await delay(3_000);
    expect(vision.partner.asked.length + vision.partner.fetched.length).toBe(asked);
  });
});
