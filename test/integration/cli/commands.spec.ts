import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommandLine } from '../../../src/cli/program.js';
import { type DemoCamera, demoRecording } from '../../../src/demo/demo-data.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { answerOf, commandsBeside, runCommand } from '../../support/command-line.js';
import { eventually } from '../../support/eventually.js';
import { newestExchange } from '../../support/exchange-scene.js';
import { ScaleHouse } from '../../support/scale-house.js';
import { testServer } from '../../support/test-run.js';

/** `acceptance/admin/command-line.spec.ts` has the output, the exit codes and the secrets of commands. */
let service: TestApp;
let leave: () => void;
beforeAll(async () => {
  service = await startTestApp();
  leave = commandsBeside(service);
});
afterAll(async () => {
  leave();
  await service.close();
});

test('exchange tail --follow prints each later exchange once, when it is written', async () => {
  const { key } = await issueKey(service, ['account']);
  const create = (accountName: string) =>
    service.call('POST', '/platform-api/v1/accounts', { headers: { 'PLATFORM-API-KEY': key }, body: { accountName } });
  for (const accountName of ['First', 'first', 'Second']) await create(accountName);
  const watched = await startTestApp({ on: service });
  const printed: string[] = [];
  const streams = { out: (text: string) => void printed.push(text), err: () => undefined };
  const local = { url: watched.url, token: service.env.ADMIN_TOKEN };
  const following = runCommandLine(['exchange', 'tail', '--follow', '--interface', 'account'], streams, local);
  await eventually(async () => expect(printed.length).toBeGreaterThanOrEqual(3));
  const before = printed.length;
  for (const accountName of ['Third', 'Fourth']) await create(accountName);
  const newest = await newestExchange(service, {});
  await eventually(async () => expect(printed.at(-1)).toContain(newest.id));
  expect([printed.length, new Set(printed).size]).toEqual([before + 2, before + 2]);
  await watched.close();
  expect(await following).toBe(1);
});

describe('ticket', () => {
  let house: ScaleHouse;
  let id: string;
  beforeAll(async () => {
    house = await ScaleHouse.open(service);
    const flow = (second: number) => ({ ticketNumber: 'IN-1', updatedAt: `2026-01-31T08:30:0${second}Z` });
    const body = JSON.stringify(house.ticket({ inboundFlow: flow(2), customFields: { truck: '42\u009b' }, later: 1 }));
    // JavaScript would write these numbers as 0, 12.5 and null.
    id = (await house.push(body.replace('12.5', '-0').replace('"later":1', '"later":[12.50,1e309]'))).body
      .disposalTicketId;
    await house.push(house.ticket({ inboundFlow: flow(1) }));
    await house.push(house.ticket({ outboundFlow: flow(3) }));
  });

  test.each([[[]], [['--json']]])('numbers keep their digits (%j)', async (json) => {
    expect((await runCommand('ticket', 'show', id, ...json)).out).toMatch(/"quantity": ?-0,/);
    const { out } = await runCommand('ticket', 'revisions', id, ...json);
    expect(out.replace(/\s/g, '')).toContain('"later":[12.50,1e309]');
  });

  test('control characters in nested fields are printed as escapes', async () => {
    for (const words of [['show', id], ['list'], ['revisions', id]]) {
      const { out } = await runCommand('ticket', ...words);
      expect(out).toContain('"truck":"42\\u009b"');
      expect(out.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    }
  });
});

describe('account import', () => {
  test('shows counts and the rows to correct, and ends with 1 where there are some', async () => {
    const { id } = await answerOf<{ id: string }>('hauler', 'create', '--name', 'Importing');
    const file = join(mkdtempSync(join(testServer().folder, 'import-')), 'accounts.csv');
    writeFileSync(file, 'accountName,billingAddress.state\nBig Rock,TX\nBad,Texas\n');
    const dry = await runCommand('account', 'import', file, '--hauler-id', id, '--dry-run');
    expect([dry.code, dry.out]).toEqual([
      1,
      expect.stringMatching(/3 +invalid +Bad +billingAddress\.state must be[^]*2 rows: 1 would be created, 0 exist/),
    ]);
    writeFileSync(file, 'accountName\nBig Rock\n');
    const done = await runCommand('account', 'import', file, '--hauler-id', id);
    expect(done).toEqual({ code: 0, out: '1 rows: 1 created, 0 exist, 0 in conflict, 0 invalid\n', err: '' });
    writeFileSync(file, 'name\nBig Rock\n');
    const wrong = await runCommand('account', 'import', file, '--hauler-id', id);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('did you mean accountName')]);
  });
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
