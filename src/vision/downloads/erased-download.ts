import { RowLostError } from '../../work/run.js';
import { recordingFile } from '../recordings/recording.rules.js';
import type { Storage } from '../../storage/storage.js';
import type { DownloadRepository, RecordingRow } from './download.repository.js';

/** The recording may be erased while its file is published: the file must not stay then. */
export async function withoutErased(
  finishing: Promise<void>,
  row: RecordingRow,
  recordings: DownloadRepository,
  storage: Pick<Storage, 'delete'>,
): Promise<void> {
  try {
    await finishing;
  } catch (error) {
    if (error instanceof RowLostError && !(await recordings.exists(row))) await storage.delete(recordingFile(row.id));
    throw error;
  }
}
