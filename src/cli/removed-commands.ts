import type { Command } from 'commander';
import { CommandError, FAILURE } from './command-error.js';

const page = (name: string): string => `docs/guides/${name}.md, which the service serves at /docs/guides/${name}`;

const BACKUP = `PostgreSQL's own tools back up and restore the database: read ${page('backup')}`;
const CELLS = `a hauler stays in its cell: read ${page('cells')}`;

/** Commands of version 0.2 that are gone, by their group, with what to do instead. */
const REMOVED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': { backup: BACKUP, restore: BACKUP },
  hauler: { export: CELLS, import: CELLS, release: CELLS, unlock: CELLS },
};

/** Adds those of a group. They are in no help, and are refused whatever their arguments and options are. */
export function addRemovedCommands(group: Command, name = ''): void {
  for (const [word, advice] of Object.entries(REMOVED[name] ?? {})) {
    group
      .command(word, { hidden: true })
      .allowUnknownOption()
      .allowExcessArguments()
      .helpOption(false)
      .action(() => {
        throw new CommandError(`${`${name} ${word}`.trim()} is no command any more: ${advice}`, FAILURE);
      });
  }
}
