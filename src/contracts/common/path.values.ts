/** Limit of one name in a path, in UTF-16 units. Every allowed name is shorter; an unknown name may have a megabyte. */
const MAX_NAME_LENGTH = 512;

/** `materials[2]`, then `.quantity`, or `["a.b"]` where the name is no plain identifier (decision 9). */
export function joinPath(parent: string, key: string | number): string {
  if (typeof key === 'number') return `${parent}[${key}]`;
  if (key.length > MAX_NAME_LENGTH) return joinPath(parent, `${key.slice(0, MAX_NAME_LENGTH - 1).toWellFormed()}…`);
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${parent}[${JSON.stringify(key)}]`;
  return parent === '' ? key : `${parent}.${key}`;
}

/** Maximum length of a path in UTF-16 units: 32 long names, escaped, would take 90 KB. */
const MAX_PATH_LENGTH = 1024;

/** A path for a violation: only both ends of a path that is too long, with `…` between them. */
export function shortPath(path: string): string {
  if (path.length <= MAX_PATH_LENGTH) return path;
  const half = (MAX_PATH_LENGTH >> 1) - 1;
  return `${path.slice(0, half).toWellFormed()}…${path.slice(-half).toWellFormed()}`;
}
