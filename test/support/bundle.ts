import { expect } from '@jest/globals';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { BundledRecording, BundledView, HoldDetails } from '../../src/contracts/admin/holds.routes.js';
import type { TestApp } from './app.js';
import { newFolder } from './new-folder.js';
import { extractZip } from './zip.js';

interface Manifest {
  readonly hold: HoldDetails;
  readonly part?: object;
  readonly earlierExports: readonly object[];
  readonly recordings: readonly BundledRecording[];
  readonly views: readonly BundledView[];
}

/** The answer of a bundle, unread. */
export async function requestBundle(
  service: TestApp,
  path: string,
  token = service.env.ADMIN_TOKEN,
): Promise<IncomingMessage> {
  const sent = get(`${service.url}/admin/v1${path}`, { agent: false, headers: { Authorization: `Bearer ${token}` } });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

/** Downloads and extracts a bundle, and holds each of its files to `SHA256SUMS`. */
export async function readBundle(service: TestApp, path: string) {
  const folder = newFolder();
  const response = await requestBundle(service, path);
  expect(response.statusCode).toBe(200);
  const file = join(folder, 'bundle.zip');
  const to = newFolder();
  await pipeline(response, createWriteStream(file));
  const names = await extractZip(file, to);
  const read = (name: string) => readFile(join(to, name), 'utf8');
  const sums = (await read('SHA256SUMS')).trimEnd().split('\n');
  for (const line of sums) {
    const [, sum, name = ''] = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line) ?? [];
    const bytes = await readFile(join(to, name));
    expect([name, createHash('sha256').update(bytes).digest('hex')]).toEqual([name, sum]);
  }
  expect(sums.map((line) => line.slice(66))).toEqual(names.slice(0, -1));
  return { response, file, to, names, read, manifest: JSON.parse(await read('manifest.json')) as Manifest };
}
