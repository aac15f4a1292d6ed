import type { DataSource } from 'typeorm';
import { type FileKeeper, keeperOf } from '../../storage/file-keeper.js';

/** What the platform side has in the storage. */
export const recordingFileKeeper = (dataSource: DataSource): FileKeeper =>
  keeperOf(dataSource, { table: 'recordings', folder: 'recordings', where: "status = 'stored'" });
