import { describe, expect, test } from '@jest/globals';
import { flow, Hauler, ONE_SITE } from '../support/hauler.js';

describe('the identity of a ticket', () => {
  test('a push with a known flow is an update, and gets the same id (decision 20)', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const first = await hauler.push({ inboundFlow: flow('A', 1), outboundFlow: flow('X', 1) });
    expect(first).toMatchObject({ status: 200, body: { success: true } });
    expect(first.headers.get('ticket-result')).toBe('created');
    const again = await hauler.push({ inboundFlow: flow('A', 2) });
    expect(again).toMatchObject({ status: 200, body: { disposalTicketId: first.body.disposalTicketId } });
    expect(again.headers.get('ticket-result')).toBe('updated');
  });
});
