import { DeleteObjectCommand, DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { deleteEach, type DeleteFailures } from './delete-each.js';
import { KEYS_PER_CALL, type S3Place, SHORT, statusOf, viaS3 } from './s3-client.js';
import { deleteVersions, deleteVersionsOfMany } from './s3-versions.js';
import { type Deleted, placesOf } from './storage.js';
import { StorageUnavailableError } from './storage-errors.js';

/** A server answers one of these to a call that it does not know, or whose checksum it does not know. */
const NOT_KNOWN = new Set([400, 405, 411, 501]);

/** With its versions, in a bucket that keeps them. */
export async function deleteObject(place: S3Place, name: string): Promise<Deleted> {
  const { client, bucket, prefix } = place;
  let versionsLeft = false;
  for (const at of placesOf(name)) {
    const Key = prefix + at;
    await viaS3(async () => {
      const { DeleteMarker } = await client.send(new DeleteObjectCommand({ Bucket: bucket, Key }), SHORT);
      if (DeleteMarker === true && !(await deleteVersions(place, Key))) versionsLeft = true;
    });
  }
  return { versionsLeft };
}

/** A call for up to 1,000 objects, or one for each where the server has no such call. Versions are deleted as by `deleteObject`. */
export async function deleteObjects(place: S3Place, names: readonly string[]): Promise<DeleteFailures> {
  const failures = new Map<string, Error>();
  const keys = names.flatMap((name) => placesOf(name).map((at) => [place.prefix + at, name] as const));
  for (let first = 0; first < keys.length; first += KEYS_PER_CALL) {
    const some = new Map(keys.slice(first, first + KEYS_PER_CALL));
    for (const [name, error] of await deleteSome(place, some)) failures.set(name, error);
  }
  return failures;
}

/** `byKey` has the name of the file for each key. */
async function deleteSome(place: S3Place, byKey: ReadonlyMap<string, string>): Promise<DeleteFailures> {
  const { client, bucket } = place;
  const Delete = { Objects: [...byKey.keys()].map((Key) => ({ Key })) };
  const answer = await viaS3(() =>
    client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete }), SHORT).catch((error: unknown) => {
      if (!NOT_KNOWN.has(statusOf(error) ?? 0)) throw error;
      return undefined;
    }),
  );
  if (answer === undefined) return deleteEach([...new Set(byKey.values())], (name) => deleteObject(place, name));
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
