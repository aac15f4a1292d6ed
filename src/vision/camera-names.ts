import { comparableName } from './spelling.js';

/** By which name a camera was asked for, and by which one the partner has answered. */
export interface NamePair {
  readonly asked: string;
  readonly answered: string;
}

/**
 * Every name that a truck's camera is known by. A second name counts only where neither of the two has another
 * counterpart: a partner that ignores `cameraId` answers each name with all of its cameras, which says nothing about
 * any.
 */
export function namesOf(camera: string, pairs: readonly NamePair[]): string[] {
  const own = comparableName(camera);
  const other = otherNameOf(own, pairs);
  const known = pairs.flatMap(({ asked, answered }) => [asked, answered]);
  return [...new Set([camera, ...known.filter((name) => [own, other].includes(comparableName(name)))])];
}

function otherNameOf(own: string, pairs: readonly NamePair[]): string | undefined {
  const [other, ...more] = counterparts(own, pairs);
  const alone = other !== undefined && more.length === 0 && counterparts(other, pairs).size === 1;
  return alone ? other : undefined;
}

function counterparts(own: string, pairs: readonly NamePair[]): Set<string> {
  const others = pairs.flatMap(({ asked, answered }) => {
    const [one, other] = [comparableName(asked), comparableName(answered)];
    if (one === other) return [];
    return one === own ? [other] : other === own ? [one] : [];
  });
  return new Set(others);
}

export interface Camera {
  readonly name: string;
  readonly names: ReadonlySet<string>;
}

/** The cameras that are behind names, in order, each by the name that the partner answers with. */
export function camerasOf(found: Iterable<string>, pairs: readonly NamePair[]): Camera[] {
  const cameras = new Map<string, Set<string>>();
  for (const camera of found) {
    const names = namesOf(camera, pairs);
    const name = pairs.find(({ answered }) => names.includes(answered))?.answered ?? camera;
    cameras.set(name, new Set([...(cameras.get(name) ?? []), ...names]));
  }
  return [...cameras].map(([name, names]) => ({ name, names })).sort((a, b) => (a.name < b.name ? -1 : 1));
}
