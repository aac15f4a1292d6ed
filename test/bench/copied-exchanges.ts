import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Reference } from '../../src/contracts/common/references.js';
import { storedReferences } from '../../src/exchanges/exchange-references.rules.js';
import { COLUMNS } from '../../src/exchanges/exchange-row.js';

/** Rows of one COPY. */
const PORTION = 1_000;

type Columns = Readonly<Partial<Record<(typeof COLUMNS)[number], string | number | boolean | null>>>;

interface CopiedExchange {
  readonly id: string;
  readonly haulerId: string;
  readonly references: readonly Reference[];
  /** Texts without characters that COPY escapes. */
  readonly columns: Columns;
}

/** Writes exchanges 1 to `count` as the service does, with their references. */
export async function copyExchanges(
  client: pg.Client,
  count: number,
  exchange: (i: number) => CopiedExchange,
): Promise<void> {
  const line = (i: number): string => {
    const { id, haulerId, references, columns } = exchange(i);
    const refs = `{${storedReferences(haulerId, references).join(',')}}`;
    const all: Columns = { ...columns, id, hauler_id: haulerId, refs };
    return `${COLUMNS.map((name) => all[name] ?? '\\N').join('\t')}\n`;
  };
  for (let first = 1; first <= count; first += PORTION) {
    const lines = Array.from({ length: Math.min(PORTION, count + 1 - first) }, (_, i) => line(first + i));
    await pipeline([lines.join('')], client.query(copyFrom(`COPY exchanges (${COLUMNS.join(', ')}) FROM STDIN`)));
  }
}

/** A UUID that ends with a number. */
export const numberedId = (start: string, number: number): string => `${start}${number.toString(16).padStart(12, '0')}`;

/** A version 7 UUID of a time in milliseconds. */
export function exchangeId(time: number, number: number): string {
  const hex = Math.floor(time).toString(16).padStart(12, '0');
  const sequence = (number % 4096).toString(16).padStart(3, '0');
  return numberedId(`${hex.slice(0, 8)}-${hex.slice(8)}-7${sequence}-8000-`, number);
}
