import { spawnSync } from 'node:child_process';

/** A call that ends with 0 where the program is there, and the package of Debian and Ubuntu that installs it. */
const PROGRAMS = {
  nginx: { probe: '-v', install: 'apt-get install nginx-light' },
  haproxy: { probe: '-v', install: 'apt-get install haproxy' },
  kubectl: { probe: 'help', install: 'apt-get install kubectl, from the repository of Kubernetes' },
} as const;

/** The path of a program that npm does not install. A test that needs it fails where it is absent. */
export function requiredProgram(name: keyof typeof PROGRAMS): string {
  const { probe, install } = PROGRAMS[name];
  const found = [name, `/usr/sbin/${name}`].find((path) => spawnSync(path, [probe]).status === 0);
  if (found === undefined) throw new Error(`this test needs the program ${name} (${install})`);
  return found;
}
