import type { DataSource } from 'typeorm';
import { type FileKeeper, keeperOf } from '../../storage/file-keeper.js';
import { FILM_FOLDERS } from './film-tables.js';

/** What the partner side has in the storage. */
export const hostedFileKeepers = (dataSource: DataSource): FileKeeper[] => [
  keeperOf(dataSource, { table: 'hosted_recordings', folder: FILM_FOLDERS.recordings, where: 'true' }),
  keeperOf(dataSource, { table: 'hosted_videos', folder: FILM_FOLDERS.clips, where: 'true' }),
];
