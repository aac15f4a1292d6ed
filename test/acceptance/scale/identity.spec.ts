import { beforeEach, describe, expect, test } from '@jest/globals';
import { idOf, material, site } from '../../support/site-data.js';
import { flow, Hauler, ONE_SITE, paths, type Plain, TICKET, type TicketAnswer } from '../support/hauler.js';
import { countOf, expectError, postAs, POSTS } from '../support/posts.js';
import { admin, administer } from '../support/target.js';

const [POST] = POSTS as [(typeof POSTS)[0]];

const TWO_SITES = {
  sites: [...(ONE_SITE.sites ?? []), site('pit')],
  materials: [...(ONE_SITE.materials ?? []), material('sand', { siteId: idOf('pit') })],
};

let hauler: Hauler;
beforeEach(async () => {
  hauler = await Hauler.create({ sites: TWO_SITES });
});

interface Parts {
  readonly in?: [ticketNumber: string, minute: number];
  readonly out?: [ticketNumber: string, minute: number];
  readonly quantity?: number;
}

const bodyOf = ({ quantity = 1, ...flows }: Parts): Plain => ({
  materials: [{ ...TICKET.materials[0], quantity }],
  ...(flows.in && { inboundFlow: flow(...flows.in) }),
  ...(flows.out && { outboundFlow: flow(...flows.out) }),
});

const resultOf = ({ headers, body }: TicketAnswer) => ({
  id: body.disposalTicketId,
  result: headers.get('ticket-result'),
});
const push = async (parts: Parts) => resultOf(await hauler.push(bodyOf(parts)));
const stored = (id: string) => administer<Plain>('GET', `/tickets/${id}`);
const resultsOf = async (id: string) =>
  (await administer<{ data: { result: string }[] }>('GET', `/tickets/${id}/revisions`)).data.map(
    ({ result }) => result,
  );

describe('the identity of a ticket', () => {
  test('a push with a known flow is an update, and gets the same id (section 4.1 200, created or updated; section 2.3 success, disposalTicketId; decision 20)', async () => {
    const first = await hauler.push(bodyOf({ in: ['A', 1], out: ['X', 1] }));
    expect([first.status, first.body]).toEqual([
      200,
      { success: true, disposalTicketId: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) },
    ]);
    const { id, result } = resultOf(first);
    expect(result).toBe('created');
    expect(await push({ in: ['A', 2], quantity: 2 })).toEqual({ id, result: 'updated' });
    expect(await push({ out: ['X', 3], quantity: 3 })).toEqual({ id, result: 'updated' });
    expect(await push({ in: ['A', 4], out: ['X', 4], quantity: 4 })).toEqual({ id, result: 'updated' });
    expect(await countOf(hauler, POST)).toBe(1);
  });

  test('another number, case, direction, site or hauler is another ticket (decisions 1, 20)', async () => {
    const other = await Hauler.create({ sites: ONE_SITE });
    const elsewhere = { siteId: idOf('pit'), materials: [{ ...TICKET.materials[0], id: idOf('sand') }] };
    const all = [
      await push({ in: ['A', 1] }),
      await push({ in: ['B', 1] }),
      await push({ in: ['a', 1] }),
      await push({ out: ['A', 1] }),
      resultOf(await hauler.push({ ...elsewhere, inboundFlow: flow('A', 1) })),
      resultOf(await other.push({ inboundFlow: flow('A', 1) })),
    ];
    expect(all.map(({ result }) => result)).toEqual(all.map(() => 'created'));
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  });

  test('a push with another number in its other flow renames that flow, and the old number is free (decision 20)', async () => {
    const { id } = await push({ in: ['A', 1], out: ['X', 1] });
    expect(await push({ in: ['A', 2], out: ['Y', 2] })).toEqual({ id, result: 'updated' });
    expect(await stored(id)).toMatchObject({ outboundFlow: { ticketNumber: 'Y' } });
    expect(await push({ out: ['Y', 2] })).toEqual({ id, result: 'unchanged' });
    const freed = await push({ out: ['X', 9] });
    expect([freed.result, freed.id === id]).toEqual(['created', false]);
  });

  test('two flows of two tickets are 422 FLOW_CONFLICT with both paths, and nothing is written (section 7 422 Scale; decision 20)', async () => {
    const tickets = [await push({ in: ['A', 1] }), await push({ out: ['X', 1] })];
    const refused = await hauler.push(bodyOf({ in: ['A', 2], out: ['X', 2], quantity: 2 }));
    expectError(refused, 422, 'VALIDATION_ERROR');
    expect(refused.body.error.details?.reason).toBe('FLOW_CONFLICT');
    expect(paths(refused)).toEqual(['inboundFlow.ticketNumber', 'outboundFlow.ticketNumber']);
    expect(refused.headers.get('ticket-result')).toBeNull();
    for (const { id } of tickets) {
      expect(refused.body.error.message).toContain(id);
      expect(await resultsOf(id)).toEqual(['created']);
    }
    expect(await countOf(hauler, POST)).toBe(2);
  });

  test('a push without a flow is always a new ticket; its Idempotency-Key guards a retry (decisions 16, 22)', async () => {
    const ids = [await push({}), await push({})].map(({ id }) => id);
    for (let i = 0; i < 2; i++) {
      const { body } = await hauler.push(bodyOf({}), { headers: { 'Idempotency-Key': 'without-a-flow' } });
      ids.push(body.disposalTicketId);
    }
    expect([new Set(ids).size, ids[3]]).toEqual([3, ids[2]]);
  });
});

describe('a late or repeated push', () => {
  test('newer contents replace the older ones as a set (decision 21)', async () => {
    const custom = (customFields?: Plain) => (customFields === undefined ? {} : { customFields });
    const at = (minute: number, fields?: Plain) =>
      hauler.push({ ...bodyOf({ in: ['A', minute], quantity: minute }), ...custom(fields) });
    const { id } = resultOf(await at(1, { a: '1', b: '2' }));
    await at(2, { b: '3' });
    expect(await stored(id)).toMatchObject({ materials: [{ quantity: 2 }], customFields: { b: '3' } });
    await at(3);
    expect(await stored(id)).not.toHaveProperty('customFields');
  });

  test('an older push is stale: kept in the history, not applied, and the answer has the time that won (decisions 21, 23)', async () => {
    const { id } = await push({ in: ['A', 2], quantity: 2 });
    const late = await hauler.push(bodyOf({ in: ['A', 1] }));
    expect([late.status, resultOf(late)]).toEqual([200, { id, result: 'stale' }]);
    expect(late.headers.get('ticket-version')).toBe('2026-01-31T08:02:00Z');
    expect((await stored(id))['materials']).toMatchObject([{ quantity: 2 }]);
    expect(await resultsOf(id)).toEqual(['created', 'stale']);
  });

  test.each([
    ['a microsecond older is stale', '2026-01-31T08:00:00.000001Z', 'stale'],
    ['at the same time is applied', '2026-01-31T08:00:00.000002Z', 'updated'],
    ['a microsecond newer is applied', '2026-01-31T08:00:00.000003Z', 'updated'],
  ])('a push %s (decisions 7, 21)', async (_what, updatedAt, result) => {
    await hauler.push({ inboundFlow: { ticketNumber: 'A', updatedAt: '2026-01-31T08:00:00.000002Z' } });
    const again = await hauler.push({ ...bodyOf({ quantity: 2 }), inboundFlow: { ticketNumber: 'A', updatedAt } });
    expect(resultOf(again).result).toBe(result);
  });

  test('each flow keeps its own newest form, and a flow that a push does not carry stays (decision 21)', async () => {
    const { id } = await push({ in: ['A', 5], quantity: 5 });
    expect(await push({ in: ['A', 3], out: ['X', 4], quantity: 4 })).toEqual({ id, result: 'stale' });
    expect(await stored(id)).toMatchObject({
      materials: [{ quantity: 5 }],
      ...bodyOf({ in: ['A', 5], out: ['X', 4], quantity: 5 }),
      inboundFlow: { updatedAt: '2026-01-31T08:05:00Z' },
      outboundFlow: { ticketNumber: 'X', updatedAt: '2026-01-31T08:04:00Z' },
    });
    expect(await push({ out: ['X', 6], quantity: 6 })).toEqual({ id, result: 'updated' });
    expect(await stored(id)).toMatchObject({ inboundFlow: { ticketNumber: 'A' }, materials: [{ quantity: 6 }] });
  });

  test('the same content is unchanged in any notation: nothing is written (decisions 5, 6, 21, 23)', async () => {
    const first = await hauler.push({ inboundFlow: flow('A'), customFields: { a: '1', b: '2' } });
    const before = await stored(first.body.disposalTicketId);
    const [{ id, ...line }] = TICKET.materials as [(typeof TICKET.materials)[0]];
    const same = {
      siteId: TICKET.siteId.toUpperCase(),
      materials: [{ unitPriceCents: null, ...line, id: id.toUpperCase() }],
      inboundFlow: { updatedAt: '2026-01-31T09:00:00.0000000+01:00', ticketNumber: 'A', unknown: 1 },
      outboundFlow: null,
      customFields: { b: '2', a: '1' },
    };
    const again = await hauler.push(same);
    expect([again.status, again.body, resultOf(again).result]).toEqual([200, first.body, 'unchanged']);
    expect(await resultsOf(first.body.disposalTicketId)).toEqual(['created']);
    expect(await stored(first.body.disposalTicketId)).toEqual(before);
  });

  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  const ahead = (ticketNumber: string, hours: number) => ({ ticketNumber, updatedAt: inHours(hours) });

  test.each([
    ['of its only flow', { inboundFlow: ahead('A', 25) }, ['inboundFlow.updatedAt']],
    [
      'of one of two flows',
      { inboundFlow: ahead('A', -1), outboundFlow: ahead('X', 24 * 365) },
      ['outboundFlow.updatedAt'],
    ],
    [
      'of both flows',
      { inboundFlow: ahead('A', 24.1), outboundFlow: ahead('X', 24.1) },
      ['inboundFlow.updatedAt', 'outboundFlow.updatedAt'],
    ],
  ])(
    'a time %s that is more than a day ahead is 422 updatedAtInFuture (decision 21)',
    async (_what, flows, expected) => {
      const refused = await hauler.push(flows);
      expectError(refused, 422, 'VALIDATION_ERROR');
      expect(refused.body.error.details?.violations).toMatchObject(
        expected.map((path) => ({ path, rule: 'updatedAtInFuture' })),
      );
      expect(await countOf(hauler, POST)).toBe(0);
    },
  );

  test('a time that is less than a day ahead is taken (decision 21)', async () => {
    expect(resultOf(await hauler.push({ inboundFlow: ahead('A', 23.9) })).result).toBe('created');
  });
});

describe('the history of a ticket', () => {
  test('has each push that was not unchanged, as it was sent (decision 23)', async () => {
    const raw = (minute: number) =>
      `  ${JSON.stringify({ ...TICKET, inboundFlow: flow('A', minute) }).slice(0, -1)} ,"future":{"big":1e309,"precise":0.10000000000000000001}}`;
    const send = (minute: number) => postAs(hauler, POST, raw(minute));
    const before = Date.now();
    const id = String((await send(2)).body['disposalTicketId']);
    for (const minute of [2, 1, 3]) await send(minute);
    const { data } = await administer<{ data: Plain[] }>('GET', `/tickets/${id}/revisions`);
    const pushed = (revision: number, result: string, minute: number) => ({
      revision,
      result,
      body: JSON.parse(raw(minute)) as Plain,
    });
    expect(data).toMatchObject([pushed(1, 'created', 2), pushed(2, 'stale', 1), pushed(3, 'updated', 3)]);
    const path = `/tickets/${id}/revisions`;
    expect((await admin('GET', path)).text).toContain('{"big":1e309,"precise":0.10000000000000000001}');
    for (const { receivedAt } of data) {
      expect(Date.parse(String(receivedAt))).toBeGreaterThanOrEqual(before - 5_000);
      expect(Date.parse(String(receivedAt))).toBeLessThanOrEqual(Date.now() + 5_000);
    }
  });

  type Change = { readonly field: string; readonly before?: unknown; readonly after?: unknown };
  interface Step {
    readonly revision: number;
    readonly changes: readonly Change[];
    readonly moreChanges?: number;
  }

  /** What the pushes of a ticket changed, as revisions and history say it. */
  async function changesOf(id: string): Promise<readonly (readonly Change[])[]> {
    const { data } = await administer<{ data: Step[] }>('GET', `/tickets/${id}/revisions?pageSize=100`);
    const history = await administer<{ data: Step[] }>('GET', `/tickets/${id}/history?pageSize=100`);
    const steps = history.data.filter(({ revision }) => revision !== undefined).reverse();
    expect(steps.map(({ revision, changes }) => [revision, changes])).toEqual(
      data.map(({ revision, changes }) => [revision, changes]),
    );
    return data.map(({ changes }) => changes);
  }

  const times = (was: number, is: number): Change => ({
    field: 'inboundFlow.updatedAt',
    before: `2026-01-31T08:0${was}:00Z`,
    after: `2026-01-31T08:0${is}:00Z`,
  });
  const line = (name: string, quantity: number, more: Plain = {}) => ({
    ...TICKET.materials[0],
    name,
    quantity,
    ...more,
  });
  const debris = { material: 'Debris', unitOfMeasure: 'Ton' };

  test('says what the first push brought (decision 23)', async () => {
    const textOf = async (materials: Plain[]) => {
      const { body } = await hauler.push({ materials });
      const path = `/tickets/${body.disposalTicketId}/history`;
      return (await administer<{ data: { text: string }[] }>('GET', path)).data.map(({ text }) => text);
    };
    const two = [line('Debris', 14.9), line('Clay', -2, { unitOfMeasure: 'Cubic Yard' })];
    expect(await textOf(two)).toEqual(['The push created the ticket: Debris 14.9 Ton, Clay -2 Cubic Yard.']);
    const five = Array.from({ length: 5 }, (_, i) => line('', i));
    const id = TICKET.materials[0]?.id;
    const named = [0, 1, 2].map((each) => `${id} ${each} Ton`).join(', ');
    expect(await textOf(five)).toEqual([`The push created the ticket: ${named} and 2 more.`]);
  });

  test('says what each push changed: the field, before and after (decision 23)', async () => {
    const { id } = await push({ in: ['A', 1], quantity: 14.9 });
    await push({ in: ['A', 2], quantity: 12.48 });
    expect(await changesOf(id)).toEqual([
      [],
      [{ field: 'materials[0].quantity', before: 14.9, after: 12.48, ...debris }, times(1, 2)],
    ]);
  });

  test.each<[string, Plain, Plain, unknown[]]>([
    [
      'a line that was removed in front of others',
      { materials: [line('Brick', 1), line('Sand', 2), line('Clay', 3)] },
      { materials: [line('Sand', 2), line('Clay', 3)] },
      [{ field: 'materials[0]', before: line('Brick', 1) }],
    ],
    [
      'a line that was added',
      { materials: [line('Sand', 2)] },
      { materials: [line('Brick', 1), line('Sand', 2)] },
      [{ field: 'materials[0]', after: line('Brick', 1) }],
    ],
    [
      'a unit, a price and a reversal',
      { materials: [line('Debris', 2, { unitPriceCents: 6250.5 })] },
      { materials: [line('Debris', -2, { unitOfMeasure: 'Pound' })] },
      ['quantity 2 -2', 'unitOfMeasure Ton Pound', 'unitPriceCents 6250.5 undefined'].map((text) => {
        const [name, before, after] = text.split(' ');
        const valueOf = (value: string | undefined) => (Number.isNaN(Number(value)) ? value : Number(value));
        const values = { before: valueOf(before), ...(after === 'undefined' ? {} : { after: valueOf(after) }) };
        return { field: `materials[0].${name}`, ...values, material: 'Debris', unitOfMeasure: 'Pound' };
      }),
    ],
    [
      'nothing for another form of a number, null and unknown fields',
      { materials: [line('Debris', 14.9, { unitPriceCents: null })], customFields: null },
      { materials: [line('Debris', 14.9, { colour: 'red' })], more: { deep: [1] } },
      [],
    ],
    [
      'custom fields of any name',
      { customFields: JSON.parse('{"a.b":"1","__proto__":"x","gone":""}') as Plain },
      { customFields: { 'a.b': '2', 'c[0]': 'new' } },
      [
        { field: 'customFields["a.b"]', before: '1', after: '2' },
        { field: 'customFields["c[0]"]', after: 'new' },
        { field: 'customFields.__proto__', before: 'x' },
        { field: 'customFields.gone', before: '' },
      ],
    ],
    [
      'a long text, cut and with its length',
      { customFields: { note: 'short' } },
      { customFields: { note: '🚛'.repeat(4_000) } },
      [{ field: 'customFields.note', before: 'short', after: `${'🚛'.repeat(255)}… [4000 characters]` }],
    ],
    [
      'a flow that was added',
      {},
      { outboundFlow: flow('X', 1) },
      [{ field: 'outboundFlow', after: { ticketNumber: 'X', updatedAt: '2026-01-31T08:01:00Z' } }],
    ],
  ])('has %s (decision 23)', async (_what, before, after, expected) => {
    const first = await hauler.push({ ...before, inboundFlow: flow('A', 1) });
    const second = await hauler.push({ ...after, inboundFlow: flow('A', 2) });
    expect([first.status, resultOf(second).result]).toEqual([200, 'updated']);
    const [, changes = []] = await changesOf(resultOf(first).id);
    expect(new Set(changes)).toEqual(new Set([...expected, times(1, 2)]));
  });

  test('has nothing of a late push but the flow that it brought, and a new number (decisions 20, 21, 23)', async () => {
    const { id } = await push({ in: ['A', 3], quantity: 3 });
    await push({ in: ['A', 1], quantity: 99 });
    await push({ in: ['A', 2], out: ['X', 2], quantity: 98 });
    await push({ in: ['B', 4], out: ['X', 2], quantity: 3 });
    const number = { field: 'inboundFlow.ticketNumber', before: 'A', after: 'B' };
    expect(await changesOf(id)).toEqual(
      [[], [], [{ field: 'outboundFlow', after: { ticketNumber: 'X', updatedAt: '2026-01-31T08:02:00Z' } }], []].map(
        (changes, i) => (i === 3 ? [number, times(3, 4)] : changes),
      ),
    );
  });

  test('has a microsecond that decided which push is newer (decisions 7, 21)', async () => {
    const at = (micros: string) => ({ ticketNumber: 'A', updatedAt: `2026-01-31T08:00:00.00000${micros}Z` });
    const first = await hauler.push({ inboundFlow: at('1') });
    await hauler.push({ inboundFlow: at('2') });
    const change = { field: 'inboundFlow.updatedAt', before: at('1').updatedAt, after: at('2').updatedAt };
    expect((await changesOf(resultOf(first).id))[1]).toEqual([change]);
  });

  test('has 100 changes of a push, and says how many more there are (decision 23)', async () => {
    const lines = (more: number) => Array.from({ length: 150 }, (_, i) => line(`Line ${i}`, i + more));
    const first = await hauler.push({ materials: lines(0), inboundFlow: flow('A', 1) });
    await hauler.push({ materials: lines(1), inboundFlow: flow('A', 2) });
    for (const list of ['revisions', 'history']) {
      const { data } = await administer<{ data: Step[] }>('GET', `/tickets/${resultOf(first).id}/${list}`);
      const step = data.find(({ revision }) => revision === 2);
      expect([step?.changes.length, step?.moreChanges]).toEqual([100, 51]);
      expect(step?.changes[99]).toMatchObject({ field: 'materials[99].quantity', before: 99, after: 100 });
    }
  });

  test('shows no key of ours in what a push changed, also where a long text is cut (decision 59)', async () => {
    const key = await hauler.key();
    const noted = (note: string, minute: number) =>
      hauler.push({ customFields: { note, [key]: 'x' }, inboundFlow: flow('A', minute) });
    const { id } = resultOf(await noted(`${'x'.repeat(230)}${key}${'y'.repeat(100)}`, 1));
    await noted(`${'x'.repeat(240)}${key}${'y'.repeat(100)}`, 2);
    await hauler.push({ inboundFlow: flow('A', 3) });
    for (const list of ['revisions', 'history']) {
      const { text } = await admin('GET', `/tickets/${id}/${list}`);
      expect(text).toContain('customFields.note');
      expect(text).not.toContain(key.slice(0, 20));
    }
  });
});
