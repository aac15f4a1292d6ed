import type { DataSource } from 'typeorm';
import { type Inventory, inventoryOf } from '../../storage/inventory.js';
import { storageName } from '../../storage/storage-name.js';

/** Of the storage. */
const FOLDER = 'recordings';

/** Where a recording's bytes are. */
export const recordingFile = (id: string): string => storageName(FOLDER, id);

/** The files of the platform side in the storage. */
export const recordingInventory = (dataSource: DataSource): Inventory =>
  inventoryOf(dataSource, { table: 'recordings', folder: FOLDER, where: "status = 'stored'" });
