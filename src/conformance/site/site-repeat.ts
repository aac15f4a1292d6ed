import { createHash } from 'node:crypto';
import { isJsonObject } from '../../contracts/common/json.js';
import { hasStatus, shown, valueAt } from '../checks.js';
import type { Exchange } from '../exchange.js';
import { failed, notProven, passed, type Rule } from '../rule.js';
import { SITE_LISTS } from './site-facts.js';
import { OPERATION } from './site-table.js';

/** Rules that compare a list with a second one: the platform recognises records and changes by `id` and `updatedAt`. */

interface Stamped {
  readonly path: string;
  readonly updatedAt: unknown;
  /** Of everything but `updatedAt`. */
  readonly digest: string;
}

const LISTS = Object.keys(SITE_LISTS);

/** The records of one list by their id. Of a repeated id the first counts. */
function recordsOf({ json }: Exchange, list: string): ReadonlyMap<string, Stamped> {
  const records = valueAt(json, list);
  const found = new Map<string, Stamped>();
  for (const [i, record] of (Array.isArray(records) ? records : []).entries()) {
    if (!isJsonObject(record) || typeof record['id'] !== 'string') continue;
    const { updatedAt, ...content } = record;
    const id = record['id'].toLowerCase();
    if (!found.has(id)) found.set(id, { path: `${list}[${i}]`, updatedAt, digest: digestOf(content) });
  }
  return found;
}

/** Members of an object have no order. */
const digestOf = (content: object): string =>
  createHash('sha256')
    .update(
      JSON.stringify(content, (_, value: unknown) =>
        isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
      ),
    )
    .digest('base64');

/** Compares the records of both lists. */
const compared =
  (
    faultOf: (
      before: ReadonlyMap<string, Stamped>,
      after: ReadonlyMap<string, Stamped>,
      list: string,
    ) => string | undefined,
  ): Rule['check'] =>
  async (exchange, run) => {
    const first = await run.exchange('list');
    let isCompared = false;
    for (const list of LISTS) {
      const [before, after] = [recordsOf(first, list), recordsOf(exchange, list)];
      if (before.size === 0 || after.size === 0) continue;
      isCompared = true;
      const fault = faultOf(before, after, list);
      if (fault !== undefined) return failed(fault);
    }
    return isCompared ? passed : notProven('the lists have no records with an id');
  };

const AGAIN = { severity: 'must', operation: OPERATION, on: 'again', needs: ['SITE-005'] } as const;

export const SITE_REPEAT_RULES: readonly Rule[] = [
  {
    id: 'SITE-070',
    ...AGAIN,
    section: '4.3',
    title: 'the list can be read again immediately',
    remedy: 'Give each GET the same answer: the platform reads the complete list each time.',
    check: hasStatus(200),
  },
  {
    id: 'SITE-071',
    ...AGAIN,
    section: '2.4a',
    title: 'records keep their ids from one list to the next',
    remedy: 'Store the id of each record: do not create it for the answer.',
    check: compared((before, after) => {
      for (const [id, { path }] of before) if (!after.has(id)) return `${path}.id ${id} is not in the second list`;
      return undefined;
    }),
  },
  {
    id: 'SITE-072',
    ...AGAIN,
    section: '1',
    title: 'a record that has not changed keeps its updatedAt',
    remedy: 'Send the time of the last change of the record, not the time of the answer.',
    check: compared((before, after) => {
      for (const [id, { path, updatedAt, digest }] of before) {
        const next = after.get(id);
        if (next?.digest === digest && next.updatedAt !== updatedAt)
          return `${path}.updatedAt was ${shown(updatedAt)}, it is ${shown(next.updatedAt)} in the second list`;
      }
      return undefined;
    }),
  },
];
