import { describe, expect, test } from '@jest/globals';
import { Places } from '../../src/partner-client/places.js';

describe('places', () => {
  test('so many at once, the others in the order in which they came', async () => {
    const places = new Places(2);
    const [a, b, c, d] = [places.place(), places.place(), places.place(), places.place()];
    const entered: string[] = [];
    await a.take();
    await b.take();
    const waiting = [c.take().then(() => entered.push('c')), d.take().then(() => entered.push('d'))];
    await new Promise((resolve) => setImmediate(resolve));
    expect(entered).toEqual([]);
    b.leave();
    await waiting[0];
    expect(entered).toEqual(['c']);
    a.leave();
    await Promise.all(waiting);
    expect(entered).toEqual(['c', 'd']);
  });

  test('taken twice it is one, left twice it is left once', async () => {
    const places = new Places(1);
    const [a, b, c] = [places.place(), places.place(), places.place()];
    await a.take();
    await a.take();
    a.leave();
    a.leave();
    await b.take();
    let entered = false;
    const waiting = c.take().then(() => (entered = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(entered).toBe(false);
    b.leave();
    await waiting;
  });

  test('who gives up waits no longer, and takes nobody a place', async () => {
    const places = new Places(1);
    const [a, b, c] = [places.place(), places.place(), places.place()];
    await a.take();
    const abort = new AbortController();
    const given = b.take(abort.signal);
    const waiting = c.take(new AbortController().signal);
    abort.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    b.leave();
    a.leave();
    await waiting;
    c.leave();
    await expect(b.take(abort.signal)).rejects.toThrow('enough');
    await b.take();
  });

  test('who has entered and gives up then takes nobody the turn', async () => {
    const places = new Places(1);
    const [a, b, c] = [places.place(), places.place(), places.place()];
    const abort = new AbortController();
    await a.take();
    const second = b.take(abort.signal);
    const third = c.take();
    a.leave();
    await second;
    abort.abort();
    b.leave();
    await third;
  });
});
