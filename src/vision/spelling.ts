const PLACEMENT = /^[a-z][a-z _-]*$/;
const NUMBER = /^\d+$/;

/** A name as it is compared: letters' case and the blanks around it do not count. */
export const comparableName = (text: string): string => text.trim().toLowerCase();

/** Whether two names, of one truck, are the same but for letter case and blanks around them. */
export const isSameCamera = (one: string, other: string): boolean => comparableName(one) === comparableName(other);

/** A camera is named by its placement or by a number (2.5a). */
export function cameraKind(camera: string): 'placement' | 'number' | undefined {
  const name = comparableName(camera);
  if (NUMBER.test(name)) return 'number';
  return PLACEMENT.test(name) ? 'placement' : undefined;
}

/** Whether one is a placement and the other a number: these may be two names of one camera (2.5a), and may be not. */
export function mayBeAliases(one: string, other: string): boolean {
  const [a, b] = [cameraKind(one), cameraKind(other)];
  return a !== undefined && b !== undefined && a !== b;
}

/**
 * Whether two names may be one truck's, spelled otherwise: `T7`, `T-0007` and `7` are, by their number; a name without
 * one is known by its letters. Too little to recognise a truck by, enough not to take it for another one.
 */
export function mayBeOneTruck(one: string, other: string): boolean {
  const [a, b] = [numberIn(one), numberIn(other)];
  return a === '' && b === '' ? lettersIn(one) === lettersIn(other) : a === b;
}

const numberIn = (name: string): string =>
  (name.match(/\d+/g) ?? []).map((digits) => digits.replace(/^0+/, '')).join(' ');

const lettersIn = (name: string): string => comparableName(name).replace(/[^\p{L}]/gu, '');
