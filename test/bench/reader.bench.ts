import 'reflect-metadata';
import { isDeepStrictEqual } from 'node:util';
import { plainToInstance } from 'class-transformer';
import { validate, validateSync } from 'class-validator';
import { readerOf } from '../../src/contracts/common/fields/field.js';
import type { Violation } from '../../src/contracts/common/violation.js';
import { CreateScaleTicketRequest } from '../../src/contracts/scale/scale.dto.js';
import { report, type Row } from './report.js';
import { median } from './statistics.js';

const TICKETS = 10_000;
const ID = '7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21';
/** As the pipe of Nest calls them with `whitelist`: drops unknown fields and reports every violation. */
const OPTIONS = { whitelist: true, forbidUnknownValues: false, validationError: { target: false } };

interface Contender {
  readonly name: string;
  /** The ticket that was read, or undefined where it was refused. */
  readonly read: (ticket: object) => Promise<object | undefined> | object | undefined;
}

const read = readerOf(CreateScaleTicketRequest);
const instanceOf = (ticket: object) => plainToInstance(CreateScaleTicketRequest, ticket);

const CONTENDERS: readonly Contender[] = [
  {
    name: 'a compiled reader',
    read(ticket) {
      const violations: Violation[] = [];
      const result = read(ticket, '', violations);
      return violations.length === 0 ? result : undefined;
    },
  },
  {
    name: 'b class-transformer + validateSync',
    read(ticket) {
      const instance = instanceOf(ticket);
      return validateSync(instance, OPTIONS).length === 0 ? instance : undefined;
    },
  },
  {
    name: 'c class-transformer + validate',
    async read(ticket) {
      const instance = instanceOf(ticket);
      return (await validate(instance, OPTIONS)).length === 0 ? instance : undefined;
    },
  },
];

/**
 * Reading one and the same DTO class: (a) as the service does, (b) and (c) by the two libraries themselves. First every
 * ticket is read by all of them: their verdicts, and what they read, must be the same. Argument: rounds (7).
 */
export async function run([rounds = '7']: readonly string[]): Promise<void> {
  const kinds = { valid: made(valid), invalid: made((i) => spoilt(valid(i), i)) };
  const rows: Row[] = [['', 'tickets', 'µs a ticket', 'it ÷ a', 'fastest µs', 'slowest µs']];
  for (const [kind, tickets] of Object.entries(kinds)) {
    await compare(tickets, kind === 'valid');
    const times = new Map<string, number[]>(CONTENDERS.map(({ name }) => [name, []]));
    for (let round = 0; round <= Number(rounds); round++) {
      for (const contender of CONTENDERS) {
        const micros = await measure(contender, tickets);
        // The first round is for the compiler.
        if (round > 0) times.get(contender.name)?.push(micros);
      }
    }
    const own = times.get(CONTENDERS[0]?.name ?? '') ?? [];
    for (const [name, all] of times) {
      const ratio = median(all.map((micros, i) => micros / (own[i] ?? NaN)));
      rows.push([name, kind, median(all), ratio.toFixed(1), Math.min(...all), Math.max(...all)]);
    }
  }
  report('reader', rows);
  console.log(`All came to the same verdict on ${TICKETS} valid and ${TICKETS} invalid tickets, and read the same.`);
}

const made = (make: (i: number) => object): object[] => Array.from({ length: TICKETS }, (_, i) => make(i));

/** The body of a request, about 700 bytes. */
function valid(i: number): Record<string, unknown> {
  const material = (n: number) => ({
    id: ID.replace(/.{4}$/, String(1000 + ((i + n) % 9000))),
    name: 'Mixed construction debris',
    quantity: ((i + n) % 2000) / 100,
    unitPriceCents: 6250.5,
    unitOfMeasure: 'Ton',
  });
  return {
    siteId: ID,
    materials: [material(0), material(7)],
    inboundFlow: { ticketNumber: `IN-${i}`, updatedAt: '2026-01-31T08:30:00Z' },
    outboundFlow: { ticketNumber: `OUT-${i}`, updatedAt: '2026-01-31T08:52:11.25Z' },
    customFields: { truckNumber: '42', driver: 'R. Miller', note: 'second load of the day' },
  };
}

/** One fault each, as partners make them; the two libraries throw on none of them. */
const SPOILERS: readonly ((ticket: Record<string, unknown>) => void)[] = [
  (ticket) => delete ticket['siteId'],
  (ticket) => (ticket['siteId'] = 'site-7'),
  (ticket) => (ticket['materials'] = []),
  (ticket) => (ticket['materials'] = {}),
  (ticket) => Object.assign(first(ticket), { quantity: '12.5' }),
  (ticket) => Object.assign(first(ticket), { unitOfMeasure: 'tons' }),
  (ticket) => Object.assign(first(ticket), { name: 'x'.repeat(256) }),
  (ticket) => delete first(ticket)['id'],
  (ticket) => (ticket['inboundFlow'] = { ticketNumber: '', updatedAt: '2026-01-31T08:30:00Z' }),
  (ticket) => (ticket['outboundFlow'] = { ticketNumber: 'OUT', updatedAt: '31.01.2026 08:30' }),
  (ticket) => (ticket['customFields'] = { truckNumber: 42 }),
];

function spoilt(ticket: Record<string, unknown>, i: number): object {
  SPOILERS[i % SPOILERS.length]?.(ticket);
  return ticket;
}

const first = (ticket: Record<string, unknown>) => (ticket['materials'] as Record<string, unknown>[])[0]!;

async function compare(tickets: readonly object[], good: boolean): Promise<void> {
  for (const ticket of tickets) {
    const results: (object | undefined)[] = [];
    for (const { read: readBy } of CONTENDERS) results.push(await readBy(structuredClone(ticket)));
    if (results.some((result) => (result !== undefined) !== good || !isDeepStrictEqual(result, results[0]))) {
      throw new Error(`they differ on ${JSON.stringify(ticket)}: ${JSON.stringify(results)}`);
    }
  }
}

/** Processor time, for the machine has other work; garbage that a contender makes is its own cost. */
async function measure({ read: readBy }: Contender, tickets: readonly object[]): Promise<number> {
  const before = process.cpuUsage();
  for (const ticket of tickets) {
    const result = readBy(ticket);
    if (result instanceof Promise) await result;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / tickets.length;
}
