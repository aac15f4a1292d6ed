import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { copyFileSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DemoCamera, demoRecording } from '../../../src/demo/demo-data.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { answerOf, commandsBeside, runCommand } from '../../support/command-line.js';
import { eventually } from '../../support/eventually.js';
import { accepts, POST, startVisionPartner, type VisionPartner } from '../../support/scripted-vision.js';

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

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'haulbridge-import-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const CAMERA = ['--customer-id', 'C', '--truck-id', 'T9', '--camera-id', 'front'];

/** A recording of one minute. */
const addRecording = (file: string, camera: DemoCamera = 'front') =>
  copyFileSync(demoRecording(camera, new Date(0)), join(folder, file));
const addOtherFile = (file: string) => writeFileSync(join(folder, file), 'not a recording');

interface Row {
  readonly file: string;
  readonly result: string;
  readonly startTime?: string;
  readonly endTime?: string;
  readonly reason?: string;
}

const importing = (...more: string[]) => ['recording', 'import', folder, ...CAMERA, ...more];

async function failedImport(...more: string[]): Promise<{ err: string; data: Row[] }> {
  const { code, out, err } = await runCommand(...importing(...more), '--json');
  expect(code).toBe(1);
  return { err, data: (JSON.parse(out) as { data: Row[] }).data };
}

/** The files of the folder that this process has open; only Linux lists them. */
function openFiles(): string[] {
  if (process.platform !== 'linux') return [];
  const paths = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
  return paths.filter((path) => path.startsWith(folder));
}

test('a folder is imported in sequence, and again without effect', async () => {
  addRecording('2026-01-31T08-30-00Z.mp4');
  addRecording('b.mp4', 'rear');
  const first = {
    file: '2026-01-31T08-30-00Z.mp4',
    startTime: '2026-01-31T08:30:00Z',
    endTime: '2026-01-31T08:31:00Z',
  };
  const second = { file: 'b.mp4', startTime: '2026-01-31T08:31:00Z', endTime: '2026-01-31T08:32:00Z' };
  const data = [first, second];
  expect(await answerOf(...importing())).toEqual({ data: data.map((row) => ({ ...row, result: 'imported' })) });
  const reason = expect.stringContaining('a recording that starts at');
  expect(await answerOf(...importing())).toEqual({ data: data.map((row) => ({ ...row, result: 'known', reason })) });
  await eventually(() => expect(openFiles()).toEqual([]));
});

test('a file that cannot be imported is reported with its reason, and the others are imported', async () => {
  addRecording('2026-02-31T08-32-00Z.mp4');
  addRecording('2026-03-01T08-30-00Z.mp4');
  addRecording('2026-03-01T08-31-00Z-b.mp4');
  addOtherFile('2026-03-01T08-31-00Z.mp4');
  addRecording('20260301T083200Z.mp4');
  const { err, data } = await failedImport();
  expect(err).toBe(
    'error: 2026-02-31T08-32-00Z.mp4, 2026-03-01T08-31-00Z.mp4 cannot be imported: see the reasons in the table\n',
  );
  expect(data.map(({ file, result }) => `${file} ${result}`)).toEqual([
    '2026-02-31T08-32-00Z.mp4 refused',
    '2026-03-01T08-30-00Z.mp4 imported',
    '2026-03-01T08-31-00Z-b.mp4 imported',
    '2026-03-01T08-31-00Z.mp4 refused',
    '20260301T083200Z.mp4 imported',
  ]);
  expect(data[0]?.reason).toBe('its name contains no real time: 2026-02-31T08:32:00Z');
  expect(data[3]?.reason).toMatch(/MP4/);
});

test('a file after an unreadable one has no start time', async () => {
  addOtherFile('a.mp4');
  addRecording('b.mp4');
  const { data } = await failedImport('--start-time', '2026-04-01T00:00:00Z');
  const refused = { file: 'b.mp4', result: 'refused', reason: expect.stringContaining('has no start time') };
  expect(data).toMatchObject([{ file: 'a.mp4', result: 'refused' }, refused]);
});

test('files before the first one with a start time are refused, and the others are imported', async () => {
  for (const file of ['0.mp4', '1.mp4', '2026-07-01T08-30-00Z.mp4']) addRecording(file);
  const { data } = await failedImport();
  expect(data.map(({ result }) => result)).toEqual(['refused', 'refused', 'imported']);
});

test('the import ends at the first failure of the service', async () => {
  for (const file of ['a.mp4', 'b.mp4']) addRecording(file);
  const { err, data } = await failedImport('--start-time', '2026-05-01T00:00:00Z', '--url', 'http://127.0.0.1:1');
  expect(err).toMatch(/^error: the import ended at a\.mp4: connection refused by http:\/\/127\.0\.0\.1:1/);
  expect(data).toMatchObject([{ file: 'a.mp4', result: 'refused' }]);
  await eventually(() => expect(openFiles()).toEqual([]));
});

test('wrong names of the camera are reported once, by their options', async () => {
  for (const file of ['2026-06-01T08-30-00Z.mp4', '2026-06-01T08-31-00Z.mp4']) addRecording(file);
  const must = 'must be text that is not blank, of 1 to 255 characters';
  const wrong = ['--customer-id', '', '--truck-id', 'x'.repeat(256), '--camera-id', ''];
  expect(await runCommand('recording', 'import', folder, ...wrong)).toEqual({
    code: 2,
    out: '',
    err: 'error: --customer-id MUST; --truck-id MUST; --camera-id MUST\n'.replaceAll('MUST', must),
  });
});

test('a folder without a start time needs --start-time', async () => {
  expect(await runCommand(...importing())).toMatchObject({ code: 1, err: expect.stringContaining('no .mp4 file') });
  const missing = ['recording', 'import', join(folder, 'missing'), ...CAMERA];
  const err = expect.stringContaining('cannot be read as a folder: ENOENT');
  expect(await runCommand(...missing)).toMatchObject({ code: 1, err });
  addRecording('a.mp4');
  expect(await runCommand(...importing())).toMatchObject({ code: 1, err: expect.stringContaining('--start-time') });
  expect(await runCommand(...importing('--start-time', 'yesterday'))).toEqual({
    code: 2,
    out: '',
    err: 'error: --start-time must be an RFC 3339 date-time with an offset, such as 2026-01-31T08:30:00Z\n',
  });
  const startTime = '2026-02-01T00:00:00Z';
  const data = [expect.objectContaining({ result: 'imported', startTime })];
  expect(await answerOf(...importing('--start-time', startTime))).toEqual({ data });
});
