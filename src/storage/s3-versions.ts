import { DeleteObjectCommand, DeleteObjectsCommand, ListObjectVersionsCommand } from '@aws-sdk/client-s3';
import { eachOf } from './delete-each.js';
import { KEYS_PER_CALL, type S3Place, SHORT, statusOf } from './s3-client.js';

/** A version of an object, or a marker of its deletion. */
interface ObjectVersion {
  readonly Key: string;
  readonly VersionId: string;
}

/** Credentials or a lock that do not allow the call, or a server that does not know it. */
const REFUSALS = new Set([400, 401, 403, 404, 405, 409, 411, 501]);

/** Undefined where the call is refused: then versions remain. */
const ifAllowed = <T>(call: Promise<T>): Promise<T | undefined> =>
  call.catch((error: unknown) => {
    if (!REFUSALS.has(statusOf(error) ?? 0)) throw error;
    return undefined;
  });

/**
 * Deletes the versions of an object in a bucket that keeps them, and the markers of its deletion, but for the version `except`.
 * Returns false if some may remain: the credentials, a lock or the server do not let them be listed or deleted.
 */
export async function deleteVersions(place: S3Place, key: string, except?: string): Promise<boolean> {
  const found = await ifAllowed(versionsOf(place, key));
  if (found === undefined) return false;
  let isWhole = true;
  for (const version of found) {
    if (version.VersionId === except) continue;
    const command = new DeleteObjectCommand({ Bucket: place.bucket, ...version });
    isWhole = (await ifAllowed(place.client.send(command, SHORT))) !== undefined && isWhole;
  }
  return isWhole;
}

/** As `deleteVersions`, for many; what is refused remains. */
export async function deleteVersionsOfMany(place: S3Place, keys: readonly string[]): Promise<void> {
  const found: ObjectVersion[] = [];
  await eachOf(keys, async (key) => {
    found.push(...((await ifAllowed(versionsOf(place, key))) ?? []));
  });
  for (let first = 0; first < found.length; first += KEYS_PER_CALL) {
    const Delete = { Objects: found.slice(first, first + KEYS_PER_CALL), Quiet: true };
    await ifAllowed(place.client.send(new DeleteObjectsCommand({ Bucket: place.bucket, Delete })));
  }
}

async function versionsOf({ client, bucket }: S3Place, key: string): Promise<ObjectVersion[]> {
  const found: ObjectVersion[] = [];
  let after: { readonly KeyMarker?: string; readonly VersionIdMarker?: string } | undefined = {};
  while (after !== undefined) {
    const command: ListObjectVersionsCommand = new ListObjectVersionsCommand({ Bucket: bucket, Prefix: key, ...after });
    const page = await client.send(command, SHORT);
    for (const { Key, VersionId } of [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])]) {
      if (Key === key && VersionId !== undefined) found.push({ Key, VersionId });
    }
    const { IsTruncated, NextKeyMarker: KeyMarker, NextVersionIdMarker } = page;
    const isOfKey = IsTruncated === true && KeyMarker === key && NextVersionIdMarker !== undefined;
    after = isOfKey ? { KeyMarker, VersionIdMarker: NextVersionIdMarker } : undefined;
  }
  return found;
}
