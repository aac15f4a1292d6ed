import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { ListVideosResponse } from '../../src/contracts/vision/vision.dto.js';
import { hevcVideo } from '../reference-partner/media/sample-files.js';
import { eventually } from '../support/eventually.js';
import { shortOrLong, reportFigures } from '../support/faults.js';
import { heldChild } from '../support/held.js';
import { at, CUSTOMER, TRUCK } from '../support/reference-vision.js';
import { createTestDatabase, testServer } from '../support/test-database.js';

const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0;
const ROOT = join(import.meta.dirname, '../..');
const ADMIN = { Authorization: 'Bearer test-admin-token-0123456789' };
const TMP_MIB = 20;
const PICTURES = shortOrLong(250, 420);
const PICTURE_BYTES = 100_000;

/** As in Compose, where `/tmp` is in memory. */
(canMount ? test : test.skip)(
  'a clip that is larger than the folder of temporary files is prepared',
  async () => {
    const folder = mkdtempSync(join(testServer().folder, 'scratch-'));
    const temporary = join(folder, 'tmp');
    mkdirSync(temporary);
    const database = await createTestDatabase();
    const mount = `mount -t tmpfs -o size=${TMP_MIB}m none "$1" && shift && exec "$@"`;
    const service = ['--import', join(ROOT, 'test/support/leash.mjs'), join(ROOT, 'dist/src/main.js')];
    const child = spawn('unshare', ['-m', 'sh', '-c', mount, 'sh', temporary, process.execPath, ...service], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        PORT: '0',
        DATABASE_URL: database.url,
        DATA_DIR: join(folder, 'data'),
        TMPDIR: temporary,
        ADMIN_TOKEN: 'test-admin-token-0123456789',
        SECRETS_KEY: '5a'.repeat(32),
        LOG_LEVEL: 'error',
      },
    });
    heldChild(child);
    let url = '';
    for await (const text of child.stdout.setEncoding('utf8')) {
      url = /listens on (http:\S+)/.exec(String(text))?.[1] ?? '';
      if (url !== '') break;
    }
    const video = await hevcVideo(join(folder, 'video.mp4'), { pictures: PICTURES, pictureBytes: PICTURE_BYTES });
    const camera = { customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front' };
    const query = new URLSearchParams({ ...camera, startTime: at(0), endTime: at(1) });
    const uploaded = await fetch(`${url}/admin/v1/hosted/recordings?${query.toString()}`, {
      method: 'POST',
      headers: { ...ADMIN, 'Content-Type': 'video/mp4' },
      body: new Uint8Array(await readFile(video)),
    });
    expect([uploaded.status, await uploaded.text()]).toEqual([201, expect.any(String)]);
    const post = async <Body>(path: string, headers: Record<string, string>, body: object) => {
      const init = { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' } };
      const response = await fetch(url + path, { ...init, body: JSON.stringify(body) });
      return (await response.json()) as Body;
    };
    const { key } = await post<{ key: string }>('/admin/v1/api-keys', ADMIN, { interfaces: ['vision'] });
    const order = { ...camera, startTime: at(0), endTime: at(1) };
    const own = { 'API-KEY': key };
    const { requestId } = await post<{ requestId: string }>('/video-platform/v1/videos/requests', own, order);
    const list = `/video-platform/v1/videos?${new URLSearchParams({ customerId: CUSTOMER, requestId }).toString()}`;
    const { request, videos } = await eventually(async () => {
      const { data } = (await (await fetch(url + list, { headers: own })).json()) as ListVideosResponse;
      expect(data.request?.status).not.toBe('processing');
      return data;
    }, 60_000);
    expect(request).toMatchObject({ status: 'ready' });
    const { byteLength } = await (await fetch(videos[0]?.downloadUrl ?? '')).arrayBuffer();
    reportFigures('scratch-space', { clipMiB: Math.round(byteLength / 1024 ** 2), tmpMiB: TMP_MIB });
    expect(byteLength).toBeGreaterThan(PICTURES * PICTURE_BYTES);
    child.kill('SIGTERM');
    await once(child, 'exit');
    await database.drop();
  },
  120_000,
);
