import type { MaterialItem, UnitOfMeasure } from '../contracts/scale/scale.dto.js';

/** Longer names and values are shortened in a sentence. */
const MAX_SHOWN = 60;

/** Numbers outside of this range are written as JavaScript writes them. */
const [MIN_PLAIN, MAX_PLAIN] = [1e-9, 1e15];

interface Unit {
  readonly symbol: string;
  /** What the quantity is called. */
  readonly quantity: 'weight' | 'volume' | 'count';
}

const UNITS: Readonly<Record<UnitOfMeasure, Unit>> = {
  Ton: { symbol: 't', quantity: 'weight' },
  Pound: { symbol: 'lb', quantity: 'weight' },
  Kilogram: { symbol: 'kg', quantity: 'weight' },
  Gallon: { symbol: 'gal', quantity: 'volume' },
  'Cubic Yard': { symbol: 'yd³', quantity: 'volume' },
  'Cubic Meter': { symbol: 'm³', quantity: 'volume' },
  Item: { symbol: 'items', quantity: 'count' },
};

const NUMBER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 });
const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 20 });

export function numberText(value: number): string {
  return isPlain(value) ? NUMBER.format(value) : String(value);
}

/** `12.48 t` or `1 item`. */
export function amountText({ quantity, unitOfMeasure }: MaterialItem): string {
  return `${numberText(quantity)} ${quantity === 1 && unitOfMeasure === 'Item' ? 'item' : symbolOf(unitOfMeasure)}`;
}

/** `$62.505 per t`: the price of one unit, with all of its digits. */
export function priceText({ unitPriceCents, unitOfMeasure }: MaterialItem): string | undefined {
  return unitPriceCents === undefined ? undefined : `${dollarText(unitPriceCents)} per ${singleOf(unitOfMeasure)}`;
}

/** A price in cents as dollars: 15.5 is $0.155. */
export function dollarText(cents: number): string {
  // Fifteen digits hide the error of the division, which two decimal numbers have in binary.
  const dollars = Number((cents / 100).toPrecision(15));
  return isPlain(dollars) ? DOLLARS.format(dollars) : `$${dollars}`;
}

export const singleOf = (unit: UnitOfMeasure): string => (unit === 'Item' ? 'item' : symbolOf(unit));
const symbolOf = (unit: UnitOfMeasure): string => UNITS[unit].symbol;
export const quantityOf = (unit: UnitOfMeasure): Unit['quantity'] => UNITS[unit].quantity;

/** A text of the partner, shortened. */
export function shortText(text: string): string {
  const characters = [...text];
  return characters.length <= MAX_SHOWN ? text : `${characters.slice(0, MAX_SHOWN - 1).join('')}…`;
}

function isPlain(value: number): boolean {
  const size = Math.abs(value);
  return size === 0 || (size >= MIN_PLAIN && size < MAX_PLAIN);
}
