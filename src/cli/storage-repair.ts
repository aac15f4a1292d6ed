import type { Command } from 'commander';
import type { AdminClient } from '../admin-client/admin-client.js';
import type { StorageRepair, UnreadPlace } from '../contracts/admin/storage.dto.js';
import { exactValue, render } from './output.js';
import type { Streams } from './program.js';

export interface RepairOptions {
  readonly repair?: boolean;
  readonly dryRun?: boolean;
  readonly removeOrphans?: boolean;
  readonly checksums?: boolean;
}

export function addRepairOptions(command: Command): Command {
  return command
    .option('--repair', 'fetch lost recordings again, by the running service; reports each difference')
    .option('--dry-run', 'with --repair: change nothing, and report what would be done')
    .option('--remove-orphans', 'with --repair: remove files without a row');
}

export const unreadLines = (unread: readonly UnreadPlace[]): string =>
  `not compared, because it cannot be read:\n${render({ data: unread.map(({ place, reason }) => ({ place, reason })) }, false)}`;

/** Runs the repair of the service, and prints what it did. */
export async function repairStorage(
  client: AdminClient,
  { dryRun = false, removeOrphans = false, checksums = false }: RepairOptions,
  json: boolean,
  { out }: Streams,
): Promise<void> {
  const response = await client.json('repairStorage', { body: { dryRun, removeOrphans, checksums } });
  if (json) return out(render(exactValue(response), true));
  const { data, unread = [], examined, fetchedAgain, removed, none } = JSON.parse(response) as StorageRepair;
  if (data.length > 0)
    out(render({ data: data.map(({ table, id, message, remedy }) => ({ remedy, table, id, message })) }, false));
  if (unread.length > 0) out(unreadLines(unread));
  const would = dryRun ? 'would be ' : '';
  out(
    `examined ${examined} rows and files: ${fetchedAgain} recordings ${would}fetched again, ${removed} files ${would}removed, ${none} differences left as they are\n`,
  );
}
