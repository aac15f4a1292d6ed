import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TicketRevision } from '../../../src/contracts/admin/tickets.routes.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { ScaleHouse } from '../../support/scale-house.js';

let service: TestApp;
let house: ScaleHouse;
beforeAll(async () => {
  service = await startTestApp();
  house = await ScaleHouse.open(service);
});
afterAll(() => service.close());

const flow = (ticketNumber: string, minute: number) => ({
  ticketNumber,
  updatedAt: `2026-01-31T08:${String(minute).padStart(2, '0')}:00Z`,
});

/** Pushes of one ticket; some are late, some bring a flow. */
async function pushSeveral(number: string): Promise<string> {
  const push = (quantity: number, minute: number, more = {}) =>
    house.push(house.ticket({ materials: [house.material({ quantity })], inboundFlow: flow(number, minute), ...more }));
  const { body } = await push(14.9, 1, { customFields: { driver: 'Dana' } });
  await push(12.48, 3, { customFields: { driver: 'Eli', gate: '7' } });
  await push(99, 2, { outboundFlow: flow(`${number}-out`, 1) });
  await push(12.48, 4, { inboundFlow: flow(`${number}-new`, 4), outboundFlow: flow(`${number}-out`, 1) });
  await push(11, 5, {
    inboundFlow: flow(`${number}-new`, 5),
    materials: [house.material(), house.material({ quantity: 11 })],
  });
  return (body as { disposalTicketId: string }).disposalTicketId;
}

async function changesOf(id: string, query = 'pageSize=100') {
  const { body } = await service.admin<{ data: TicketRevision[] }>('GET', `/tickets/${id}/revisions?${query}`);
  return body.data.map(({ revision, changes }) => [revision, changes]);
}

const forget = (id: string, revisions = '1=1') =>
  service.dataSource.query(`UPDATE ticket_revisions SET changes = NULL WHERE ticket_id = $1 AND ${revisions}`, [id]);

test('revisions of a version that stored no changes are compared when they are read, with what was in force', async () => {
  const id = await pushSeveral('OLD-1');
  const stored = await changesOf(id);
  expect(stored).toHaveLength(5);
  expect(stored[1]?.[1]).toEqual(expect.arrayContaining([expect.objectContaining({ before: 14.9, after: 12.48 })]));
  await forget(id);
  expect(await changesOf(id)).toEqual(stored);
});

test('also between those that have their changes, as while an older instance runs', async () => {
  const id = await pushSeveral('OLD-2');
  const stored = await changesOf(id);
  await forget(id, 'revision IN (2, 4)');
  expect(await changesOf(id)).toEqual(stored);
});

test('on a page of its own, a flow that may have come with an earlier push is not said to be new', async () => {
  const id = await pushSeveral('OLD-3');
  const stored = await changesOf(id);
  await forget(id);
  const alone = async (revision: number) => (await changesOf(id, `page=${revision}&pageSize=1`))[0];
  expect(await Promise.all([1, 2, 3, 4, 5].map(alone))).toEqual([...stored.slice(0, 2), [3, []], ...stored.slice(3)]);
});

test('a body that cannot be read as a ticket, and what follows it, has no changes; the list is complete', async () => {
  const id = await pushSeveral('OLD-4');
  await forget(id);
  await service.dataSource.query(
    `UPDATE ticket_revisions SET body = '{"siteId":1}' WHERE ticket_id = $1 AND revision = 2`,
    [id],
  );
  expect((await changesOf(id)).map(([revision, changes]) => [revision, (changes as object[]).length > 0])).toEqual([
    [1, false],
    [2, false],
    [3, false],
    [4, false],
    [5, true],
  ]);
});
