import type { FieldChange, HistoryEntry } from '../../../contracts/admin/history.dto.js';
import type { MaterialItem } from '../../../contracts/scale/scale.api.js';

/** A line of a ticket, as far as its weight needs it. */
type Line = Pick<MaterialItem, 'quantity' | 'unitOfMeasure'>;

/** Quantities by unit, in the order of the lines. */
export type Amounts = ReadonlyMap<string, number>;

export interface Step {
  readonly entry: HistoryEntry;
  /** What happened, in one word. */
  readonly word: string;
  readonly tone: 'good' | 'bad' | 'warn' | 'info' | 'plain';
  /** What the ticket had after it; absent where it changed nothing, or where that is not known. */
  readonly amounts?: Amounts;
  /** From the push before; empty for the first one. */
  readonly difference?: Amounts;
}

/** The ticket as it is now, and when a push made it so. */
interface Current {
  readonly materials: readonly Line[];
  readonly updatedAt: string;
}

/**
 * The steps of a page of a history, the newest first as it has them. The weights are counted back from the contents of now: the
 * push that made them is on the page, or no weight is known.
 */
export function stepsOf(entries: readonly HistoryEntry[], { materials, updatedAt }: Current): Step[] {
  let lines: readonly Line[] | undefined;
  return entries.map((entry) => {
    const { result, revision, changes = [], moreChanges = 0, at } = entry;
    if (revision === undefined || result === 'stale') return { entry, ...withoutChange(entry) };
    if (at === updatedAt) lines = materials;
    const after = lines;
    lines = after === undefined || moreChanges > 0 ? undefined : undone(after, changes);
    const first = result === 'created';
    return {
      entry,
      ...(first ? ({ word: 'Received', tone: 'good' } as const) : changeOf(changes)),
      ...(after !== undefined && { amounts: amountsOf(after) }),
      ...(after !== undefined &&
        lines !== undefined && { difference: first ? new Map() : less(amountsOf(after), amountsOf(lines)) }),
    };
  });
}

type Named = Pick<Step, 'word' | 'tone'>;

function withoutChange({ event, status, result, revision }: HistoryEntry): Named {
  if (result === 'stale' && revision !== undefined) return { word: 'Late', tone: 'warn' };
  if (event === 'push') return { word: result === 'unchanged' ? 'Repeated' : (result ?? 'Received'), tone: 'plain' };
  if (event !== 'refused') return { word: event, tone: 'plain' };
  if (status === undefined) return { word: 'Answer lost', tone: 'warn' };
  return status < 500 ? { word: 'Refused', tone: 'bad' } : { word: 'Not stored', tone: 'bad' };
}

const QUANTITY = /^materials\[(\d+)\]\.(quantity|unitOfMeasure)$/;
const LINE = /^materials\[(\d+)\]$/;

function changeOf(changes: readonly FieldChange[]): Named {
  const weighed = changes.filter(({ field }) => QUANTITY.test(field) || LINE.test(field));
  if (weighed.some(isReversal)) return { word: 'Reversed', tone: 'warn' };
  if (weighed.length > 0) return { word: 'Corrected', tone: 'info' };
  const isRenamed = changes.some(({ field }) => field.endsWith('boundFlow.ticketNumber'));
  return isRenamed ? { word: 'Renamed', tone: 'info' } : { word: 'Changed', tone: 'plain' };
}

/** A quantity became negative. */
function isReversal({ field, before, after }: FieldChange): boolean {
  const quantity = (value: unknown) => (LINE.test(field) ? ((value as Line | undefined)?.quantity ?? 0) : value);
  const [was, is] = [quantity(before), quantity(after)];
  return typeof is === 'number' && is < 0 && !(typeof was === 'number' && was < 0);
}

/** The lines before a push: what it changed in them is taken back, then the added ones are, then the removed ones return. */
function undone(after: readonly Line[], changes: readonly FieldChange[]): Line[] {
  const lines = after.map((line) => ({ ...line }));
  const placed = (pattern: RegExp) =>
    changes.flatMap((change) => {
      const [, place, member] = pattern.exec(change.field) ?? [];
      return place === undefined ? [] : [{ place: Number(place), member, ...change }];
    });
  for (const { place, member, before } of placed(QUANTITY)) {
    const line = lines[place];
    if (line !== undefined && member !== undefined) Object.assign(line, { [member]: before });
  }
  const whole = placed(LINE).sort((one, other) => one.place - other.place);
  for (const { place } of whole.filter(({ before }) => before === undefined).reverse()) lines.splice(place, 1);
  for (const { place, before, after: is } of whole) if (is === undefined) lines.splice(place, 0, before as Line);
  return lines;
}

export function amountsOf(lines: readonly Line[]): Amounts {
  const found = new Map<string, number>();
  for (const { quantity, unitOfMeasure } of lines) found.set(unitOfMeasure, (found.get(unitOfMeasure) ?? 0) + quantity);
  return new Map([...found].map(([unit, sum]) => [unit, Number(sum.toPrecision(15))]));
}

/** Units without a difference are left out. */
function less(after: Amounts, before: Amounts): Amounts {
  const units = new Set([...after.keys(), ...before.keys()]);
  const all = [...units].map((unit) => [unit, difference(after.get(unit), before.get(unit))] as const);
  return new Map(all.filter(([, quantity]) => quantity !== 0));
}

/** Without the digits that differences of binary numbers have: the page shows six. */
const difference = (after = 0, before = 0): number => Number((after - before).toFixed(6));
