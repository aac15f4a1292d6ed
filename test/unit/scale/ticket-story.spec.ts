import { describe, expect, test } from '@jest/globals';
import type { CreateScaleTicketRequest, MaterialItem, TicketResult } from '../../../src/contracts/scale/scale.dto.js';
import { unstoredSentence } from '../../../src/scale/ticket-refused.rules.js';
import { type InForce, storyStep } from '../../../src/scale/ticket-story.rules.js';
import { at, flow } from './pushes.js';

const [ASPHALT, CONCRETE, BRICK] = ['a', 'c', 'b'].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`);

const asphalt = (quantity: number, more: Partial<MaterialItem> = {}): MaterialItem => ({
  id: ASPHALT ?? '',
  name: 'Asphalt',
  quantity,
  unitOfMeasure: 'Ton',
  ...more,
});
const concrete = (quantity: number): MaterialItem => asphalt(quantity, { id: CONCRETE ?? '', name: 'Concrete' });
const brick = (quantity: number): MaterialItem => asphalt(quantity, { id: BRICK ?? '', name: 'Brick' });

type Pushed = readonly [result: TicketResult, push: Partial<CreateScaleTicketRequest>];

/** The sentence and the changed fields of the last of several pushes of one ticket. */
function story(...pushes: readonly Pushed[]): [sentence: string, changes: string] {
  let before: InForce | undefined;
  let last: [string, string] = ['', ''];
  for (const [result, push] of pushes) {
    const step = storyStep(before, { siteId: 'site', materials: [asphalt(14.9)], ...push }, result);
    before = step.after;
    last = [step.sentence, step.changes.join(', ')];
  }
  return last;
}

const created = (push: Partial<CreateScaleTicketRequest> = {}): Pushed => [
  'created',
  { inboundFlow: flow('IN-7', 1), ...push },
];
const updated = (push: Partial<CreateScaleTicketRequest>): Pushed => [
  'updated',
  { inboundFlow: flow('IN-7', 5), ...push },
];
const stale = (push: Partial<CreateScaleTicketRequest>): Pushed => ['stale', push];
const priced = (cents: number | undefined) => [asphalt(1, cents === undefined ? {} : { unitPriceCents: cents })];
const MATERIALS = 'inboundFlow, materials';

describe('a stored push', () => {
  test.each<[string, readonly Pushed[], sentence: string, changes: string]>([
    ['that creates', [created()], 'Created with 14.9 t of Asphalt; inbound flow IN-7', ''],
    [
      'that creates with both flows, prices and many materials',
      [
        created({
          materials: [asphalt(1, { unitPriceCents: 6250.5 }), ...[2, 3, 4, 5].map(concrete)],
          outboundFlow: flow('OUT-7', 1),
        }),
      ],
      'Created with 1 t of Asphalt at $62.505 per t, 2 t of Concrete, 3 t of Concrete and 2 more materials; inbound flow IN-7 and outbound flow OUT-7',
      '',
    ],
    ['without a flow', [['created', {}]], 'Created with 14.9 t of Asphalt, without a ticket number', ''],
    [
      'a corrected weight',
      [created(), updated({ materials: [asphalt(12.48)] })],
      'Weight corrected from 14.9 to 12.48 t',
      MATERIALS,
    ],
    [
      'a corrected volume',
      [
        created({ materials: [asphalt(3, { unitOfMeasure: 'Gallon' })] }),
        updated({ materials: [asphalt(1234.5, { unitOfMeasure: 'Gallon' })] }),
      ],
      'Volume corrected from 3 to 1,234.5 gal',
      MATERIALS,
    ],
    [
      'a corrected count',
      [
        created({ materials: [asphalt(3, { unitOfMeasure: 'Item' })] }),
        updated({ materials: [asphalt(1, { unitOfMeasure: 'Item' })] }),
      ],
      'Count corrected from 3 to 1 item',
      MATERIALS,
    ],
    [
      'a reversal, and numbers with many digits',
      [created({ materials: [asphalt(0.1 + 0.2)] }), updated({ materials: [asphalt(-1e21)] })],
      'Weight corrected from 0.30000000000000004 to -1e+21 t',
      MATERIALS,
    ],
    [
      'a changed unit',
      [created(), updated({ materials: [asphalt(14_900, { unitOfMeasure: 'Kilogram' })] })],
      'Weight changed from 14.9 t to 14,900 kg',
      MATERIALS,
    ],
    [
      'a changed kind of unit',
      [created(), updated({ materials: [asphalt(14.9, { unitOfMeasure: 'Cubic Meter' })] })],
      'Quantity changed from 14.9 t to 14.9 m³',
      MATERIALS,
    ],
    [
      'another material',
      [created(), updated({ materials: [concrete(14.9)] })],
      'Material changed from Asphalt to Concrete',
      MATERIALS,
    ],
    [
      'another material of another weight',
      [created(), updated({ materials: [concrete(12)] })],
      'Material changed from Asphalt to Concrete, weight corrected from 14.9 to 12 t',
      MATERIALS,
    ],
    [
      'another id with the same name',
      [created(), updated({ materials: [asphalt(14.9, { id: CONCRETE ?? '' })] })],
      `Material Asphalt has another id (${ASPHALT} before, ${CONCRETE} now)`,
      MATERIALS,
    ],
    [
      'another name of the same material',
      [created(), updated({ materials: [asphalt(14.9, { name: 'Tarmac' })] })],
      'Material Asphalt renamed to Tarmac',
      MATERIALS,
    ],
    [
      'one of several materials',
      [created({ materials: [asphalt(1), concrete(2)] }), updated({ materials: [concrete(3), asphalt(1)] })],
      'Weight of Concrete corrected from 2 to 3 t',
      MATERIALS,
    ],
    [
      'one of two lines of one material',
      [created({ materials: [asphalt(1), asphalt(2)] }), updated({ materials: [asphalt(2)] })],
      'Material Asphalt removed (1 t)',
      MATERIALS,
    ],
    [
      'materials added and removed',
      [created({ materials: [asphalt(1)] }), updated({ materials: [concrete(2), brick(3)] })],
      'Material Concrete added: 2 t, material Brick added: 3 t, material Asphalt removed (1 t)',
      MATERIALS,
    ],
    [
      'another order',
      [created({ materials: [asphalt(1), concrete(2)] }), updated({ materials: [concrete(2), asphalt(1)] })],
      'Materials in another order',
      MATERIALS,
    ],
    [
      'more changes than a sentence holds',
      [
        created({ materials: [1, 2, 3, 4, 5, 6, 7].map((n) => asphalt(n)) }),
        updated({ materials: [11, 12, 13, 14, 15, 16, 17].map((n) => asphalt(n)) }),
      ],
      `${[1, 2, 3, 4, 5].map((n) => `${n === 1 ? 'W' : 'w'}eight of Asphalt corrected from ${n} to ${n + 10} t`).join(', ')}, and 2 more changes`,
      MATERIALS,
    ],
    [
      'a changed price',
      [created({ materials: priced(6250) }), updated({ materials: priced(15.5) })],
      'Price changed from $62.50 to $0.155 per t',
      MATERIALS,
    ],
    [
      'a price that is added',
      [created({ materials: priced(undefined) }), updated({ materials: priced(-110) })],
      'Price added: -$1.10 per t',
      MATERIALS,
    ],
    [
      'a price that is removed',
      [created({ materials: priced(110) }), updated({ materials: priced(undefined) })],
      'Price removed ($1.10 per t)',
      MATERIALS,
    ],
    [
      'a flow that is added',
      [created(), updated({ inboundFlow: flow('IN-7', 1), outboundFlow: flow('OUT-7', 2) })],
      'Outbound flow OUT-7 added',
      'outboundFlow',
    ],
    [
      'a flow with another number',
      [created({ outboundFlow: flow('OUT-7', 1) }), updated({ outboundFlow: flow('OUT-8', 5) })],
      'Outbound flow renumbered from OUT-7 to OUT-8',
      'inboundFlow, outboundFlow',
    ],
    [
      'a newer time alone',
      [created(), updated({})],
      'Newer time of inbound flow IN-7; the contents are the same',
      'inboundFlow',
    ],
    [
      'a newer and an older flow',
      [
        created({ outboundFlow: flow('OUT-7', 3) }),
        updated({ materials: [asphalt(1)], outboundFlow: flow('OUT-6', 2) }),
      ],
      'Weight corrected from 14.9 to 1 t, older outbound flow OUT-6 ignored',
      MATERIALS,
    ],
    [
      'custom fields',
      [
        created({ customFields: { driver: 'Dana', truck: '42' } }),
        updated({ customFields: { driver: 'Eli', __proto__x: 'y' } }),
      ],
      'Custom field __proto__x added: "y", custom field driver changed from "Dana" to "Eli", custom field truck removed ("42")',
      'customFields, inboundFlow',
    ],
    [
      'a long custom field',
      [created(), updated({ customFields: { note: '🚛'.repeat(100) } })],
      `Custom field note added: "${'🚛'.repeat(59)}…"`,
      'customFields, inboundFlow',
    ],
    [
      'a stale push',
      [created(), stale({ inboundFlow: flow('IN-7', 0), materials: [concrete(99)] })],
      'Older than what is stored: nothing changed',
      '',
    ],
    [
      'a stale push with a flow that was missing',
      [created(), stale({ outboundFlow: flow('OUT-7', 0), materials: [concrete(99)] })],
      'Older than what is stored, contents unchanged; only outbound flow OUT-7 added',
      'outboundFlow',
    ],
    [
      'a stale push with a newer flow',
      [created({ outboundFlow: flow('OUT-7', 9) }), stale({ inboundFlow: flow('IN-7', 5), materials: [concrete(99)] })],
      'Older than what is stored, contents unchanged; only newer time of inbound flow IN-7',
      'inboundFlow',
    ],
    [
      'a push behind a stale one is compared with what was in force',
      [
        created(),
        stale({ inboundFlow: flow('IN-7', 0), materials: [concrete(99)] }),
        updated({ materials: [asphalt(12.48)] }),
      ],
      'Weight corrected from 14.9 to 12.48 t',
      MATERIALS,
    ],
    [
      'a push behind a stale one that brought a flow',
      [
        created(),
        stale({ outboundFlow: flow('OUT-7', 0), materials: [concrete(99)] }),
        updated({ outboundFlow: { ticketNumber: 'OUT-7', updatedAt: at(0) }, customFields: {} }),
      ],
      'Newer time of inbound flow IN-7; the contents are the same',
      'customFields, inboundFlow',
    ],
  ])('%s', (_title, pushes, sentence, changes) => {
    expect(story(...pushes)).toEqual([sentence, changes]);
  });
});

describe('a push of which nothing is stored', () => {
  const refused = { status: 422, result: '422 materialExists', failure: null, request: undefined };
  const response = (...violations: object[]) =>
    JSON.stringify({ success: false, error: { message: 'Everything at once.', details: { violations } } });
  const unknown = (index: number) => ({ path: `materials[${index}].id`, rule: 'materialExists', message: 'long' });
  const request = JSON.stringify({ siteId: 's-1', materials: [asphalt(1), { id: 'x-9' }] });

  test.each([
    [
      'unknown material',
      { response: response(unknown(0)), request },
      'Refused (422 materialExists): material Asphalt is unknown',
    ],
    [
      'without a name',
      { response: response(unknown(1)), request },
      'Refused (422 materialExists): material x-9 is unknown',
    ],
    [
      'request not kept',
      { response: response(unknown(1)) },
      'Refused (422 materialExists): material materials[1].id is unknown',
    ],
    [
      'several reasons',
      {
        response: response(unknown(0), { path: 'siteId', rule: 'siteExists' }, unknown(1), unknown(2), unknown(3)),
        request,
        result: '422 a, b',
      },
      'Refused (422 a, b): material Asphalt is unknown; site s-1 is unknown; material x-9 is unknown; and 2 more',
    ],
    [
      'other rule',
      { response: response({ path: 'a', rule: 'r', message: 'a must be b' }) },
      'Refused (422 materialExists): a must be b',
    ],
    ['no list', { response: response() }, 'Refused (422 materialExists): Everything at once'],
    ['cut answer', { response: response(unknown(0)).slice(0, 60) }, 'Refused (422 materialExists): Everything at once'],
    ['no answer kept', { response: null, status: 400, result: null }, 'Refused (400): the answer is not kept'],
    ['unchanged', { response: null, status: 200, result: 'unchanged' }, 'Same as what is stored: nothing changed'],
    [
      'unchanged, and the caller left',
      { response: null, status: 200, result: 'unchanged', failure: 'cut-off' },
      'Same as what is stored: nothing changed; the answer was lost, because the caller left before it was complete',
    ],
    [
      'lost',
      { response: null, status: 0, result: null, failure: 'cut-off' },
      'Answer lost: the connection closed before this push was decided, and nothing of it is stored',
    ],
    [
      'overload',
      { response: response(), status: 503, result: '503 UNAVAILABLE' },
      'Not stored (503 UNAVAILABLE): Everything at once',
    ],
    [
      'decided after the 503',
      { response: response(), status: 503 },
      'Refused (422 materialExists): Everything at once; the caller received 503',
    ],
  ])('%s', (_title, push, sentence) => expect(unstoredSentence({ ...refused, ...push })).toBe(sentence));
});
