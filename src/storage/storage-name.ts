const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const FOLDER = '[a-z][a-z0-9-]{0,31}';
const FOLDER_NAME = new RegExp(`^${FOLDER}$`);
const NAME = new RegExp(`^${FOLDER}/[0-9a-f]{2}/${UUID}\\.mp4$`);

/**
 * The only kind of name a storage takes: `recordings/ab/<uuid>.mp4`. Spread over 256 folders by the id's last two
 * digits, since the first ones of a UUIDv7 are its time.
 */
export function storageName(folder: string, id: string): string {
  return safeName(`${folder}/${id.slice(-2).toLowerCase()}/${id.toLowerCase()}.mp4`);
}

export const isStorageName = (name: string): boolean => NAME.test(name);

/** The name itself; throws where it is not one of `storageName`, so that no path ever leaves the storage's root. */
export function safeName(name: string): string {
  if (!isStorageName(name)) throw new TypeError('not a storage name');
  return name;
}

export const isStorageFolder = (folder: string): boolean => FOLDER_NAME.test(folder);

export function safeFolder(folder: string): string {
  if (!isStorageFolder(folder)) throw new TypeError('not a storage folder');
  return folder;
}

/** The folder of temporaries; no name of a published file begins so. */
export const PARTIAL = '.partial';

/** Where a name's temporaries live: one level below `PARTIAL`. */
export const partialOf = (name: string): string => `${PARTIAL}/${safeName(name).replaceAll('/', '~')}`;
