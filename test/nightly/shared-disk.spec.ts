import { mkdtempSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type BuiltService, startService } from '../support/built-service.js';
import { reportFigures } from '../support/faults.js';
import { at, CUSTOMER, demoVideo, TRUCK } from '../support/reference-vision.js';
import { requirePrograms } from '../support/programs.js';
import { testServer } from '../support/test-run.js';

const ADMIN = { Authorization: 'Bearer test-admin-token-0123456789' };
const MIB = 1024 * 1024;
const DISK_MIB = 100;
const VIDEO = new Uint8Array(Buffer.concat([demoVideo(0), Buffer.alloc(5 * MIB)]));
const PUSHES = 8_000;

let service: BuiltService;
let free: () => number;

beforeAll(async () => {
  requirePrograms('unshare');
  const folder = mkdtempSync(join(testServer().folder, 'disk-'));
  // Without an address the service starts its embedded database.
  service = await startService({
    databaseUrl: '',
    dataDir: join(folder, 'data'),
    smallDisk: { folder, mib: DISK_MIB },
  });
  free = () => {
    const { bavail, bsize } = statfsSync(`/proc/${service.child.pid}/root${folder}`);
    return Math.round((bavail * bsize) / MIB);
  };
});
afterAll(async () => {
  // Its database would outlive a kill.
  await service?.end('SIGTERM');
});

let minute = 0;
async function upload(): Promise<number> {
  const times = { startTime: at(minute), endTime: at(++minute) };
  const query = new URLSearchParams({ customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front', ...times });
  const headers = { ...ADMIN, 'Content-Type': 'video/mp4' };
  const path = `/admin/v1/hosted/recordings?${query.toString()}`;
  const response = await fetch(service.url + path, { method: 'POST', headers, body: VIDEO });
  await response.text();
  return response.status;
}

test('videos that fill the disk of the embedded database stop at a reserve, and every push is still accepted', async () => {
  const { body: hauler } = await service.admin<{ id: string }>('POST', '/haulers', { name: 'Full' });
  const issued = { haulerId: hauler.id, interfaces: ['account'] };
  const { key } = (await service.admin<{ key: string }>('POST', '/api-keys', issued)).body;
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
      const { status } = await fetch(`${service.url}/platform-api/v1/accounts`, { method: 'POST', headers, body });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const fill = async () => {
    for (; left > 0; await delay(100)) expect(await upload()).toBe(503);
  };
  await Promise.all([fill(), ...Array.from({ length: 8 }, push)]);
  reportFigures('shared-disk', { stored, pushes: PUSHES, freeBeforeMiB, freeAfterMiB: free() });
  expect(Object.fromEntries(statuses)).toEqual({ 200: PUSHES });
}, 180_000);
