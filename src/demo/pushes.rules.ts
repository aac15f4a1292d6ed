import { DEMO, DEMO_SITE_DATA } from './demo-data.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAYS = 14;

/** Tickets of a weekday and of a Saturday; on a Sunday the sites are closed. */
const TICKETS_OF_DAY = [0, 36, 36, 36, 36, 36, 22] as const;

/** Of the hours from 6:00 on, how busy each is. */
const BUSY = [2, 5, 6, 5, 4, 2, 3, 5, 5, 4, 2] as const;
export const OPENS_AT = 6;

const TRUCKS = [DEMO.truckId, 'TRUCK-12', 'TRUCK-3', 'TRUCK-21', 'TRUCK-30'] as const;

/** Cents for a unit, and the usual quantity, of the materials in the order of the site data. */
const PRICES = [
  [6250.5, 12],
  [1800, 15],
  [2450, 9],
  [5475.25, 11],
  [425, 14],
  [3300, 6],
  [-8500, 4],
  [2100, 13],
] as const;

/** Beginning of the ticket numbers of each site, and how many of ten tickets it has. */
const SITES = [
  ['OC', 5],
  ['RM', 3],
  ['WB', 2],
] as const;

/** The tickets that README.md names. The number of the second is of a push that is refused. */
export const STORY = { corrected: 'OC-70001', refused: 'OC-70002', arrival: 'OC-70003' } as const;

/** All pushes of one ticket in the order in which the scale house sends them. */
export interface TicketStory {
  readonly number: string;
  readonly pushes: readonly object[];
}

/** A push that the service refuses. `number` finds it in the exchange log. */
export interface Refusal {
  readonly number: string;
  readonly body: object;
}

type Random = () => number;

/** Numbers from 0 to 1, always the same for a seed (mulberry32). */
function randomOf(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The local day of a time, `back` days before: of 23 or 25 hours too. */
export function dayBefore(now: number, back: number): Date {
  const day = new Date(now);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() - back);
}

export const hourOf = (day: Date, hour: number): number =>
  new Date(day.getFullYear(), day.getMonth(), day.getDate(), hour).getTime();

/** As it stands in the ticket numbers of a day. */
export const dayName = (day: Date): string =>
  [day.getFullYear() % 100, day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, '0')).join('');

const isOpen = (day: Date): boolean => TICKETS_OF_DAY[day.getDay()] !== 0;

/** The days of the last two weeks, oldest first. */
export const demoDays = (now: number): Date[] =>
  Array.from({ length: DAYS }, (_, i) => dayBefore(now, DAYS - 1 - i)).filter(isOpen);

/** The last day of work before today: that of which there is footage. */
export const filmedDay = (now: number): Date => demoDays(now).findLast((day) => day < dayBefore(now, 0))!;

/** A weighing: what a push says, but for its flows. */
interface Load {
  readonly site: number;
  readonly material: number;
  readonly quantity: number;
  readonly truckId: string;
  readonly customer: string;
}

function loadOf(random: Random): Load {
  const share = random() * 10;
  const site = share < SITES[0][1] ? 0 : share < SITES[0][1] + SITES[1][1] ? 1 : 2;
  const places = [
    [0, 1, 2],
    [3, 4],
    [5, 6, 7],
  ][site]!;
  const material = places[Math.floor(random() * places.length)]!;
  const usual = PRICES[material]![1];
  return {
    site,
    material,
    quantity: rounded(usual * (0.5 + random())),
    truckId: TRUCKS[Math.floor(random() * TRUCKS.length)]!,
    customer: ACCOUNT_NAMES[Math.floor(random() * ACCOUNT_NAMES.length)]!,
  };
}

const rounded = (quantity: number): number => Math.round(quantity * 100) / 100;

const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString();

const flowOf = (ticketNumber: string, at: number) => ({ ticketNumber, updatedAt: timeOf(at) });

function bodyOf({ site, material, quantity, truckId, customer }: Load, flows: object, more: object = {}): object {
  const { id, materialType: name, measureUnit: unitOfMeasure } = DEMO_SITE_DATA.materials[material]!;
  return {
    siteId: DEMO_SITE_DATA.sites[site]!.id,
    materials: [{ id, name, quantity, unitPriceCents: PRICES[material]![0], unitOfMeasure }],
    ...flows,
    customFields: { truckNumber: truckId, customer, demo: 'true', ...more },
  };
}

/** The tickets of one day, up to now. The same day has the same tickets whenever it is asked for. */
export function ticketsOf(day: Date, now: number): TicketStory[] {
  const random = randomOf(Number(dayName(day)));
  const count = TICKETS_OF_DAY[day.getDay()] ?? 0;
  const times = Array.from({ length: count }, () => timeIn(day, random)).sort((a, b) => a - b);
  return times
    .map((at, i) => ({ at, story: storyOf(i, `${dayName(day)}-${String(i + 1).padStart(2, '0')}`, at, now, random) }))
    .filter(({ at }) => at < now)
    .map(({ story }) => story);
}

function timeIn(day: Date, random: Random): number {
  let share = random() * BUSY.reduce((sum, each) => sum + each, 0);
  const hour = BUSY.findIndex((each) => (share -= each) < 0);
  return hourOf(day, OPENS_AT + hour) + Math.floor(random() * 3_600) * 1_000;
}

/** Most tickets are pushed once, when the truck leaves. */
function storyOf(i: number, suffix: string, at: number, now: number, random: Random): TicketStory {
  const load = loadOf(random);
  const number = `${SITES[load.site]![0]}-${suffix}`;
  const leaves = at + (12 + Math.floor(random() * 24)) * MINUTE_MS;
  const corrected = leaves + (40 + Math.floor(random() * 60)) * MINUTE_MS;
  const isCorrected = corrected < now;
  const arrival = { inboundFlow: flowOf(number, at) };
  const both = { ...arrival, outboundFlow: flowOf(`${number}-O`, leaves) };
  const original = bodyOf(load, leaves < now ? both : arrival);
  const correction = (share: number, later = 0) =>
    bodyOf({ ...load, quantity: rounded(load.quantity * share) }, { inboundFlow: flowOf(number, corrected + later) });
  const pushes = [original];
  if (isCorrected && i % 8 === 3) pushes.push(correction(0.82));
  if (isCorrected && i % 24 === 5) pushes.push(correction(1.4), correction(1.04, 20 * MINUTE_MS));
  // The correction overtook the original, which is late then.
  if (isCorrected && i % 16 === 9) pushes.unshift(correction(0.9));
  // The answer was lost, so that the scale house sends it again.
  if (i % 10 === 7) pushes.push(original);
  if (isCorrected && i % 18 === 11) {
    const renamed = { ...arrival, outboundFlow: flowOf(`${number}-OUT`, corrected) };
    pushes.push(bodyOf(load, renamed, { note: 'ticket number of the way out was mistyped' }));
  }
  if (isCorrected && i % 18 === 14) {
    const reversed = { ...load, quantity: -load.quantity };
    pushes.push(bodyOf(reversed, { inboundFlow: flowOf(number, corrected) }, { note: 'reversed: wrong customer' }));
  }
  return { number, pushes };
}

/** The weight of a ticket of two days of work ago, which was corrected twice: the decimal point, then the material's price. */
export function correctedStory(now: number): TicketStory {
  const day = demoDays(now)
    .filter((each) => each < dayBefore(now, 0))
    .at(-2)!;
  const at = hourOf(day, 10) + 12 * MINUTE_MS;
  const load = { site: 0, material: 0, truckId: 'TRUCK-3', customer: ACCOUNT_NAMES[0]! };
  const push = (quantity: number, time: number) =>
    bodyOf({ ...load, quantity }, { inboundFlow: flowOf(STORY.corrected, time) }, { weighmaster: 'M. Ortiz' });
  return {
    number: STORY.corrected,
    pushes: [push(124.8, at), push(12.84, at + HOUR_MS), push(12.48, at + 2 * HOUR_MS)],
  };
}

/** A truck that arrives at `at`, of which there is footage. */
export function arrivalStory(at: number): TicketStory {
  const load = { site: 0, material: 1, quantity: 14.62, truckId: DEMO.truckId, customer: ACCOUNT_NAMES[3]! };
  return { number: STORY.arrival, pushes: [bodyOf(load, { inboundFlow: flowOf(STORY.arrival, at) })] };
}

/** Its material is in no catalogue. */
export function unknownMaterial(number: string, at: number): Refusal {
  const body = bodyOf(loadOf(randomOf(at)), { inboundFlow: flowOf(number, at) }) as { materials: object[] };
  const materials = [{ ...body.materials[0], id: '99999999-0000-4000-8000-000000000099', name: 'Soil, unclassified' }];
  return { number, body: { ...body, materials } };
}

/** Two refusals of each weekday, of four kinds. */
export function refusalsOf(day: Date, now: number): Refusal[] {
  const weekday = day.getDay();
  if (weekday === 0 || weekday === 6) return [];
  const kinds = weekday % 2 === 0 ? ([unknownMaterial, wrongUnit] as const) : ([futureClock, twoTickets] as const);
  return kinds.flatMap((kind, i) => {
    const at = hourOf(day, 9 + 4 * i) + 17 * MINUTE_MS;
    return at < now ? [kind(`OC-${dayName(day)}-9${i + 1}`, at, day, now)] : [];
  });
}

/** The software of the scale writes a decimal comma, and a unit of its own. */
function wrongUnit(number: string, at: number): Refusal {
  const body = bodyOf(loadOf(randomOf(at)), { inboundFlow: flowOf(number, at) }) as { materials: object[] };
  return { number, body: { ...body, materials: [{ ...body.materials[0], quantity: '12,48', unitOfMeasure: 'Tons' }] } };
}

/** The clock of the scale house is wrong by a month. */
const futureClock = (number: string, at: number, _day: Date, now: number): Refusal => ({
  number,
  body: bodyOf(loadOf(randomOf(at)), { inboundFlow: flowOf(number, now + 31 * 24 * HOUR_MS) }),
});

/** The numbers of two tickets of one site in one push. */
function twoTickets(_number: string, at: number, day: Date, now: number): Refusal {
  const [first, second] = ticketsOf(day, now).filter(({ number }) => number.startsWith(SITES[0][0]));
  const number = first?.number ?? '';
  const flows = { inboundFlow: flowOf(number, at), outboundFlow: flowOf(`${second?.number}-O`, at) };
  return { number, body: bodyOf({ ...loadOf(randomOf(at)), site: 0, material: 0 }, flows) };
}

const PLACES = ['Barton Creek', 'Bluebonnet', 'Hill Country', 'Pecan Street', 'Colorado River'] as const;
const MORE_PLACES = ['Cedar Park', 'Live Oak', 'Mesquite', 'San Marcos', 'Travis County'] as const;
const TRADES = ['Builders', 'Roofing', 'Landscaping', 'Paving'] as const;

export const ACCOUNT_NAMES: readonly string[] = TRADES.flatMap((trade) =>
  [...PLACES, ...MORE_PLACES].map((place) => `${place} ${trade}`),
);

/** What a partner sends for the account of this place in the list. */
export function accountOf(i: number): object {
  const [firstName, lastName] = [
    ['Dana', 'Luis', 'Priya', 'Tom', 'Grace'][i % 5]!,
    ['Reyes', 'Ortiz', 'Nguyen', 'Walker'][i % 4]!,
  ];
  return {
    accountName: ACCOUNT_NAMES[i],
    billingAddress: {
      street: `${100 + 7 * i} Quarry Road`,
      city: 'Austin',
      state: 'TX',
      zip: `787${String(i + 1).padStart(2, '0')}`,
    },
    primaryContact: { firstName, lastName, phone: `+1 (512) 555-01${String(i + 10).padStart(2, '0')}` },
  };
}

/** Names that two of the accounts have already, as people type them. */
export const TAKEN_NAMES: readonly (readonly [place: number, accountName: string])[] = [
  [3, 'PECAN STREET  BUILDERS'],
  [21, ' Bluebonnet landscaping '],
];
