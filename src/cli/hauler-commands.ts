import type { Command } from 'commander';
import { CommandError, USAGE } from './command-error.js';
import { onRun } from './database-commands.js';
import type { Streams } from './program.js';

const ENVIRONMENT = 'Needs DATABASE_URL (or DATA_DIR), STORAGE_URL and SECRETS_KEY of the cell';

/** The commands that move a hauler between cells. They open the database themselves, as `backup` does. */
export function addHaulerCommands(group: Command, streams: Streams): void {
  const exporting = group
    .command('export <id>')
    .summary('Lock a hauler and write an archive of it')
    .description(
      `Writes rows, key hashes, sealed keys of partners, files and the exchange log of a hauler, which moves to another cell. It stays locked: its pushes are 503 with Retry-After, until hauler unlock or hauler release. ${ENVIRONMENT}.`,
    )
    .requiredOption('--to <place>', 'file, or s3://bucket/key?endpoint=…&region=…')
    .option('--dry-run', 'only count what would be written, and name lost files');
  onRun<{ to: string; dryRun?: boolean }>(exporting, streams, async (options, context) =>
    (await import('../backup/hauler-export.js')).exportHauler({ ...options, id: idOf(exporting) }, context),
  );
  const importing = group
    .command('import [id]')
    .summary('Store a hauler of another cell here')
    .description(
      `Stores all of an archive or nothing, and with an id only if it is the archive of that hauler. It compares counts and sums, and seals the keys of partners with SECRETS_KEY of this cell; SOURCE_SECRETS_KEY (or SOURCE_SECRETS_KEY_FILE) is that of the other one. Then the hauler is in use here. ${ENVIRONMENT}.`,
    )
    .option('--from <place>', 'required without --undo: file or s3://bucket/key?endpoint=…&region=… of the archive')
    .option('--dry-run', 'check all of it and store nothing')
    .option('--undo <id>', 'remove an imported hauler here, before hauler unlock at its source')
    .option('--discard', 'with --undo: also what has come here since the import');
  onRun<{ from?: string; dryRun?: boolean; undo?: string; discard?: boolean }>(
    importing,
    streams,
    async ({ from, undo, ...options }, context) => {
      if (undo !== undefined)
        return (await import('../backup/hauler-release.js')).undoImport({ id: undo, ...options }, context);
      if (from === undefined) throw new CommandError("required option '--from <place>' not specified", USAGE);
      const [id] = importing.args;
      const named = id === undefined ? {} : { id };
      return (await import('../backup/hauler-import.js')).importHauler({ from, ...named, ...options }, context);
    },
  );
  const releasing = group
    .command('release <id>')
    .summary('End the move of a hauler at its source')
    .description(
      `After the import: deletes the rows and files of the hauler here, and prints the lines for the proxy. Cannot be undone. ${ENVIRONMENT}.`,
    )
    .option('--to <cell>', 'name of the cell that has the hauler now, for the lines');
  onRun<{ to?: string }>(releasing, streams, async (options, context) =>
    (await import('../backup/hauler-release.js')).releaseHauler({ ...options, id: idOf(releasing) }, context),
  );
  const unlocking = group
    .command('unlock <id>')
    .summary('Undo the export of a hauler')
    .description(`Puts a locked hauler back into use here, until it is released. ${ENVIRONMENT}.`);
  onRun(unlocking, streams, async (_options, context) =>
    (await import('../backup/hauler-release.js')).unlockHauler({ id: idOf(unlocking) }, context),
  );
}

const idOf = (command: Command): string => command.args[0] ?? '';
