import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  type DeleteObjectsOutput,
  ListObjectVersionsCommand,
} from '@aws-sdk/client-s3';
import { deleteEach, type DeleteFailures, eachOf } from './delete-each.js';
import { expectAnswer, KEYS_PER_CALL, type S3Place, SHORT, statusOf, viaS3 } from './s3-client.js';
import type { Deleted } from './storage.js';
import { safeName } from './storage-names.js';
import { StorageUnavailableError } from './storage-errors.js';

/** A server answers one of these to a call that it does not know, or whose checksum it does not know. */
const NOT_KNOWN = new Set([400, 405, 411, 501]);

/** With its versions, in a bucket that keeps them. */
export async function deleteObject(place: S3Place, name: string): Promise<Deleted> {
  const at = { Bucket: place.bucket, Key: place.prefix + safeName(name) };
  return viaS3(async () => {
    const { DeleteMarker } = await place.client.send(new DeleteObjectCommand(at), SHORT);
    return { versionsLeft: DeleteMarker === true && !(await deleteVersions(place, at.Key)) };
  });
}

/** A call for up to 1,000 objects, or one for each where the server has no such call. Versions are deleted as by `deleteObject`. */
export async function deleteObjects(place: S3Place, names: readonly string[]): Promise<DeleteFailures> {
  const failures = new Map<string, Error>();
  for (let first = 0; first < names.length; first += KEYS_PER_CALL) {
    const some = await deleteSome(place, names.slice(first, first + KEYS_PER_CALL));
    for (const [name, error] of some) failures.set(name, error);
  }
  return failures;
}

async function deleteSome(place: S3Place, names: readonly string[]): Promise<DeleteFailures> {
  const byKey = new Map(names.map((name) => [place.prefix + safeName(name), name]));
  const answer = await viaS3(() => deleteKeys(place, [...byKey.keys()]));
  if (answer === undefined) return deleteEach(names, (name) => deleteObject(place, name));
  const marked = (answer.Deleted ?? []).filter(({ DeleteMarker }) => DeleteMarker === true);
  await viaS3(() =>
    deleteVersionsOfMany(
      place,
      marked.map(({ Key = '' }) => Key),
    ),
  );
  const failures = new Map<string, Error>();
  for (const { Key = '', Code = 'no reason' } of answer.Errors ?? []) {
    const name = byKey.get(Key);
    if (name === undefined || Code === 'NoSuchKey') continue;
    failures.set(name, new StorageUnavailableError('failed', `The video storage (S3) did not delete a file: ${Code}.`));
  }
  return failures;
}

/** Undefined where the server has no such call. Many keys take long, so the call has the time of one that moves a file. */
async function deleteKeys(
  { client, bucket: Bucket }: S3Place,
  keys: readonly string[],
): Promise<DeleteObjectsOutput | undefined> {
  const [Key = ''] = keys;
  await expectAnswer(client, { Bucket, Key });
  try {
    return await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: keys.map((Key) => ({ Key })) } }));
  } catch (error) {
    if (!NOT_KNOWN.has(statusOf(error) ?? 0)) throw error;
    return undefined;
  }
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

/** As `deleteVersions`, for many; what is refused remains. */
async function deleteVersionsOfMany(place: S3Place, keys: readonly string[]): Promise<void> {
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
