import type { DataSource } from 'typeorm';
import { type FileKeeper, keeperOf } from '../../storage/file-keeper.js';
import { storageName } from '../../storage/storage-name.js';

/** Of the storage. */
const FOLDER = 'recordings';

/** Where a recording's bytes are. */
export const recordingFile = (id: string): string => storageName(FOLDER, id);

/** What the platform side has in the storage. */
export const recordingFileKeeper = (dataSource: DataSource): FileKeeper =>
  keeperOf(dataSource, { table: 'recordings', folder: FOLDER, where: "status = 'stored'" });
