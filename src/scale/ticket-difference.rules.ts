import { isDeepStrictEqual } from 'node:util';
import type { MaterialItem } from '../contracts/scale/scale.dto.js';
import {
  amountText,
  dollarText,
  numberText,
  priceText,
  quantityOf,
  shortText,
  singleOf,
} from './ticket-amounts.rules.js';
import type { Flow } from './ticket.js';

/** The old and the new form of a line of a ticket. */
type Pair = readonly [before: MaterialItem, after: MaterialItem];

/** What differs between two lists of materials, in short phrases. */
export function materialPhrases(before: readonly MaterialItem[], after: readonly MaterialItem[]): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  const { pairs, removed, added } = pairsOf(before, after);
  const isOnly = before.length === 1 && after.length === 1;
  const [gone, come] = [removed[0], added[0]];
  const phrases = pairs.flatMap((pair) => pairPhrases(pair, isOnly));
  if (gone !== undefined && come !== undefined && removed.length === 1 && added.length === 1) {
    phrases.push(exchangePhrase([gone, come]), ...amountPhrases([gone, come], isOnly));
  } else {
    phrases.push(
      ...added.map((material) => `material ${nameOf(material)} added: ${amountText(material)}${atPrice(material)}`),
    );
    phrases.push(...removed.map((material) => `material ${nameOf(material)} removed (${amountText(material)})`));
  }
  return phrases.length === 0 ? ['materials in another order'] : phrases;
}

/** `14.9 t of Asphalt at $62.50 per t` */
export function materialText(material: MaterialItem): string {
  return `${amountText(material)} of ${nameOf(material)}${atPrice(material)}`;
}

export function customFieldPhrases(
  before: Readonly<Record<string, string>> = {},
  after: Readonly<Record<string, string>> = {},
): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name) => {
    const [was, is] = [before, after].map((fields) => (Object.hasOwn(fields, name) ? fields[name] : undefined));
    if (was === is) return [];
    const field = `custom field ${shortText(name)}`;
    if (was === undefined) return [`${field} added: ${quoted(is)}`];
    return [
      is === undefined ? `${field} removed (${quoted(was)})` : `${field} changed from ${quoted(was)} to ${quoted(is)}`,
    ];
  });
}

/** A newer time of the same number is no phrase: most pushes have one. */
export function flowPhrases(direction: string, before: Flow | undefined, after: Flow | undefined): string[] {
  if (after === undefined || before?.ticketNumber === after.ticketNumber) return [];
  const [was, is] = [before?.ticketNumber, shortText(after.ticketNumber)];
  return was === undefined
    ? [`${direction} flow ${is} added`]
    : [`${direction} flow renumbered from ${shortText(was)} to ${is}`];
}

/** Equal lines first, then lines of the same material in their order. */
function pairsOf(before: readonly MaterialItem[], after: readonly MaterialItem[]) {
  const added = [...after];
  const take = (isSame: (material: MaterialItem) => boolean) => {
    const index = added.findIndex(isSame);
    return index < 0 ? undefined : added.splice(index, 1)[0];
  };
  const changed = before.filter((material) => take((other) => isDeepStrictEqual(other, material)) === undefined);
  const pairs: Pair[] = [];
  const removed: MaterialItem[] = [];
  for (const material of changed) {
    const other = take(({ id }) => id === material.id);
    if (other === undefined) removed.push(material);
    else pairs.push([material, other]);
  }
  return { pairs, removed, added };
}

function pairPhrases(pair: Pair, isOnly: boolean): string[] {
  const [was, is] = pair.map(nameOf);
  const name = pair[0].name === pair[1].name ? [] : [`material ${was} renamed to ${is}`];
  return [...name, ...amountPhrases(pair, isOnly)];
}

/** Two materials may have one name. */
function exchangePhrase([before, after]: Pair): string {
  return before.name === after.name
    ? `material ${nameOf(after)} has another id (${before.id} before, ${after.id} now)`
    : `material changed from ${nameOf(before)} to ${nameOf(after)}`;
}

function amountPhrases([before, after]: Pair, isOnly: boolean): string[] {
  const of = isOnly ? '' : ` of ${nameOf(after)}`;
  return [...quantityPhrases(before, after, of), ...pricePhrases(before, after, of)];
}

function quantityPhrases(before: MaterialItem, after: MaterialItem, of: string): string[] {
  const quantity = quantityOf(after.unitOfMeasure);
  if (before.unitOfMeasure !== after.unitOfMeasure) {
    const name = quantityOf(before.unitOfMeasure) === quantity ? quantity : 'quantity';
    return [`${name}${of} changed from ${amountText(before)} to ${amountText(after)}`];
  }
  if (Object.is(before.quantity, after.quantity)) return [];
  return [`${quantity}${of} corrected from ${numberText(before.quantity)} to ${amountText(after)}`];
}

function pricePhrases(before: MaterialItem, after: MaterialItem, of: string): string[] {
  const [was, is] = [priceText(before), priceText(after)];
  if (was === is) return [];
  if (was === undefined) return [`price${of} added: ${is}`];
  if (is === undefined || after.unitPriceCents === undefined) return [`price${of} removed (${was})`];
  const from = before.unitOfMeasure === after.unitOfMeasure ? dollarText(before.unitPriceCents ?? 0) : was;
  return [
    `price${of} changed from ${from} to ${dollarText(after.unitPriceCents)} per ${singleOf(after.unitOfMeasure)}`,
  ];
}

function atPrice(material: MaterialItem): string {
  const price = priceText(material);
  return price === undefined ? '' : ` at ${price}`;
}

const nameOf = ({ name }: MaterialItem): string => shortText(name);
const quoted = (text: string | undefined): string => `"${shortText(text ?? '')}"`;
