import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { VisionFindings } from '../../../src/vision/client/findings.repository.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { addOldFindings, readOldFindings } from '../../support/rows.js';
import { connectVision } from '../../support/vision-partner.js';

let idle: TestApp;
beforeAll(async () => {
  idle = await startTestApp({ ticks: false });
});
afterAll(() => idle.close());

const MAX = 10_000;

interface Connection {
  readonly haulerId: string;
  readonly id: string;
}

let ended: Connection;
beforeEach(async () => {
  ended = await connectVision(idle, 'https://partner.example');
});

const sweep = () => idle.app.get(VisionFindings).deleteOld();

const find = (connection: Connection, [from, to]: readonly [number, number], seenDays: number) =>
  addOldFindings(idle, connection, { from, to, seenDays });
const kept = ({ id }: Connection) => readOldFindings(idle, id);

test('findings that were not seen for 90 days are deleted, others stay, however old', async () => {
  await find(ended, [1, 3], 90.01);
  await find(ended, [4, 5], 89.9);
  expect(await sweep()).toBe(3);
  expect(await kept(ended)).toEqual({ count: 2, first: 4, last: 5 });
});

test('a connection keeps its 10,000 last seen findings, whatever another connection has', async () => {
  const other = await connectVision(idle, 'https://partner.example');
  await find(ended, [1, MAX + 2_500], 1);
  await find(other, [1, MAX], 2);
  expect(await sweep()).toBe(2_500);
  expect(await kept(ended)).toEqual({ count: MAX, first: 2_501, last: MAX + 2_500 });
  expect(await kept(other)).toMatchObject({ count: MAX });
});
