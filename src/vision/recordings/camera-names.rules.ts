const PLACEMENT = /^[a-z][a-z _-]*$/;
const NUMBER = /^\d+$/;

/** A name in the form in which names are compared: letter case and surrounding blanks do not count. */
export const comparableName = (text: string): string => text.trim().toLowerCase();

/** Whether two names of cameras of one truck are the same. */
export const isSameCamera = (one: string, other: string): boolean => comparableName(one) === comparableName(other);

/** The contract names a camera by its placement or by a number (2.5a). */
function cameraKind(camera: string): 'placement' | 'number' | undefined {
  const name = comparableName(camera);
  if (NUMBER.test(name)) return 'number';
  return PLACEMENT.test(name) ? 'placement' : undefined;
}

/**
 * Whether one name is a placement and the other a number. These may be names of one camera (2.5a), but are so only where
 * the partner says it: `namesOf`.
 */
export function mayBeAliases(one: string, other: string): boolean {
  const [a, b] = [cameraKind(one), cameraKind(other)];
  return a !== undefined && b !== undefined && a !== b;
}

/**
 * Whether two names may be spellings of one truck: `T7`, `T-0007` and `7` are, by their number. Names without a number are
 * compared by their letters.
 */
export function mayBeOneTruck(one: string, other: string): boolean {
  const [a, b] = [numberIn(one), numberIn(other)];
  return a === '' && b === '' ? lettersIn(one) === lettersIn(other) : a === b;
}

const numberIn = (name: string): string =>
  (name.match(/\d+/g) ?? []).map((digits) => digits.replace(/^0+/, '')).join(' ');

const lettersIn = (name: string): string => comparableName(name).replace(/[^\p{L}]/gu, '');

/** The name that a camera was requested by, and a name that the partner returned in its answer to that request. */
export interface NamePair {
  readonly requested: string;
  readonly returned: string;
}

/**
 * Every known name of a truck's camera. A second name counts only where neither of the two has another counterpart: a
 * partner that ignores `cameraId` returns all cameras for each name, which proves nothing.
 */
export function namesOf(camera: string, pairs: readonly NamePair[]): string[] {
  const own = comparableName(camera);
  const alias = aliasOf(own, pairs);
  const known = pairs.flatMap(({ requested, returned }) => [requested, returned]);
  return [...new Set([camera, ...known.filter((name) => [own, alias].includes(comparableName(name)))])];
}

/** The first of a camera's names in the form in which they are compared: the same for all of them. */
export const cameraOf = (name: string, pairs: readonly NamePair[]): string =>
  namesOf(name, pairs).map(comparableName).sort()[0] ?? comparableName(name);

/** Whether a camera has this name, by its own spelling or by what the partner returned. */
export const isNameOf = (camera: string, name: string, pairs: readonly NamePair[]): boolean =>
  isSameCamera(camera, name) || namesOf(camera, pairs).some((known) => isSameCamera(known, name));

function aliasOf(own: string, pairs: readonly NamePair[]): string | undefined {
  const [other, ...more] = counterparts(own, pairs);
  const isUnique = other !== undefined && more.length === 0 && counterparts(other, pairs).size === 1;
  return isUnique ? other : undefined;
}

function counterparts(own: string, pairs: readonly NamePair[]): Set<string> {
  const others = pairs.flatMap((pair) => {
    const [requested, returned] = [comparableName(pair.requested), comparableName(pair.returned)];
    if (requested === returned) return [];
    return requested === own ? [returned] : returned === own ? [requested] : [];
  });
  return new Set(others);
}

export interface Camera {
  readonly name: string;
  readonly names: readonly string[];
}

/** The cameras that have these names, sorted, each by the name that the partner returns. */
export function camerasOf(names: Iterable<string>, pairs: readonly NamePair[]): Camera[] {
  const cameras = new Map<string, Set<string>>();
  for (const each of names) {
    const all = namesOf(each, pairs);
    const name = pairs.find(({ returned }) => all.includes(returned))?.returned ?? each;
    cameras.set(name, new Set([...(cameras.get(name) ?? []), ...all]));
  }
  return [...cameras].map(([name, all]) => ({ name, names: [...all] })).sort((a, b) => (a.name < b.name ? -1 : 1));
}
