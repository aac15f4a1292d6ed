import { type FieldChange, MAX_CHANGES } from '../contracts/admin/history.dto.js';
import { formatInstant } from '../contracts/common/instant.js';
import { joinPath } from '../contracts/common/json.js';
import { codePoints } from '../contracts/common/text.js';
import type { CreateScaleTicketRequest, MaterialItem } from '../contracts/scale/scale.api.js';
import { maskSecrets } from '../core/observability/known-secrets.js';
import { maskJson } from '../core/observability/redaction.js';
import type { Flow, Ticket, TicketChanges } from './ticket.js';

/** Characters of one text of a change that are kept. Names and ticket numbers are not longer (decision 9). */
const MAX_SHOWN = 255;

/** What pushes change in a ticket: its contents and its flows, each from the newest push of it (decision 21). */
export type TicketForm = Pick<Ticket, 'contents' | 'flows'>;

export const NO_CHANGES: TicketChanges = { changes: [] };

type Fields = Pick<CreateScaleTicketRequest, 'materials' | 'customFields' | 'inboundFlow' | 'outboundFlow'>;

/** The fields that differ between two forms of a ticket, with both values (decision 23). */
export function changesOf(before: TicketForm, after: TicketForm): TicketChanges {
  const is = comparedFields(after);
  const all = differences(comparedFields(before), is);
  const changes = all.slice(0, MAX_CHANGES).map((each) => toChange(each, is));
  return { changes, ...(all.length > MAX_CHANGES ? { moreChanges: all.length - MAX_CHANGES } : {}) };
}

/** What a revision keeps of them. Secrets are masked before long texts are cut: a part of one is not recognised (decision 59). */
export function keptChanges(found: TicketChanges): TicketChanges {
  const { changes, ...more } = JSON.parse(maskJson(JSON.stringify(found))) as TicketChanges;
  // An absent value stays absent: JSON has no undefined.
  return {
    changes: changes.map((change) => ({ ...change, before: cut(change.before), after: cut(change.after) })),
    ...more,
  };
}

/** Lines of a first push that its text names. */
const MAX_NAMED = 3;

/** What a first push brought: `Debris 14.9 Ton, Clay 2 Cubic Yard`. */
export function amountsOf(push: TicketForm): string {
  const { materials } = comparedFields(push);
  const named = materials
    .slice(0, MAX_NAMED)
    .map((line) => `${line.name || line.id} ${line.quantity} ${line.unitOfMeasure}`);
  const more = materials.length - named.length;
  return maskSecrets(named.join(', ')) + (more > 0 ? ` and ${more} more` : '');
}

/** The fields of section 2.2 that can change. */
function comparedFields({ contents: { materials, customFields }, flows }: TicketForm): Fields {
  return {
    materials: JSON.parse(materials) as MaterialItem[],
    inboundFlow: flows.inbound && shownFlow(flows.inbound),
    outboundFlow: flows.outbound && shownFlow(flows.outbound),
    customFields: customFields === null ? undefined : (JSON.parse(customFields) as Record<string, string>),
  };
}

/** A time has its microseconds only if there are any: they decide which push is newer (decision 7). */
const shownFlow = ({ ticketNumber, updatedAt }: Flow): Flow => ({
  ticketNumber,
  updatedAt: updatedAt.endsWith('000Z') ? formatInstant(updatedAt) : updatedAt,
});

function toChange({ path, before, after }: Difference, is: Fields): FieldChange {
  const [list, place] = path;
  const line = path.length > 2 && list === 'materials' && typeof place === 'number' ? is.materials[place] : undefined;
  return {
    field: path.reduce<string>(joinPath, ''),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    ...(line === undefined ? {} : { material: line.name, unitOfMeasure: line.unitOfMeasure }),
  };
}

/** With each long text cut; it then ends with its length. */
function cut(value: unknown): unknown {
  if (typeof value === 'string') return cutText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cut);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cut(member)]));
}

function cutText(text: string): string {
  const length = codePoints(text);
  return length <= MAX_SHOWN
    ? text
    : `${[...text.slice(0, 2 * MAX_SHOWN)].slice(0, MAX_SHOWN).join('')}… [${length} characters]`;
}

/** A place where two JSON values differ. */
export interface Difference {
  /**
   * Names of members and places of elements, from the outside in; empty for the value itself. An element that was removed has its
   * place before, every other one its place after. So a list becomes the later one if the removed elements are taken out, then the
   * added ones are put in, from the front, and then the others are changed.
   */
  readonly path: readonly (string | number)[];
  /** Undefined: absent before, so it was added. */
  readonly before: unknown;
  /** Undefined: absent after, so it was removed. */
  readonly after: unknown;
}

type JsonObject = Readonly<Record<string, unknown>>;
type Path = Difference['path'];

/** Pairs of elements that are compared to align two lists. Longer lists are compared place by place. */
const MAX_PAIRS = 100_000;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An own member; every object inherits `constructor` and others. */
const memberOf = (value: JsonObject, name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined);

/**
 * What differs between two JSON values, in the order of the later one. A member that is undefined counts as absent. Numbers are
 * compared as numbers: 14.90 is 14.9. An element of a list that moved, because another one was added or removed, is no difference.
 */
export function differences(before: unknown, after: unknown, path: Path = []): Difference[] {
  if (Array.isArray(before) && Array.isArray(after)) return listDifferences(before, after, path);
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(after), ...Object.keys(before)]);
    return [...names].flatMap((name) => differences(memberOf(before, name), memberOf(after, name), [...path, name]));
  }
  return before === after ? [] : [{ path, before, after }];
}

function listDifferences(before: readonly unknown[], after: readonly unknown[], path: Path): Difference[] {
  const found: Difference[] = [];
  let [from, to] = [0, 0];
  for (const [was, is] of [...alignment(before, after), [before.length, after.length] as const]) {
    const paired = pairsBetween(was - from, is - to);
    for (let i = 0; i < paired; i++) {
      found.push(...differences(before[from + i], after[to + i], [...path, to + i]));
    }
    for (let i = from + paired; i < was; i++) found.push({ path: [...path, i], before: before[i], after: undefined });
    for (let i = to + paired; i < is; i++) found.push({ path: [...path, i], before: undefined, after: after[i] });
    if (was < before.length) found.push(...differences(before[was], after[is], [...path, is]));
    [from, to] = [was + 1, is + 1];
  }
  return found;
}

/** Elements without a counterpart are the same ones with other contents if they are equally many; else nobody knows which. */
const pairsBetween = (before: number, after: number): number => (before === after ? before : 0);

/** The places of elements that are the same one, in their order: equal ones, or with the same `id`. */
function alignment(before: readonly unknown[], after: readonly unknown[]): (readonly [was: number, is: number])[] {
  const [old, now] = [before.map(identityOf), after.map(identityOf)];
  const least = Math.min(old.length, now.length);
  let start = 0;
  while (start < least && old[start]?.text === now[start]?.text) start++;
  let end = 0;
  while (end < least - start && old.at(-1 - end)?.text === now.at(-1 - end)?.text) end++;
  const [rows, columns] = [old.length - start - end, now.length - start - end];
  const middle =
    rows * columns > MAX_PAIRS
      ? Array.from({ length: Math.min(rows, columns) }, (_, i) => [i, i] as const)
      : bestAlignment(old.slice(start, start + rows), now.slice(start, start + columns));
  return [
    ...Array.from({ length: start }, (_, i) => [i, i] as const),
    ...middle.map(([was, is]) => [start + was, start + is] as const),
    ...Array.from({ length: end }, (_, i) => [old.length - end + i, now.length - end + i] as const),
  ];
}

interface Identity {
  readonly text: string;
  readonly id: unknown;
}

const identityOf = (value: unknown): Identity => ({
  text: JSON.stringify(value),
  id: isObject(value) ? memberOf(value, 'id') : undefined,
});

/** Two lines of one material stay two: an equal element counts more than one with the same id. */
function likeness(one: Identity | undefined, other: Identity | undefined): number {
  if (one?.text === other?.text) return 3;
  return typeof one?.id === 'string' && one.id === other?.id ? 2 : 0;
}

/** The longest common subsequence, by likeness. */
function bestAlignment(old: readonly Identity[], now: readonly Identity[]): (readonly [was: number, is: number])[] {
  const width = now.length + 1;
  // The best sum of the elements from a place in both lists on.
  const best = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number) => best[row * width + column] ?? 0;
  const paired = (row: number, column: number) => {
    const like = likeness(old[row], now[column]);
    return like === 0 ? 0 : like + at(row + 1, column + 1);
  };
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = now.length - 1; column >= 0; column--) {
      best[row * width + column] = Math.max(at(row + 1, column), at(row, column + 1), paired(row, column));
    }
  }
  const pairs: (readonly [number, number])[] = [];
  for (let row = 0, column = 0; at(row, column) > 0;) {
    if (paired(row, column) === at(row, column)) pairs.push([row++, column++]);
    else if (at(row + 1, column) === at(row, column)) row++;
    else column++;
  }
  return pairs;
}
