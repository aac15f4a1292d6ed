import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  limitsFor,
  MediaProcessError,
  probeInProcess,
} from '../../../src/reference-partner/vision/media/media-process.js';
import { demo, patchBox, remux, B_FRAMES } from './sample-files.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'haulbridge-process-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function damaged(name: string, change: (bytes: Buffer) => Buffer): Promise<string> {
  const path = join(folder, `${name}.mp4`);
  await writeFile(path, change(await readFile(demo(0))));
  return path;
}

describe('media is read in a process of its own', () => {
  it('answers the duration', async () => {
    expect(await probeInProcess(demo(0))).toBe(60);
  });

  it.each([
    ['not an MP4', (bytes: Buffer) => bytes.subarray(100), 'not-mp4'],
    ['a chunk of 0x10000000 samples', (bytes: Buffer) => patchBox(bytes, 'stsc', 12, 0x10000000), 'unreadable'],
    ['a chunk of 0xFFFFFFFF samples', (bytes: Buffer) => patchBox(bytes, 'stsc', 12, 0xffffffff), 'unreadable'],
    ['a chunk of more samples than all', (bytes: Buffer) => patchBox(bytes, 'stsc', 12, 5_000), 'unreadable'],
    [
      '0xFFFFFFFF equal samples',
      (bytes: Buffer) => patchBox(patchBox(bytes, 'stsz', 4, 1), 'stsz', 8, 0xffffffff),
      'unreadable',
    ],
    ['0xFFFFFFFF times of samples', (bytes: Buffer) => patchBox(bytes, 'stts', 8, 0xffffffff), 'unreadable'],
  ])('refuses at once: %s', async (name, change, fault) => {
    await expect(probeInProcess(await damaged(name, change))).rejects.toMatchObject({ name: 'MediaError', fault });
  });

  it('reports a file that is absent as the file system does', async () => {
    const path = join(folder, 'absent.mp4');
    await expect(probeInProcess(path)).rejects.toMatchObject({ code: 'ENOENT', path });
  });

  it('ends a video that takes too long', async () => {
    const failure = probeInProcess(demo(0), { ...limitsFor(0), timeoutMs: 20 });
    await expect(failure).rejects.toThrow('reading the recordings took longer than 0 s');
    await expect(failure).rejects.toBeInstanceOf(MediaProcessError);
  });

  it('ends a video that needs too much memory', async () => {
    const failure = probeInProcess(demo(0), { ...limitsFor(0), maxRssBytes: 1_000 });
    await expect(failure).rejects.toThrow('reading the recordings took too much memory');
  });

  it('ends a fragment that claims 0xFFFFFFFF samples, whatever it holds', async () => {
    const path = await remux(B_FRAMES, join(folder, 'fragments.mp4'), { fastStart: 'fragmented' });
    const bytes = await readFile(path);
    const run = bytes.indexOf('trun');
    bytes.writeUInt32BE(0, run + 4);
    bytes.writeUInt32BE(0xffffffff, run + 8);
    await writeFile(path, bytes);
    const started = Date.now();
    await expect(probeInProcess(path)).rejects.toThrow();
    expect(Date.now() - started).toBeLessThan(20_000);
  });

  it('leaves no process behind', async () => {
    const children = await readdir('/proc');
    const commands = await Promise.all(
      children.filter((name) => /^\d+$/.test(name)).map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')),
    );
    expect(
      commands.filter((stat) => stat.split(' ')[3] === String(process.pid) && stat.includes('media-child')),
    ).toEqual([]);
  });
});
