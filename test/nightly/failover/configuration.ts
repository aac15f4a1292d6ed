import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.js';

const FOLDER = join(import.meta.dirname, '../../../deploy/failover');

/** The machines of the guide. */
export const MACHINES = ['db1', 'db2', 'db3'] as const;
export type Machine = (typeof MACHINES)[number];

export const ROLE = 'haulbridge';
export const PASSWORD = 'for-the-service';
export const SUPERUSER_PASSWORD = 'change-me-superuser';

const addressOf = (machine: Machine) => `10.0.0.1${machine.slice(2)}`;

/** For each address of the guide a free one of this machine. */
export class Addresses {
  private readonly ports = new Map<string, number>();

  static async choose(): Promise<Addresses> {
    const addresses = new Addresses();
    const used = MACHINES.flatMap((machine) => [2379, 2380, 8008, 5432].map((port) => `${addressOf(machine)}:${port}`));
    for (const address of [...used, '127.0.0.1:5000', '127.0.0.1:6432']) addresses.ports.set(address, await freePort());
    return addresses;
  }

  port(machine: Machine, port: number): number {
    return this.of(`${addressOf(machine)}:${port}`);
  }

  of(address: string): number {
    const port = this.ports.get(address);
    if (port === undefined) throw new Error(`${address} is not an address of the guide`);
    return port;
  }

  /** The text of a file of `deploy/failover`, with addresses and paths of this machine. */
  fill(name: string, folder: string, machine?: Machine): string {
    let text = readFileSync(join(FOLDER, name), 'utf8');
    if (machine !== undefined) text = ofMachine(text, machine);
    text = text
      .replace(/10\.0\.0\.1\d:\d+/g, (address) => `127.0.0.1:${this.of(address)}`)
      .replace('127.0.0.1:5000', `127.0.0.1:${this.of('127.0.0.1:5000')}`)
      .replaceAll('10.0.0.0/24', '127.0.0.1/32');
    return this.withOwnLines(text).replaceAll(/(?<=[ =])\/(?:var|etc)\/[\w/.]+/g, (path) => pathIn(folder, path));
  }

  /** Lines in which the port stands apart from its address. */
  private withOwnLines(text: string): string {
    return text
      .replace(/(?<=server (db\d) .* check port )8008/g, (_, machine: Machine) => String(this.port(machine, 8008)))
      .replace('port=5000', `port=${this.of('127.0.0.1:5000')}`)
      .replace('listen_port = 6432', `listen_port = ${this.of('127.0.0.1:6432')}`);
  }
}

/** What the guide does with sed: the lines that name all machines stay. */
export const ofMachine = (text: string, machine: Machine): string =>
  text
    .split('\n')
    .map((line) =>
      /^initial-cluster:|hosts:/.test(line)
        ? line
        : line.replaceAll('db1', machine).replaceAll('10.0.0.11', addressOf(machine)),
    )
    .join('\n');

/** `/var/lib/postgresql/15/haulbridge` becomes `15-haulbridge` in the folder. */
const pathIn = (folder: string, path: string): string => join(folder, path.split('/').slice(-2).join('-'));
