import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ScaleHouse } from '../../support/scale-house.js';
import { Receiver } from './receiver.js';

const PUSHES = 20;

let service: TestApp;
let other: TestApp;
beforeAll(async () => {
  service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  other = await startTestApp({ on: service });
});
afterAll(async () => {
  await other.close();
  await service.close();
});

test('two instances deliver each push once, whichever of them took it', async () => {
  const houses = await Promise.all([ScaleHouse.open(service), ScaleHouse.open(other)]);
  const receiver = await Receiver.open(service, { topics: ['ticket.created'] });
  // The other instance knows of the endpoint within four seconds.
  await eventually(async () => {
    await houses[1].expectAccepted({
      inboundFlow: { ticketNumber: `T-${Math.random()}`, updatedAt: new Date().toISOString() },
    });
    expect(receiver.received.length).toBeGreaterThan(0);
  }, 15_000);
  const tickets = await Promise.all(
    Array.from({ length: PUSHES }, (_, i) =>
      houses[i % 2 === 0 ? 0 : 1].expectAccepted({
        inboundFlow: { ticketNumber: `N-${i}`, updatedAt: new Date().toISOString() },
      }),
    ),
  );
  await eventually(async () => {
    const pending = await receiver.deliveries('&status=pending');
    expect([pending, receiver.received.length >= PUSHES + 1]).toEqual([[], true]);
  }, 15_000);
  const named = receiver.received.map(({ body }) => (JSON.parse(body) as { data: { ticketId: string } }).data.ticketId);
  const sent = tickets.map((ticketId) => named.filter((each) => each === ticketId).length);
  expect(sent).toEqual(Array(PUSHES).fill(1));
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(ids.length);
  await receiver.stop();
}, 60_000);
