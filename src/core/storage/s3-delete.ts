import { DeleteObjectCommand, ListObjectVersionsCommand } from '@aws-sdk/client-s3';
import { type S3Place, SHORT, statusOf, viaS3 } from './s3-client.js';
import type { Deleted } from './storage.js';
import { safeName } from './storage-names.js';

/** With its versions, in a bucket that keeps them. */
export async function deleteObject(place: S3Place, name: string): Promise<Deleted> {
  const at = { Bucket: place.bucket, Key: place.prefix + safeName(name) };
  return viaS3(async () => {
    const { DeleteMarker } = await place.client.send(new DeleteObjectCommand(at), SHORT);
    return { versionsLeft: DeleteMarker === true && !(await deleteVersions(place, at.Key)) };
  });
}

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
