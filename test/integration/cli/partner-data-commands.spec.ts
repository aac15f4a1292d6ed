import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../../support/app.js';
import { answerOf as answer, commandsBeside, runCommand as run } from '../../support/command-line.js';
import { ScaleHouse } from '../../support/scale-house.js';
import { testServer } from '../../support/test-run.js';

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
    expect((await run('ticket', 'show', id, ...json)).out).toMatch(/"quantity": ?-0,/);
    const { out } = await run('ticket', 'revisions', id, ...json);
    expect(out.replace(/\s/g, '')).toContain('"later":[12.50,1e309]');
  });

  test('control characters in nested fields are printed as escapes', async () => {
    for (const words of [['show', id], ['list'], ['revisions', id]]) {
      const { out } = await run('ticket', ...words);
      expect(out).toContain('"truck":"42\\u009b"');
      expect(out.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    }
  });
});

describe('account import', () => {
  test('shows counts and the rows to correct, and ends with 1 where there are some', async () => {
    const { id } = await answer<{ id: string }>('hauler', 'create', '--name', 'Importing');
    const file = join(mkdtempSync(join(testServer().folder, 'import-')), 'accounts.csv');
    writeFileSync(file, 'accountName,billingAddress.state\nBig Rock,TX\nBad,Texas\n');
    const dry = await run('account', 'import', file, '--hauler-id', id, '--dry-run');
    expect([dry.code, dry.out]).toEqual([
      1,
      expect.stringMatching(/3 +invalid +Bad +billingAddress\.state must be[^]*2 rows: 1 would be created, 0 exist/),
    ]);
    writeFileSync(file, 'accountName\nBig Rock\n');
    const done = await run('account', 'import', file, '--hauler-id', id);
    expect(done).toEqual({ code: 0, out: '1 rows: 1 created, 0 exist, 0 in conflict, 0 invalid\n', err: '' });
    writeFileSync(file, 'name\nBig Rock\n');
    const wrong = await run('account', 'import', file, '--hauler-id', id);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('did you mean accountName')]);
  });
});
