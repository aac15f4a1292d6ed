import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The programs that npm does not install, and what does on Debian. CONTRIBUTING lists them. */
export const INSTALLED_BY = {
  etcd: 'apt-get install etcd-server',
  haproxy: 'apt-get install haproxy',
  kubectl: 'apt-get install kubectl, from the repository of Kubernetes',
  nginx: 'apt-get install nginx-light',
  patroni: 'apt-get install patroni',
  pg_config: 'apt-get install postgresql libpq-dev',
  pg_dump: 'apt-get install postgresql',
  pgbackrest: 'apt-get install pgbackrest',
  pgbouncer: 'apt-get install pgbouncer',
  promtool: 'apt-get install prometheus',
  python3: 'apt-get install python3',
} as const;

export type Program = keyof typeof INSTALLED_BY;

const FOLDERS = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/bin'];

/** Where a program is installed; undefined where it is not. */
export const pathOf = (program: string): string | undefined =>
  FOLDERS.map((folder) => join(folder, program)).find((path) => isProgram(path));

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Fails the tests of a `beforeAll`, or one test, where a program is absent: a test that did not run is no pass. */
export function requirePrograms(...programs: readonly Program[]): void {
  const absent = programs.filter((program) => pathOf(program) === undefined);
  if (absent.length > 0) throw new Error(absent.map((name) => `${name} is absent: ${INSTALLED_BY[name]}`).join('; '));
}

/** The path of a program that a test needs. */
export function requiredProgram(program: Program): string {
  requirePrograms(program);
  return pathOf(program) ?? program;
}

/** The same for what only Linux has: `/proc`, or addresses such as 127.0.0.2 without configuration. */
export function requireLinux(): void {
  if (process.platform !== 'linux') throw new Error('this test needs Linux');
}

/** The same for what only root may do, such as starting a server as another user. */
export function requireRoot(): void {
  requireLinux();
  if (process.getuid?.() !== 0) throw new Error('this test needs root');
}
