import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Batcher } from '../../src/scale/batcher.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { ScaleHouse } from '../support/scale-house.js';

let service: TestApp;
let house: ScaleHouse;
beforeAll(async () => {
  service = await startTestApp();
  house = await ScaleHouse.open(service);
});
afterAll(() => service.close());

const flow = (ticketNumber: string | undefined, second: number) =>
  ticketNumber === undefined
    ? undefined
    : { ticketNumber, updatedAt: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z` };

/** Pushes the given flows; the quantity is the second, so that contents differ too. */
async function push(inbound: string | undefined, outbound: string | undefined, second: number): Promise<string> {
  const { status, headers } = await house.push(
    house.ticket({
      inboundFlow: flow(inbound, second),
      outboundFlow: flow(outbound, second),
      materials: [house.material({ quantity: second })],
    }),
  );
  return `${status} ${headers.get('ticket-result')}`;
}

/** In this order and in one batch: the test blocks the two batches that may run, and the pushes wait for the next one. */
async function inOneBatch(...pushes: readonly Parameters<typeof push>[]): Promise<string[]> {
  const submit = jest.spyOn(Batcher.prototype, 'submit');
  const results: Promise<string>[] = [];
  const heldUp: Parameters<typeof push>[] = [
    ['F', 'FX', 1],
    ['G', 'GX', 1],
  ];
  await service.dataSource.transaction(async (manager) => {
    await manager.query('LOCK TABLE tickets IN EXCLUSIVE MODE');
    for (const each of [...heldUp, ...pushes]) {
      results.push(push(...each));
      await eventually(() => expect(submit).toHaveBeenCalledTimes(results.length));
    }
  });
  submit.mockRestore();
  return (await Promise.all(results)).slice(heldUp.length);
}

describe('numbers that change hands during concurrent pushes (decisions 20, 26)', () => {
  test('one push renames a flow, another takes the released number', async () => {
    const tickets = Array.from({ length: 40 }, (_, i) => i);
    for (const i of tickets) await push(`A${i}`, `X${i}`, 1);
    for (let round = 0; round < 3; round++) {
      const results = await Promise.all(
        tickets.flatMap((i) => [
          push(`B${round}-${i}`, `X${i}`, 2 + round),
          push(round === 0 ? `A${i}` : `B${round - 1}-${i}`, undefined, 20),
        ]),
      );
      expect(results.filter((result) => !result.startsWith('200 '))).toEqual([]);
    }
  });

  test('two tickets exchange a number through a third one', async () => {
    await push('P', 'PX', 1);
    await push('Q', 'QX', 1);
    expect(await inOneBatch(['R', 'PX', 2], ['P', 'QX', 2], ['Q', 'PX', 3])).toEqual(
      Array.from({ length: 3 }, () => '200 updated'),
    );
  });
});
