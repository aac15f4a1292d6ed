import { type AdminRoutes, FOR_ADMINS_OF_ALL, FOR_VIEWERS_OF_ALL, route } from './route-helpers.js';
import { StorageCheck, StorageCheckQuery, StorageRepair, StorageRepairRequest } from './storage.dto.js';

/** The video storage: comparison with the database, and repair. */
export const STORAGE_ROUTES = {
  checkStorage: route(FOR_VIEWERS_OF_ALL, 'GET', '/doctor', {
    summary: 'Compare the video storage with the database',
    description:
      'Lists files without a row, and rows whose file is missing or differs. Changes nothing. With `checksums` the service reads every file, which takes as long as reading them does.',
    query: StorageCheckQuery,
    response: StorageCheck,
    returns: 'The differences',
  }),
  repairStorage: route(FOR_ADMINS_OF_ALL, 'POST', '/doctor/repair', {
    summary: 'Repair what the storage has lost',
    description:
      'Compares the storage with the database. A recording whose file is gone waits for it again, with the reason, and is fetched if the partner still lists it. Files without a row are removed with `removeOrphans` only. A file that differs is listed.',
    body: StorageRepairRequest,
    response: StorageRepair,
    isBodyOptional: true,
    returns: 'What was done',
  }),
} as const satisfies AdminRoutes;
