import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { shortOrLong, reportFigures } from '../support/faults.js';
import { heldChild } from '../support/held.js';
import { at, CUSTOMER, demoVideo, TRUCK } from '../support/reference-vision.js';
import { testServer } from '../support/test-database.js';

/** Only root can mount a disk for a database server of another user. */
const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0;

const ROOT = join(import.meta.dirname, '../..');
const ADMIN_TOKEN = 'test-admin-token-0123456789';
const ADMIN = { Authorization: `Bearer ${ADMIN_TOKEN}` };
const MIB = 1024 * 1024;
const DISK_MIB = 100;
const VIDEO = new Uint8Array(Buffer.concat([demoVideo(0), Buffer.alloc(5 * MIB)]));
const PUSHES = shortOrLong(1_000, 8_000);

let disk: string;
let url: string;
let stop: () => Promise<unknown>;
let free: () => number;

beforeAll(async () => {
  if (!canMount) return;
  disk = mkdtempSync(join(testServer().folder, 'disk-'));
  const mount = `mount -t tmpfs -o size=${DISK_MIB}m,mode=755 none "$1" && shift && exec "$@"`;
  const service = ['--import', join(ROOT, 'test/support/leash.mjs'), join(ROOT, 'dist/src/main.js')];
  const child = spawn('unshare', ['-m', 'sh', '-c', mount, 'sh', disk, process.execPath, ...service], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      DATA_DIR: join(disk, 'data'),
      ADMIN_TOKEN,
      DEMO: 'false',
      LOG_LEVEL: 'error',
    },
  });
  heldChild(child);
  // Otherwise its database would outlive it.
  stop = () => {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    return ended;
  };
  free = () => {
    const { bavail, bsize } = statfsSync(`/proc/${child.pid}/root${disk}`);
    return Math.round((bavail * bsize) / MIB);
  };
  for await (const text of child.stdout.setEncoding('utf8')) {
    url = /listens on (http:\S+)/.exec(String(text))?.[1] ?? '';
    if (url !== '') break;
  }
}, 60_000);
afterAll(async () => {
  if (canMount) await stop();
});

async function admin<Body>(path: string, body: object): Promise<Body> {
  const headers = { ...ADMIN, 'Content-Type': 'application/json' };
  const response = await fetch(`${url}/admin/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.json()) as Body;
}

let minute = 0;
async function upload(): Promise<number> {
  const times = { startTime: at(minute), endTime: at(++minute) };
  const query = new URLSearchParams({ customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front', ...times });
  const headers = { ...ADMIN, 'Content-Type': 'video/mp4' };
  const path = `/admin/v1/hosted/recordings?${query.toString()}`;
  const response = await fetch(url + path, { method: 'POST', headers, body: VIDEO });
  await response.text();
  return response.status;
}

(canMount ? test : test.skip)(
  'videos that fill the disk of the embedded database stop at a reserve, and every push is still accepted',
  async () => {
    const { id: haulerId } = await admin<{ id: string }>('/haulers', { name: 'Full' });
    const { key } = await admin<{ key: string }>('/api-keys', { haulerId, interfaces: ['account'] });
    let stored = 0;
    while ((await upload()) === 201) stored += 1;
    expect(stored).toBeGreaterThan(0);
    const freeBeforeMiB = free();
    let left = PUSHES;
    const statuses = new Map<number, number>();
    const push = async () => {
      const headers = { 'PLATFORM-API-KEY': key, 'Content-Type': 'application/json' };
      while (left > 0) {
        const body = JSON.stringify({ accountName: `Account ${left--}` });
        const { status } = await fetch(`${url}/platform-api/v1/accounts`, { method: 'POST', headers, body });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    const fill = async () => {
      for (; left > 0; await delay(100)) expect(await upload()).toBe(503);
    };
    await Promise.all([fill(), ...Array.from({ length: 8 }, push)]);
    reportFigures('shared-disk', { stored, pushes: PUSHES, freeBeforeMiB, freeAfterMiB: free() });
    expect(Object.fromEntries(statuses)).toEqual({ 200: PUSHES });
  },
  shortOrLong(60_000, 180_000),
);
