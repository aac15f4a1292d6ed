import { DeleteObjectCommand, DeleteObjectsCommand, type DeleteObjectsOutput } from '@aws-sdk/client-s3';
import { deleteEach, type DeleteFailures } from './delete-each.js';
import { expectAnswer, KEYS_PER_CALL, type S3Place, SHORT, statusOf, viaS3 } from './s3-client.js';
import { deleteVersions, deleteVersionsOfMany } from './s3-versions.js';
import { type Deleted, safeName } from './storage.js';
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
