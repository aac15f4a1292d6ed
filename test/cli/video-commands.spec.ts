import { copyFileSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { demoRecording } from '../../src/demo/demo-recordings.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { answerOf as answer, commandsBeside, runCommand as run } from '../support/command-line.js';
import { eventually } from '../support/eventually.js';
import { accepts, connectVision, POST, startVisionPartner, type VisionPartner } from '../support/vision-partner.js';

let service: TestApp;
let partner: VisionPartner;
let leave: () => void;
beforeAll(async () => {
  service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  partner = await startVisionPartner();
  partner.on(POST, accepts());
  leave = commandsBeside(service);
});
afterAll(async () => {
  leave();
  await service.close();
  await partner.stop();
});

test('a clip is requested and listed', async () => {
  const { id: connectionId } = await connectVision(service, partner.url);
  const words = ['--connection-id', connectionId, '--truck-id', 'T1', '--camera-id', 'front'];
  const range = ['--start-time', '2026-01-31T08:30:00Z', '--end-time', '2026-01-31T08:35:00Z'];
  const { id } = await answer<{ id: string }>('video-request', 'create', ...words, ...range);
  const list = await answer('video-request', 'list', '--truck-id', 'T1');
  expect(list).toMatchObject({ data: [{ id, truckId: 'T1' }], pagination: { totalItems: 1 } });
  expect(await answer('video-request', 'show', id)).toMatchObject({ id, parts: [{ number: 1 }] });
});

test('a range that ends before it starts is wrong usage', async () => {
  const { id } = await connectVision(service, partner.url);
  const range = ['--start-time', '2026-01-31T08:30:00Z', '--end-time', '2026-01-31T08:25:00Z'];
  const more = ['--connection-id', id, '--truck-id', 'T1', '--camera-id', 'front'];
  expect(await run('video-request', 'create', ...more, ...range)).toMatchObject({
    code: 2,
    err: 'error: --end-time must be after --start-time\n',
  });
});

test('recordings are listed, and old ones counted without deleting', async () => {
  expect(await answer('recording', 'list', '--status', 'stored')).toMatchObject({ data: [] });
  expect(await answer('retention', 'run', '--dry-run')).toEqual({ recordings: 0, bytes: 0 });
});

const imported = (folder: string, ...more: string[]) => [
  'recording',
  'import',
  folder,
  ...['--customer-id', 'C', '--truck-id', 'T9', '--camera-id', 'front'],
  ...more,
];

/** Of this process; only Linux tells. */
const openFiles = (): string[] =>
  process.platform !== 'linux'
    ? []
    : readdirSync('/proc/self/fd').flatMap((fd) => {
        try {
          return [readlinkSync(`/proc/self/fd/${fd}`)];
        } catch {
          return [];
        }
      });

test('a folder of films is imported, each from where the one before ended, and again without harm', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-import-'));
  const start = new Date('2026-01-31T08:30:00Z');
  copyFileSync(demoRecording('front', start), join(folder, '2026-01-31T08-30-00Z.mp4'));
  copyFileSync(demoRecording('rear', start), join(folder, 'b.mp4'));
  try {
    const films = [
      {
        file: '2026-01-31T08-30-00Z.mp4',
        startTime: '2026-01-31T08:30:00Z',
        endTime: '2026-01-31T08:31:00Z',
      },
      { file: 'b.mp4', startTime: '2026-01-31T08:31:00Z', endTime: '2026-01-31T08:32:00Z' },
    ];
    expect(await answer(...imported(folder))).toEqual({ data: films.map((film) => ({ ...film, result: 'imported' })) });
    expect(await answer(...imported(folder))).toMatchObject({
      data: [
        { result: 'known', reason: 'camera front has a recording that starts at 2026-01-31T08:30:00Z already' },
        { result: 'known' },
      ],
    });
    await eventually(() => expect(openFiles().filter((path) => path.startsWith(folder))).toEqual([]));
    writeFileSync(join(folder, 'c.mp4'), 'no film');
    expect(await run(...imported(folder))).toMatchObject({
      code: 1,
      err: expect.stringContaining('c.mp4 cannot be imported'),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a film that cannot be imported is told with its reason, and the others are imported', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-import-'));
  const start = new Date('2026-03-01T08:30:00Z');
  copyFileSync(demoRecording('front', start), join(folder, '2026-03-01T08-30-00Z.mp4'));
  writeFileSync(join(folder, '2026-03-01T08-31-00Z.mp4'), 'no film');
  copyFileSync(demoRecording('front', start), join(folder, '2026-03-01T08-31-00Z-b.mp4'));
  copyFileSync(demoRecording('rear', start), join(folder, '2026-03-01T08-32-00Z.mp4'));
  copyFileSync(demoRecording('rear', start), join(folder, '2026-02-31T08-32-00Z.mp4'));
  try {
    const { code, out, err } = await run(...imported(folder), '--json');
    expect(code).toBe(1);
    expect(err).toBe(
      'error: 2026-02-31T08-32-00Z.mp4, 2026-03-01T08-31-00Z.mp4 cannot be imported: the table says why\n',
    );
    const { data } = JSON.parse(out) as { data: { file: string; result: string; reason?: string }[] };
    expect(data.map(({ file, result }) => `${file} ${result}`)).toEqual([
      '2026-02-31T08-32-00Z.mp4 refused',
      '2026-03-01T08-30-00Z.mp4 imported',
      '2026-03-01T08-31-00Z-b.mp4 imported',
      '2026-03-01T08-31-00Z.mp4 refused',
      '2026-03-01T08-32-00Z.mp4 imported',
    ]);
    expect(data[0]?.reason).toBe('its name gives no real time: 2026-02-31T08:32:00Z');
    expect(data[3]?.reason).toMatch(/MP4/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a film after one that could not be read does not know when it began', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-import-'));
  writeFileSync(join(folder, 'a.mp4'), 'no film');
  copyFileSync(demoRecording('front', new Date(0)), join(folder, 'b.mp4'));
  try {
    const { code, out } = await run(...imported(folder, '--start-time', '2026-04-01T00:00:00Z'), '--json');
    expect(code).toBe(1);
    const refused = { file: 'b.mp4', result: 'refused', reason: expect.stringContaining('does not say when it began') };
    expect(JSON.parse(out)).toMatchObject({ data: [{ file: 'a.mp4', result: 'refused' }, refused] });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a first film that does not say when it began is told like any other, and the others are imported', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-import-'));
  for (const file of ['0.mp4', '1.mp4', '2026-07-01T08-30-00Z.mp4'])
    copyFileSync(demoRecording('front', new Date(0)), join(folder, file));
  try {
    const { code, out, err } = await run(...imported(folder), '--json');
    expect([code, err]).toEqual([1, 'error: 0.mp4, 1.mp4 cannot be imported: the table says why\n']);
    const refused = { result: 'refused', reason: expect.stringContaining('does not say when it began') };
    const dated = { result: 'imported', startTime: '2026-07-01T08:30:00Z' };
    expect(JSON.parse(out)).toMatchObject({
      data: [{ file: '0.mp4', ...refused }, { file: '1.mp4', ...refused }, dated],
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('an import that the storage fails ends there, and tells of what it has come to', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-import-'));
  for (const file of ['a.mp4', 'b.mp4']) copyFileSync(demoRecording('front', new Date(0)), join(folder, file));
  process.env['STORAGE_URL'] = 'file:/dev/null/videos';
  try {
    const { code, out, err } = await run(...imported(folder, '--start-time', '2026-05-01T00:00:00Z'), '--json');
    expect([code, err]).toEqual([1, 'error: the import ended at a.mp4: the table says why\n']);
    const reason = 'The video storage failed: not a directory (ENOTDIR).';
    expect(JSON.parse(out)).toEqual({ data: [{ file: 'a.mp4', result: 'refused', reason }] });
  } finally {
    delete process.env['STORAGE_URL'];
    rmSync(folder, { recursive: true });
  }
});

test('options that are wrong for all films are told once, by their names, before any film is looked at', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-import-'));
  for (const file of ['a.mp4', '2026-06-01T08-30-00Z.mp4']) writeFileSync(join(folder, file), 'no film');
  try {
    const must = 'must be text that is not blank, of 1 to 255 characters';
    const wrong = ['--customer-id', '', '--truck-id', 'x'.repeat(256), '--camera-id', ''];
    expect(await run('recording', 'import', folder, ...wrong)).toEqual({
      code: 2,
      out: '',
      err: 'error: --customer-id MUST; --truck-id MUST; --camera-id MUST\n'.replaceAll('MUST', must),
    });
    const both = await run(...imported(folder, '--truck-id', '', '--start-time', 'today'));
    expect([both.code, both.err]).toEqual([2, expect.stringMatching(/^error: --start-time must .*; --truck-id must /)]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('films that do not say when they began need a start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-import-'));
  try {
    expect(await run(...imported(folder))).toMatchObject({ code: 1, err: expect.stringContaining('no .mp4 file') });
    const missing = await run(...imported(join(folder, 'missing')));
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('cannot be read as a folder: ENOENT') });
    copyFileSync(demoRecording('front', new Date(0)), join(folder, 'a.mp4'));
    expect(await run(...imported(folder))).toMatchObject({ code: 1, err: expect.stringContaining('--start-time') });
    expect(await run(...imported(folder, '--start-time', 'yesterday'))).toEqual({
      code: 2,
      out: '',
      err: 'error: --start-time must be an RFC 3339 date-time with an offset, such as 2026-01-31T08:30:00Z\n',
    });
    expect(await answer(...imported(folder, '--start-time', '2026-02-01T00:00:00Z'))).toMatchObject({
      data: [{ result: 'imported', startTime: '2026-02-01T00:00:00Z' }],
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
