import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { gauge } from '../../support/built-service.js';
import { eventually } from '../../support/eventually.js';
import { SlowClient } from '../../support/slow-client.js';
import { flow, Hauler, ONE_SITE, TICKET } from '../support/hauler.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { call } from '../support/target.js';

const TICKETS = '/platform-api/v1/tickets';
const MIB = 1_048_576;
/** A body that has no place is refused at once, and not after a wait. */
const AT_ONCE_MS = 1_500;

describe('bodies of 1 MiB that do not end', () => {
  let service: OwnService;
  let keys: string[];
  beforeAll(async () => {
    service = await startOwnService();
    const haulers = await Promise.all(Array.from({ length: 4 }, () => Hauler.create({ sites: ONE_SITE, service })));
    keys = await Promise.all(haulers.map((hauler) => hauler.key()));
  });

  const unfinished = async (key = ''): Promise<SlowClient> => {
    const lines = ['Host: x', 'Content-Type: application/json', `PLATFORM-API-KEY: ${key}`, `Content-Length: ${MIB}`];
    return (await SlowClient.open(service.url)).send(`POST ${TICKETS} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n{`);
  };
  const hold = (key: string | undefined, count: number) =>
    Promise.all(Array.from({ length: count }, () => unfinished(key)));
  const expectHeld = (mebibytes: number) =>
    eventually(async () => expect(await gauge(service, 'request_bodies_receiving_bytes')).toBe(mebibytes * MIB));
  const whole = (key = '') => {
    const body = JSON.stringify({ ...TICKET, inboundFlow: flow('whole') }).padEnd(MIB);
    return call(
      'POST',
      TICKETS,
      { headers: { 'PLATFORM-API-KEY': key, 'Content-Type': 'application/json' }, body },
      service,
    );
  };

  test('are refused at once beyond what a hauler may have, and delay no body of another one (decision 58)', async () => {
    const [loud, second, third, quiet] = keys;
    const held = await Promise.all([hold(loud, 16), hold(second, 16), hold(third, 16)]);
    await hold(quiet, 8);
    await expectHeld(56);
    const beyond = [await unfinished(loud), await unfinished(quiet)];
    await delay(AT_ONCE_MS);
    expect(beyond.map(({ answer }) => answer)).toEqual(
      beyond.map(() => expect.stringMatching(/^HTTP\/1\.1 503 (?:.*\r\n)*?Retry-After: 1\r\n/)),
    );
    for (const client of held[1]?.slice(0, 8) ?? []) client.close();
    await expectHeld(48);
    expect((await whole(quiet)).status).toBe(200);
  });
});
