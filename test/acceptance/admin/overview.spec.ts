import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { flow, Hauler, ONE_SITE, type Plain, TICKET } from '../support/hauler.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { administer, call } from '../support/target.js';

interface Day extends Plain {
  readonly day: string;
  readonly startTime: string;
  readonly endTime: string;
  readonly refusedCalls?: number;
}
interface Days {
  readonly days: readonly Day[];
  readonly quiet?: readonly Plain[];
}

const TOKENS = { one: 'token-of-an-admin-of-one-hauler', two: 'token-of-an-admin-of-two-haulers' };
const [ONE, TWO] = [randomUUID(), randomUUID()];

let service: OwnService;
let hauler: Hauler;
beforeAll(async () => {
  const env = {
    SANDBOX: 'true',
    ADMIN_TOKENS: `one:${TOKENS.one}:viewer@${ONE},two:${TOKENS.two}:viewer@${ONE}+${TWO}`,
  };
  service = await startOwnService({ env });
  hauler = await Hauler.create({ service, id: ONE, sites: ONE_SITE });
  const other = await Hauler.create({ service, id: TWO, sites: ONE_SITE });
  const [material] = TICKET.materials;
  for (let n = 0; n < 3; n++) await hauler.push({ inboundFlow: flow(`IN-${n}`) });
  // A correction, a refusal, and one that is rehearsed.
  await hauler.push({
    inboundFlow: flow('IN-2', 1),
    materials: [{ ...material, quantity: 2_000, unitOfMeasure: 'Pound' }],
  });
  await hauler.push({ inboundFlow: flow('IN-9'), materials: [{ ...material, id: randomUUID() }] });
  await administer('PUT', `/sandbox/haulers/${ONE}/scenarios/server-error`, { times: 1 }, service);
  expect((await hauler.push({ inboundFlow: flow('IN-8') })).status).toBeGreaterThanOrEqual(500);
  await hauler.createAccount({ accountName: 'Lone Star Demolition' });
  await other.push({ inboundFlow: flow('IN-1') });
}, 150_000);

const read = (query: string, token = service.adminToken) =>
  call<Days>('GET', `/admin/v1/overview/days${query}`, { headers: { Authorization: `Bearer ${token}` } }, service);
const total = async (path: string) =>
  (await administer<{ pagination: { totalItems: number } }>('GET', path, undefined, service)).pagination.totalItems;

describe('the days of the overview', () => {
  test.each(['UTC', 'America/Chicago', 'Asia/Kolkata', '+14:00'])(
    'count in %s what the lists behind them count, without rehearsals',
    async (timeZone) => {
      const zone = encodeURIComponent(timeZone);
      const { days } = (await read(`?haulerId=${ONE}&timeZone=${zone}`)).body;
      expect(days).toHaveLength(14);
      for (const [i, { startTime }] of days.entries()) expect(startTime).toBe(days[i - 1]?.endTime ?? startTime);
      const today = days.at(-1);
      const { startTime: from, endTime: to } = today ?? { startTime: '', endTime: '' };
      expect([Date.parse(from) <= Date.now(), Date.parse(to) > Date.now()]).toEqual([true, true]);
      expect(today).toMatchObject({ tickets: 3, tons: 26, accounts: 1, refusedCalls: 1, storedSeconds: 0 });
      const range = `haulerId=${ONE}&from=${from}&to=${to}`;
      expect(await total(`/tickets?${range}`)).toBe(3);
      expect(await total(`/accounts?${range}`)).toBe(1);
      expect(await total(`/accounts?haulerId=${ONE}&to=${from}`)).toBe(0);
      const report = await administer<{ data: Plain[] }>(
        'GET',
        `/reports/tonnage?${range}&groupBy=day&timeZone=${zone}`,
        undefined,
        service,
      );
      expect(report.data).toMatchObject([{ key: today?.day, tons: 26, tickets: 3 }]);
      const refused = `direction=inbound&haulerId=${ONE}`;
      const exchanges = await administer<{ data: Plain[] }>(
        'GET',
        `/exchanges?${refused}&failed=true&rehearsed=false`,
        undefined,
        service,
      );
      expect(exchanges.data).toMatchObject([{ status: 422 }]);
      const reasons = (rehearsed: string) =>
        administer<{ data: Plain[] }>(
          'GET',
          `/exchanges/reasons?${refused}&rehearsed=${rehearsed}`,
          undefined,
          service,
        );
      expect((await reasons('false')).data).toMatchObject([{ reason: 'materialExists', count: 1 }]);
      expect((await reasons('true')).data).toHaveLength(1);
      expect(days.slice(0, 12).map((day) => [day['tickets'], day['accounts'], day.refusedCalls])).toEqual(
        Array.from({ length: 12 }, () => [0, 0, 0]),
      );
    },
  );

  test('are those of the haulers of a limited caller, and of one of them', async () => {
    const today = async (query: string, token: string) => (await read(query, token)).body.days.at(-1)?.['tickets'];
    expect(await today('', TOKENS.one)).toBe(3);
    expect(await today('', TOKENS.two)).toBe(4);
    expect(await today(`?haulerId=${TWO}`, TOKENS.two)).toBe(1);
    expect((await read(`?haulerId=${TWO}`, TOKENS.one)).status).toBeGreaterThanOrEqual(400);
    expect((await read('?timeZone=CST')).status).toBe(400);
  });

  test('of a hauler without anything are zeros, and nobody is quiet', async () => {
    const { id } = await Hauler.create({ service });
    const { days, quiet } = (await read(`?haulerId=${id}`)).body;
    const nothing = { tickets: 0, tons: 0, accounts: 0, refusedCalls: 0, storedSeconds: 0, recordedSeconds: 0 };
    expect(days.at(-1)).toMatchObject(nothing);
    expect(quiet).toEqual([]);
  });
});

test('a refused push is a finding of its hauler, since the first one, which a limited caller sees too', async () => {
  const headers = { Authorization: `Bearer ${TOKENS.one}` };
  const look = async () => {
    const { body } = await call<{ data: Plain[]; problems: number }>(
      'GET',
      '/admin/v1/attention',
      { headers },
      service,
    );
    return { ...body, pushes: body.data.filter(({ kind }) => kind === 'refused-pushes') };
  };
  const [first] = (await look()).pushes;
  await hauler.push({ inboundFlow: flow('IN-9'), materials: [{ ...TICKET.materials[0], id: randomUUID() }] });
  await eventually(async () => {
    const { pushes, problems } = await look();
    expect(pushes).toMatchObject([{ count: 2, since: first?.['since'], act: 'Replay', hauler: { id: ONE } }]);
    expect(pushes[0]?.['page']).toContain('rehearsed=false');
    expect(problems).toBe(1);
  });
});
