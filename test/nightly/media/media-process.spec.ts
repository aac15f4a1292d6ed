import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Clip } from '../../../src/reference-partner/vision/media/cut-clip.js';
import {
  cutClipInProcess,
  limitsFor,
  MediaProcessError,
} from '../../../src/reference-partner/vision/media/media-process.js';
import { storageName } from '../../../src/storage/storage.js';
import { clipFolder, at, demo, patchBox, remux, B_FRAMES } from './sample-files.js';

const { folder } = clipFolder();

const NEVER = new AbortController().signal;

/** Stores a video as the recording of a minute and returns its name. */
async function stored(bytes: Buffer): Promise<string> {
  const name = storageName('recordings', randomUUID());
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), bytes);
  return name;
}

/** Cuts the whole minute of a stored recording. */
function cut(
  {
    name,
    sizeBytes = 100_000,
    target = join(folder, 'clip.mp4'),
  }: { name: string; sizeBytes?: number; target?: string },
  limits = limitsFor(0),
  signal = NEVER,
): Promise<Clip> {
  const range = { startTime: at(0), endTime: at(60) };
  const order = { storageUrl: `file:${folder}`, chunks: [{ name, sizeBytes, ...range }], range, target, signal };
  return cutClipInProcess(order, limits);
}

const cutBytes = async (bytes: Buffer, limits = limitsFor(0), signal = NEVER): Promise<Clip> =>
  cut({ name: await stored(bytes), sizeBytes: bytes.length }, limits, signal);

describe('a clip is cut in a child process, which', () => {
  it('returns the clip', async () => {
    expect(await cutBytes(await readFile(demo(0)))).toMatchObject({ startTime: at(0), endTime: at(60), missing: [] });
  });

  it.each([
    ['not an MP4', (bytes: Buffer) => bytes.subarray(100), 'unreadable'],
    ['a chunk of 0x10000000 samples', (bytes: Buffer) => patchBox(bytes, 'stsc', 12, 0x10000000), 'unreadable'],
    ['a chunk of 0xFFFFFFFF samples', (bytes: Buffer) => patchBox(bytes, 'stsc', 12, 0xffffffff), 'unreadable'],
    ['a chunk of more samples than all', (bytes: Buffer) => patchBox(bytes, 'stsc', 12, 5_000), 'unreadable'],
    [
      '0xFFFFFFFF equal samples',
      (bytes: Buffer) => patchBox(patchBox(bytes, 'stsz', 4, 1), 'stsz', 8, 0xffffffff),
      'unreadable',
    ],
    ['0xFFFFFFFF times of samples', (bytes: Buffer) => patchBox(bytes, 'stts', 8, 0xffffffff), 'unreadable'],
  ])('refuses at once: %s', async (_, change, fault) => {
    await expect(cutBytes(change(await readFile(demo(0))))).rejects.toMatchObject({ name: 'MediaError', fault });
  });

  it('reports a recording that is absent as the storage does', async () => {
    const name = storageName('recordings', randomUUID());
    await mkdir(join(folder, 'recordings'), { recursive: true });
    await expect(cut({ name })).rejects.toMatchObject({ name: 'NotStoredError', file: name });
  });

  it('reports a target in a folder that is absent as the file system does', async () => {
    const target = join(folder, 'absent', 'clip.mp4');
    const bytes = await readFile(demo(0));
    const failure = cut({ name: await stored(bytes), sizeBytes: bytes.length, target });
    await expect(failure).rejects.toMatchObject({ code: 'ENOENT', path: target });
  });

  it('ends a video that takes too long', async () => {
    const failure = cutBytes(await readFile(demo(0)), { ...limitsFor(0), timeoutMs: 20 });
    await expect(failure).rejects.toThrow('reading the recordings took longer than 0 s');
    await expect(failure).rejects.toBeInstanceOf(MediaProcessError);
  });

  it('ends a video that needs too much memory', async () => {
    const failure = cutBytes(await readFile(demo(0)), { ...limitsFor(0), maxRssBytes: 1_000 });
    await expect(failure).rejects.toThrow('reading the recordings took too much memory');
  });

  it('ends a fragment that claims 0xFFFFFFFF samples, whatever it holds', async () => {
    const bytes = await readFile(await remux(B_FRAMES, join(folder, 'fragments.mp4'), { fastStart: 'fragmented' }));
    const run = bytes.indexOf('trun');
    bytes.writeUInt32BE(0, run + 4);
    bytes.writeUInt32BE(0xffffffff, run + 8);
    const started = Date.now();
    await expect(cutBytes(bytes)).rejects.toThrow();
    expect(Date.now() - started).toBeLessThan(20_000);
  });

  it('can be aborted before and during its work', async () => {
    const bytes = await readFile(demo(0));
    await expect(cutBytes(bytes, limitsFor(0), AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
    const name = storageName('recordings', randomUUID());
    await expect(cut({ name }, limitsFor(0), AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
    const controller = new AbortController();
    const failure = cut({ name: await stored(bytes), sizeBytes: bytes.length }, limitsFor(0), controller.signal);
    controller.abort(new Error('shutting down'));
    await expect(failure).rejects.toThrow('shutting down');
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
