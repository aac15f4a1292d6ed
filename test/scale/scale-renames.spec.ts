import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
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

/** Pushes with the named flows; the quantity is the second, so that contents differ too. */
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

describe('numbers that change hands while many push at once (decisions 20, 26)', () => {
  test('one renames a flow, another takes the freed number', async () => {
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

  test('two tickets swap a number by way of a third', async () => {
    await push('P', 'PX', 1);
    await push('Q', 'QX', 1);
    expect(await Promise.all([push('R', 'PX', 2), push('P', 'QX', 2), push('Q', 'PX', 3)])).toEqual(
      Array.from({ length: 3 }, () => '200 updated'),
    );
  });
});
