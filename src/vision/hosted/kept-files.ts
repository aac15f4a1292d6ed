import type { DataSource } from 'typeorm';
import { type FileKeeper, keeperOf } from '../../storage/file-keeper.js';
import { clipName } from './clip-preparation.js';
import { recordingName } from './recordings.service.js';

/** What the partner side has in the storage. */
export const hostedFileKeepers = (dataSource: DataSource): FileKeeper[] => [
  keeperOf(dataSource, {
    table: 'hosted_recordings',
    folder: 'hosted-recordings',
    where: 'true',
    nameOf: recordingName,
  }),
  keeperOf(dataSource, { table: 'hosted_videos', folder: 'hosted-clips', where: 'true', nameOf: clipName }),
];
