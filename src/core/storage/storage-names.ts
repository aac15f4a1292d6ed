const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const FOLDER = '[a-z][a-z0-9-]{0,31}';
const FOLDER_NAME = new RegExp(`^${FOLDER}$`);
const NAME = new RegExp(`^${FOLDER}/[0-9a-f]{2}/${UUID}\\.mp4$`);

/** `recordings/ab/<uuid>.mp4`: files are spread by the last two digits of the id, because a UUIDv7 begins with its time. */
export const storageName = (folder: string, id: string): string =>
  safeName(`${folder}/${`${id.slice(-2)}/${id}.mp4`.toLowerCase()}`);

export const isStorageName = (name: string): boolean => NAME.test(name);

/** A folder of files, within that of a table. */
export const isSpreadFolder = (name: string): boolean => /^[0-9a-f]{2}$/.test(name);

/** Returns the name; throws unless it has the form of `storageName`, so that no path leaves the storage's root. */
export function safeName(name: string): string {
  if (!isStorageName(name)) throw new TypeError('not a storage name');
  return name;
}

export const isStorageFolder = (folder: string): boolean => FOLDER_NAME.test(folder);

export function safeFolder(folder: string): string {
  if (!isStorageFolder(folder)) throw new TypeError('not a storage folder');
  return folder;
}
